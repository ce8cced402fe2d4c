// The devices tests run on: SHEAF_TEST_DEVICES, comma-separated, default cpu. A named device that is missing fails the
// test that uses it, so a GPU run can never pass by skipping.
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <sheaf/solvers/device.hpp>

namespace sheaf::test {

inline std::vector<Device> devices() {
  const char* names = std::getenv("SHEAF_TEST_DEVICES");
  std::istringstream list(names != nullptr ? names : "cpu");
  std::vector<Device> result;
  for (std::string name; std::getline(list, name, ',');) result.push_back(parse_device(name));
  return result;
}

}  // namespace sheaf::test

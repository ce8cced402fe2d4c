// Our commands beside the programs whose place they take.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "devices.hpp"
#include "golden.hpp"
#include "program.hpp"

namespace sheaf::test {

class PeerTest : public ProgramTest {
 protected:
  /// Skips if one of the peer's programs is not there; `package` has them.
  void need(const std::vector<std::string>& programs, const std::string& package) const {
    for (const auto& program : programs)
      if (!std::filesystem::exists("/usr/bin/" + program)) GTEST_SKIP() << package << " are not installed";
  }

  /// Makes the table a case names (a dataset of find_data, or KIND:OPTIONS of sheaf generate); whether it could.
  bool make(const std::string& data) const {
    const auto colon = data.find(':');
    std::string line =
        "sheaf generate " + data.substr(0, colon) + " data " + data.substr(std::min(colon + 1, data.size()));
    if (colon == std::string::npos) {
      const std::string path = find_data(data);
      if (path.empty()) return false;
      line = "sheaf convert '" + path + "' data";
    }
    const auto outcome = shell(line + " --to libsvm --quiet");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return true;
  }

  /// Calls check(case, device) for every case whose table is there.
  template <class Cases, class Check>
  void for_each(const Cases& cases, Check&& check) const {
    for (const auto& one : cases) {
      if (!make(one.data)) continue;
      for (const Device device : devices()) {
        SCOPED_TRACE(one.data + " " + one.flags + " " + to_string(device));
        check(one, " --device " + to_string(device));
      }
    }
  }

  void run(const std::string& line) const {
    const auto outcome = shell(line);
    ASSERT_EQ(outcome.code, 0) << line << "\n" << outcome.err;
  }
};

}  // namespace sheaf::test

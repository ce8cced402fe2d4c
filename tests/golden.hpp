// Results of independent programs, kept in tests/golden, and the tables they were made from.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sheaf::test {

inline std::string golden(const std::string& path) { return SHEAF_TESTS_DIR "/golden/" + path; }

/// A dataset by its name: one of tests/golden/data, or a larger one of shared/data beside the checkout. Empty if there
/// is none.
inline std::string find_data(const std::string& name) {
  for (const std::string& path :
       {golden("data/" + name + ".libsvm"), SHEAF_TESTS_DIR "/../../shared/data/" + name + "/train.libsvm.xz"})
    if (std::filesystem::exists(path)) return path;
  return {};
}

/// Everything in a file that must be there.
inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline nlohmann::json read_json(const std::string& path) { return nlohmann::json::parse(contents(path)); }

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// One line of a list of cases: a name, a dataset and a program's flags. Lines that begin with # are comments.
struct GoldenCase {
  std::string name, data, flags;
};

inline std::vector<GoldenCase> golden_cases(const std::string& list) {
  std::vector<GoldenCase> cases;
  for (const auto& line : lines_of(contents(golden(list)))) {
    if (line.empty() || line.starts_with('#')) continue;
    GoldenCase one;
    std::istringstream words(line);
    words >> one.name >> one.data >> std::ws;
    std::getline(words, one.flags);
    cases.push_back(one);
  }
  return cases;
}

}  // namespace sheaf::test

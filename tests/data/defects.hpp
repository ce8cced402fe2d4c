// Malformed texts, and where in them the mistake is to be found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>

namespace sheaf::test {

struct Defect {
  std::string text;
  std::int64_t line, column;
};

/// write(text) puts a text into the file that load() reads.
template <class Write, class Load>
void expect_defects(const std::vector<Defect>& defects, const std::string& path, Write&& write, Load&& load) {
  for (const Defect& defect : defects) {
    write(defect.text);
    try {
      load();
      ADD_FAILURE() << defect.text;
    } catch (const ParseError& error) {
      EXPECT_EQ(error.place().file, path);
      EXPECT_EQ(error.place().line, defect.line) << error.what() << "\n" << defect.text;
      EXPECT_EQ(error.place().column, defect.column) << error.what() << "\n" << defect.text;
    }
  }
}

}  // namespace sheaf::test

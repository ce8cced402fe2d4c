// Headers that programs include: one header has everything, and none of them needs a library that Sheaf is built with.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <sheaf/sheaf.hpp>

namespace sheaf {
namespace public_headers_test {

const std::filesystem::path folder = std::filesystem::path(SHEAF_TESTS_DIR) / ".." / "include" / "sheaf";

/// Names below include/sheaf, those of sheaf/solvers among them.
std::vector<std::string> headers() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".hpp") names.push_back(entry.path().lexically_relative(folder).generic_string());
  return names;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(PublicHeaders, AreAllInOne) {
  const auto all = text_of(folder / "sheaf.hpp");
  int found = 0;
  for (const auto& name : headers()) {
    if (name == "sheaf.hpp" || name.starts_with("bindings/")) continue;  // packages of other languages name the latter
    EXPECT_NE(all.find("#include <sheaf/" + name + ">"), std::string::npos) << name;
    ++found;
  }
  EXPECT_GT(found, 10);
}

TEST(PublicHeaders, IncludeTheStandardLibraryAndEachOtherAlone) {
  for (const auto& header : headers()) {
    const auto text = text_of(folder / header);
    EXPECT_EQ(text.find("#include \""), std::string::npos) << header;
    for (auto at = text.find("#include <"); at != std::string::npos; at = text.find("#include <", at + 1)) {
      const auto name = text.substr(at + 10, text.find('>', at) - at - 10);
      const bool standard = name.find('/') == std::string::npos && name.find('.') == std::string::npos;
      EXPECT_TRUE(standard || name.starts_with("sheaf/")) << name << " in " << header;
    }
  }
}

}  // namespace public_headers_test
}  // namespace sheaf

// What programs include: one header has everything, and none of them needs a library that Sheaf is built with.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <sheaf/sheaf.hpp>

namespace sheaf {
namespace public_headers_test {

const std::filesystem::path folder = std::filesystem::path(SHEAF_TESTS_DIR) / ".." / "include" / "sheaf";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(PublicHeaders, AreAllInOne) {
  const auto all = text_of(folder / "sheaf.hpp");
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (name == "sheaf.hpp") continue;
    EXPECT_NE(all.find("#include <sheaf/" + name + ">"), std::string::npos) << name;
    ++found;
  }
  EXPECT_GT(found, 10);
}

TEST(PublicHeaders, IncludeTheStandardLibraryAndEachOtherAlone) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto text = text_of(entry.path());
    EXPECT_EQ(text.find("#include \""), std::string::npos) << entry.path();
    for (auto at = text.find("#include <"); at != std::string::npos; at = text.find("#include <", at + 1)) {
      const auto name = text.substr(at + 10, text.find('>', at) - at - 10);
      const bool standard = name.find('/') == std::string::npos && name.find('.') == std::string::npos;
      EXPECT_TRUE(standard || name.starts_with("sheaf/")) << name << " in " << entry.path();
    }
  }
}

}  // namespace public_headers_test
}  // namespace sheaf

// The server's addresses are those of docs/api/openapi.json.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "app/pages/page_files.hpp"
#include "app/routes/route.hpp"

namespace sheaf::app {
namespace {

nlohmann::json described() {
  std::ifstream file(SHEAF_TESTS_DIR "/../docs/api/openapi.json");
  return nlohmann::json::parse(file);
}

TEST(Interface, HasTheAddressesThatAreDescribed) {
  std::set<std::string> in_file, in_server;
  const auto file = described();
  for (const auto& [path, methods] : file["paths"].items())
    for (const auto& [method, operation] : methods.items()) {
      auto name = method;
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
      in_file.insert(name + " " + path);
    }
  for (const auto& route : routes()) in_server.insert(std::string(route.method) + " " + std::string(route.pattern));
  EXPECT_EQ(in_server, in_file);
  EXPECT_EQ(in_server.size(), routes().size());
}

TEST(Interface, ChangesNothingByGet) {
  for (const auto& route : routes()) EXPECT_FALSE(route.method == "GET" && route.changes) << route.pattern;
}

TEST(Interface, ResolvesAllReferencesOfItsDescription) {
  const auto file = described();
  const auto text = file.dump();
  const std::string mark = "\"$ref\":\"#";
  int references = 0;
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1), ++references) {
    const auto begin = at + mark.size();
    const nlohmann::json::json_pointer place(text.substr(begin, text.find('"', begin) - begin));
    EXPECT_TRUE(file.contains(place)) << place;
  }
  EXPECT_GT(references, 100);
}

TEST(Interface, IsPartOfTheProgram) {
  const auto* page = find_page_file("openapi.json");
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(nlohmann::json::parse(page->bytes), described());
  ASSERT_NE(find_page_file("index.html"), nullptr);
  EXPECT_NE(find_page_file("index.html")->bytes.find("<base href=\"/\">"), std::string_view::npos);
  EXPECT_EQ(find_page_file("../secret"), nullptr);
}

TEST(Interface, FindsRoutesByDecodedParts) {
  const auto found = match("GET", "/runs/YQ/tables/a%2Fb.csv");
  ASSERT_NE(found.route, nullptr);
  EXPECT_EQ(found.parts, (std::vector<std::string>{"YQ", "a/b.csv"}));
  EXPECT_EQ(match("DELETE", "/runs/YQ").route, nullptr);
  EXPECT_EQ(match("DELETE", "/runs/YQ").methods, "GET");
  EXPECT_EQ(match("GET", "/runs/").route, nullptr);
  EXPECT_EQ(match("GET", "/runs/a/b/c/d").route, nullptr);
  EXPECT_EQ(match("HEAD", "/runs").route, match("GET", "/runs").route);
}

}  // namespace
}  // namespace sheaf::app

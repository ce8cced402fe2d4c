// Who is let in, and what can be named.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/access/access.hpp"
#include "app/files/folder.hpp"
#include "app/http/url.hpp"

namespace sheaf::app {
namespace {

namespace fs = std::filesystem;

const std::string token(48, 'a');

Access access_of(std::vector<std::string> hosts = {}) { return Access({token, "", std::move(hosts), "sheaf-1"}); }

Request request_with(std::vector<std::pair<std::string, std::string>> headers, const std::string& method = "GET") {
  Request request;
  request.method = method;
  request.path = "/api/v1/status";
  request.headers = std::move(headers);
  return request;
}

int status_of(const std::function<void()>& check) {
  try {
    check();
    return 200;
  } catch (const Refusal& refusal) {
    return refusal.status;
  }
}

int names_status(std::vector<std::pair<std::string, std::string>> headers, std::vector<std::string> hosts = {}) {
  return status_of([&] { access_of(std::move(hosts)).check_names(request_with(std::move(headers))); });
}

TEST(Access, KnowsTheNamesOfThisMachineAlone) {
  for (const char* host : {"127.0.0.1:8765", "localhost", "LOCALHOST:1", "[::1]:8765"})
    EXPECT_EQ(names_status({{"host", host}}), 200) << host;
  for (const char* host :
       {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "[::1", "169.254.1.1"})
    EXPECT_EQ(names_status({{"host", host}}), 403) << host;
  EXPECT_EQ(names_status({}), 403);
  EXPECT_EQ(names_status({{"host", "localhost"}, {"host", "evil.example"}}), 403);
  EXPECT_EQ(names_status({{"host", "hub.example"}}, {"hub.example"}), 200);
  EXPECT_EQ(names_status({{"host", "other.example"}}, {"hub.example"}), 403);
}

TEST(Access, RefusesRequestsOfOtherSites) {
  EXPECT_EQ(names_status({{"host", "127.0.0.1:8765"}, {"origin", "http://127.0.0.1:8765"}}), 200);
  for (const char* origin : {"http://evil.example", "null", "http://127.0.0.1:9999", "http://localhost:8765", "x"})
    EXPECT_EQ(names_status({{"host", "127.0.0.1:8765"}, {"origin", origin}}), 403) << origin;
  EXPECT_EQ(names_status({{"host", "localhost:8765"}, {"origin", "https://hub.example"}}, {"hub.example"}), 200);
}

int token_status(std::vector<std::pair<std::string, std::string>> headers, const std::string& method = "GET") {
  auto access = access_of();
  return status_of([&] { access.check_token(request_with(std::move(headers), method)); });
}

TEST(Access, WantsTheToken) {
  EXPECT_EQ(token_status({{"cookie", "other=1; sheaf-1=" + token}}), 200);
  EXPECT_EQ(token_status({{"authorization", "Bearer " + token}}, "POST"), 200);
  EXPECT_EQ(token_status({}), 401);
  for (const std::string& wrong : {std::string(), std::string("a"), token + "a", std::string(48, 'b'), token.substr(1)})
    EXPECT_EQ(token_status({{"cookie", "sheaf-1=" + wrong}}), 401) << wrong;
  EXPECT_EQ(token_status({{"authorization", "Basic " + token}}), 401);
}

TEST(Access, TakesChangesFromThePageAlone) {
  const std::pair<std::string, std::string> cookie{"cookie", "sheaf-1=" + token};
  EXPECT_EQ(token_status({cookie}, "POST"), 403);
  EXPECT_EQ(token_status({cookie, {"origin", "http://127.0.0.1:8765"}}, "POST"), 200);
  EXPECT_EQ(token_status({cookie, {"sec-fetch-site", "same-site"}}), 403);  // another port of this machine
  EXPECT_EQ(token_status({cookie, {"sec-fetch-site", "same-origin"}}), 200);
}

TEST(Access, AnswersManyWrongTokensNoLonger) {
  auto access = access_of();
  int status = 401;
  for (int k = 0; k < 1000 && status == 401; ++k)
    status = status_of([&] { access.check_token(request_with({{"authorization", "Bearer x"}})); });
  EXPECT_EQ(status, 429);
  EXPECT_EQ(status_of([&] { access.check_token(request_with({{"authorization", "Bearer " + token}})); }), 200);
}

TEST(Access, MakesTokensThatDiffer) {
  const auto one = make_token();
  EXPECT_EQ(one.size(), 48U);
  EXPECT_EQ(one.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(one, make_token());
}

TEST(Access, ComparesWholeTexts) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abcabc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", ""));
}

TEST(Urls, AreDecodedOnce) {
  EXPECT_EQ(percent_decoded("a%20b%2Fc"), "a b/c");
  EXPECT_EQ(percent_decoded("%252e"), "%2e");
  for (const char* damaged : {"%", "%2", "%zz", "a%00b"}) EXPECT_EQ(percent_decoded(damaged), std::nullopt) << damaged;
  const std::vector<std::pair<std::string, std::string>> expected{{"a", "1 2"}, {"b", ""}};
  EXPECT_EQ(parse_query("a=1+2&b&%zz=3"), expected);
}

TEST(Urls, NameAllBytes) {
  std::string bytes;
  for (int k = 0; k < 256; ++k) {
    bytes += static_cast<char>(k);
    const auto id = to_base64url(bytes);
    EXPECT_EQ(id.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), id.npos);
    EXPECT_EQ(from_base64url(id), bytes);
  }
  EXPECT_EQ(from_base64url("YQ="), std::nullopt);
  EXPECT_EQ(from_base64url("YR"), std::nullopt);  // bits that no byte has
  EXPECT_EQ(from_base64url("Y"), std::nullopt);
}

class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    fs::remove_all(base);
    fs::create_directories(base / "served/sub");
    fs::create_directories(base / "served/.hidden");
    fs::create_directories(base / "served-not");
    for (const char* name :
         {"served/a.csv", "served/sub/b.csv", "served/.hidden/c.csv", "secret.csv", "served-not/d.csv"})
      std::ofstream(base / name) << "x\n";
    fs::create_symlink(base / "secret.csv", base / "served/link.csv");
    fs::create_symlink(base, base / "served/up");
    fs::create_symlink(base / "served/a.csv", base / "served/inside.csv");
    fs::create_symlink(base / "served/.hidden", base / "served/shown");
  }
  ~FolderTest() override { fs::remove_all(base); }

  static int find_status(const Folder& folder, const std::string& path) {
    return status_of([&] { folder.find(path); });
  }

  const fs::path base = fs::path(testing::TempDir()) / "app_folder_test";
};

TEST_F(FolderTest, NamesWhatIsInside) {
  const Folder folder((base / "served").string());
  EXPECT_EQ(folder.find("sub/b.csv"), fs::canonical(base / "served/sub/b.csv").string());
  EXPECT_EQ(folder.find("inside.csv"), fs::canonical(base / "served/a.csv").string());
  EXPECT_EQ(folder.find_by_id(Folder::id_of("a.csv")), folder.find("a.csv"));
  EXPECT_EQ(folder.relative(folder.find("sub/b.csv")), "sub/b.csv");
}

TEST_F(FolderTest, NamesNothingOutside) {
  const Folder folder((base / "served").string());
  for (const char* path : {"../secret.csv", "sub/../../secret.csv", "link.csv", "up/secret.csv", "up", "/etc/passwd",
                           "", ".", "..", "sub/", "sub//b.csv", "./a.csv", ".hidden/c.csv", "shown/c.csv",
                           "nothing.csv", "../served-not/d.csv", "a.csv\n"})
    EXPECT_EQ(find_status(folder, path), 404) << path;
  EXPECT_EQ(find_status(folder, std::string("a.csv\0", 6)), 404);
}

TEST_F(FolderTest, OpensRegularFilesAlone) {
  EXPECT_GE(open_file((base / "secret.csv").string()).descriptor(), 0);
  EXPECT_EQ(status_of([&] { open_file((base / "served").string()); }), 404);
  EXPECT_EQ(status_of([&] { open_file((base / "served/link.csv").string()); }), 404);
}

TEST(FileNames, AreMadeSafe) {
  EXPECT_EQ(safe_file_name("trial.csv"), "trial.csv");
  EXPECT_EQ(safe_file_name("../../etc/passwd.csv"), "passwd.csv");
  EXPECT_EQ(safe_file_name("C:\\data\\my trial (1).csv"), "my_trial__1_.csv");
  EXPECT_EQ(safe_file_name("-rf.csv"), "rf.csv");
  EXPECT_EQ(safe_file_name(".bashrc"), "bashrc");
  EXPECT_EQ(safe_file_name("..."), "file");
  EXPECT_TRUE(safe_file_name(std::string(1000, 'x') + ".csv").ends_with("x.csv"));
}

}  // namespace
}  // namespace sheaf::app

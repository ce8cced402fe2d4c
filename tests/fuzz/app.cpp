// A connection to the server of `sheaf app`, as anybody on this machine may open one. An input is a method and an
// address on its first line and a body behind it; what else makes a request of it is added here. One that begins with !
// is sent as it stands behind that, with {token} in place of the token.
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <thread>

#include <netinet/in.h>
#include <sys/socket.h>

#include "app/http/server.hpp"
#include "app/site.hpp"
#include "fuzz/reader_check.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/targets.hpp"

namespace sheaf::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int inputs_of_a_server = 300;  // its queue and its folder grow
const std::string token(48, 'a');
const std::string secret = "a secret beside the folder";

std::vector<app::FormSection> sections(std::string_view /*command*/) {
  app::FormOption folds, model, metadata, output;
  folds.name = "folds", folds.flag = "--folds", folds.type = "whole_number", folds.low = 2, folds.is_list = true;
  model.name = "model", model.flag = "--model", model.type = "name", model.choices = {"svm", "knn"},
  model.several = true;
  metadata.name = "metadata", metadata.flag = "--metadata", metadata.type = "text", metadata.reads_file = true;
  output.name = "output", output.flag = "--output", output.type = "text", output.writes = true;
  return {{"Search", {folds, model, metadata, output}}};
}

/// A folder with a dataset and a run, and a file beside it that nobody may see.
std::string make_folder() {
  const auto parent = Scratch::folder() + "/app";
  fs::remove_all(parent);
  fs::create_directories(parent + "/served/run");
  fs::create_directories(parent + "/state");
  Scratch::file("app/secret.csv", secret);
  Scratch::file("app/served/d.csv", "a,b,label\n1,x,yes\n2,y,no\n3,\"z,1\",yes\n");
  Scratch::file("app/served/run/settings.json",
                R"({"journal": 1, "data": {"path": "d.csv"}, "reading": {"ignore": ["b"]}})");
  Scratch::file("app/served/run/results.json",
                R"({"source": "d.csv", "score": "auc", "label": "label", "outer": null})");
  Scratch::file("app/served/run/scores.csv", "cost,split,auc\n1,1,0.5\n2,1,NA\n");
  Scratch::file("app/served/run/journal.txt", "0123456789abcdef {\"models\": [{\"scores\": [1]}]}\n");
  fs::create_symlink("../secret.csv", parent + "/served/link.csv");
  return parent;
}

class Served {
 public:
  Served()
      : parent_(make_folder()),
        services_({.folder = parent_ + "/served", .program = "/bin/echo", .state = parent_ + "/state"},
                  {sections, [](auto, const auto&, const auto&) { return std::nullopt; }}),
        site_(services_, {.token = token,
                          .prefix = "",
                          .hosts = {},
                          .cookie = "sheaf",
                          .requests_per_second = 1e9,
                          .wrong_tokens_per_second = 1e9}),
        server_(site_, "127.0.0.1", 0),
        thread_([this](const std::stop_token& stop) { server_.run(stop); }) {}

  std::uint16_t port() const { return server_.port(); }
  /// Only what was made, and what the server may make.
  bool is_alone() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(parent_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names == std::vector<std::string>{"secret.csv", "served", "state"};
  }

 private:
  std::string parent_;
  app::Services services_;
  app::AppSite site_;
  app::Server server_;
  std::jthread thread_;
};

/// Nothing if this build has no server.
Served* served() {
  static std::unique_ptr<Served> now;
  static int inputs = 0;
  try {
    if (inputs++ % inputs_of_a_server == 0) {
      now.reset();
      now = std::make_unique<Served>();
    }
  } catch (const Error&) {
  }
  return now.get();
}

std::string with_token(std::string text) {
  constexpr std::string_view mark = "{token}";
  for (auto at = text.find(mark); at != text.npos; at = text.find(mark, at + token.size()))
    text.replace(at, mark.size(), token);
  return text;
}

std::string request_of(std::string_view input) {
  if (input.starts_with('!')) return with_token(std::string(input.substr(1)));
  const auto end = std::min(input.find('\n'), input.size());
  const auto body = input.substr(std::min(end + 1, input.size()));
  return std::string(input.substr(0, end)) + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

/// All that the server sends before it closes the connection, which it must do soon.
std::string exchange(std::uint16_t port, std::string_view request) {
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{60, 0};
  ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  expect(::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "the server listens");
  while (!request.empty()) {
    const auto sent = ::send(connection, request.data(), request.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;  // refused before its end
    request.remove_prefix(static_cast<std::size_t>(sent));
  }
  ::shutdown(connection, SHUT_WR);
  std::string answer;
  std::array<char, 16384> part{};
  ssize_t got = 0;
  while ((got = ::recv(connection, part.data(), part.size(), 0)) > 0 || (got < 0 && errno == EINTR))
    if (got > 0) answer.append(part.data(), static_cast<std::size_t>(got));
  expect(got == 0 || errno == ECONNRESET, "the connection is closed");
  ::close(connection);
  return answer;
}

void check_answer(std::string_view answer) {
  if (answer.empty() || answer.starts_with("HTTP/1.1 100 ")) return;
  expect(answer.starts_with("HTTP/1.1 ") && answer[9] >= '2' && answer[9] <= '5', "it is an answer");
  expect(!answer.starts_with("HTTP/1.1 500"), "the server knows what is wrong");
  const auto end = answer.find("\r\n\r\n");
  expect(end != answer.npos, "headers end");
  const auto head = answer.substr(0, end);
  for (const char* name : {"Content-Security-Policy: ", "X-Content-Type-Options: nosniff", "Referrer-Policy: "})
    expect(head.find(name) != head.npos, name);
  const auto body = answer.substr(end + 4);
  expect(answer.find(secret) == answer.npos, "files beside the folder stay unseen");
  const bool one = head.find("Content-Length: " + std::to_string(body.size()) + "\r\n") != head.npos;
  if (one && !body.empty() && head.find("Content-Type: application/json") != head.npos &&
      head.find(" 206 ") == head.npos)
    expect(parse_json<app::Json>(body).is_object(), "JSON is whole");
}

}  // namespace

void check_app(std::string_view input) {
  auto* server = served();
  if (server == nullptr) return;
  check_answer(exchange(server->port(), request_of(input)));
  expect(server->is_alone(), "nothing is written beside the folder");
}

}  // namespace sheaf::fuzz

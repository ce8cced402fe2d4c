// Who may ask: a client that knows the token, by a name of this server, and not on behalf of another site.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/http/message.hpp"

namespace sheaf::app {

/// 24 random bytes as 48 hexadecimal digits.
std::string make_token();

/// Takes as long wherever the two differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// So many requests in a second on average, and twice as many at once.
class RateLimit {
 public:
  explicit RateLimit(double per_second) : per_second_(per_second), left_(2 * per_second) {}
  bool take();

 private:
  using Clock = std::chrono::steady_clock;
  double per_second_;
  double left_;
  Clock::time_point last_ = Clock::now();
  std::mutex mutex_;
};

class Access {
 public:
  struct Options {
    std::string token;
    std::string prefix;              ///< "" or "/user/anna/sheaf"
    std::vector<std::string> hosts;  ///< names of this server that a proxy has
    std::string cookie;              ///< its name
    std::string address = {};        ///< on which it listens, if that is not the loopback interface
    bool encrypted = false;          ///< the cookie travels through TLS alone
    double requests_per_second = 500;
    double wrong_tokens_per_second = 5;  ///< 24 random bytes are not guessed; this keeps logs and processors quiet
  };
  explicit Access(Options options)
      : options_(std::move(options)),
        requests_(options_.requests_per_second),
        wrong_tokens_(options_.wrong_tokens_per_second) {}

  /// Throws a Refusal unless the names in the request are those of this server.
  void check_names(const Request& request) const;
  /// Throws a Refusal unless the request comes with the token, and from the page if it changes something.
  void check_token(const Request& request);
  /// Whether the address has the token: the answer to it sets the cookie.
  bool has_token_in_address(const Request& request);
  std::string cookie_header() const;

 private:
  bool is_own_name(std::string_view host) const;
  void check_credentials(const Request& request);
  void check_origin_of_cookie(const Request& request) const;
  std::optional<std::string_view> cookie_of(const Request& request) const;
  bool is_token(std::string_view text);

  Options options_;
  RateLimit requests_, wrong_tokens_;
};

}  // namespace sheaf::app

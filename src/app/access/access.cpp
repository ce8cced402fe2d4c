#include "app/access/access.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>

#include <sys/random.h>

#include "app/http/url.hpp"
#include "core/fail.hpp"

namespace sheaf::app {
namespace {

/// "localhost" of "localhost:8765", "[::1]" of "[::1]:8765"; in lower case.
std::string host_name(std::string_view authority) {
  const auto bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == authority.npos) return {};
  std::string name(authority.substr(0, authority.find(':', bracket)));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

bool changes(const Request& request) { return request.method != "GET" && request.method != "HEAD"; }

}  // namespace

std::string make_token() {
  std::array<unsigned char, 24> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    fail("no random bytes for the token: {}", std::strerror(errno));
  std::string token;
  for (const auto byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^
                                        static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]));
  return difference == 0;
}

bool RateLimit::take() {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  const double passed = std::chrono::duration<double>(now - last_).count();
  left_ = std::min(2 * per_second_, left_ + passed * per_second_);
  last_ = now;
  if (left_ < 1) return false;
  left_ -= 1;
  return true;
}

bool Access::is_own_name(std::string_view host) const {
  const auto name = host_name(host);
  if (name == "localhost" || name == "127.0.0.1" || name == "[::1]") return true;
  if (!options_.address.empty() && name == options_.address) return true;
  return std::any_of(options_.hosts.begin(), options_.hosts.end(),
                     [&](const std::string& known) { return !name.empty() && name == host_name(known); });
}

// A page of another site may let its own name point to 127.0.0.1 (DNS rebinding): the browser then sends that name.
void Access::check_names(const Request& request) const {
  const auto count = std::count_if(request.headers.begin(), request.headers.end(),
                                   [](const auto& header) { return header.first == "host"; });
  const auto host = request.header("host");
  if (count != 1 || !is_own_name(host))
    throw Refusal{403, "forbidden",
                  fmt::format("'{}' is not a name of this server; if a proxy passes it on, start sheaf app with "
                              "--allow-host {}",
                              host, host_name(host))};
  if (const auto origin = request.header("origin"); !origin.empty()) {
    const auto slashes = origin.find("://");
    const auto authority = slashes == origin.npos ? std::string_view() : origin.substr(slashes + 3);
    const bool own = authority == host;
    const bool allowed = std::any_of(options_.hosts.begin(), options_.hosts.end(), [&](const std::string& known) {
      return !authority.empty() && host_name(authority) == host_name(known);
    });
    if (!own && !allowed) throw Refusal{403, "forbidden", "requests of other sites are refused"};
  }
}

std::optional<std::string_view> Access::cookie_of(const Request& request) const {
  auto rest = request.header("cookie");
  while (!rest.empty()) {
    const auto end = std::min(rest.find(';'), rest.size());
    auto part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    if (part.starts_with(options_.cookie + "=")) return part.substr(options_.cookie.size() + 1);
  }
  return std::nullopt;
}

bool Access::is_token(std::string_view text) {
  if (equal_in_constant_time(text, options_.token)) return true;
  if (!wrong_tokens_.take()) throw Refusal{429, "too_many_requests", "too many wrong tokens; wait a few seconds"};
  return false;
}

void Access::check_token(const Request& request) {
  check_credentials(request);
  // Counted behind the token, so that nobody without it takes the turns of those who have it.
  if (!requests_.take()) throw Refusal{429, "too_many_requests", "too many requests; wait a second"};
}

void Access::check_credentials(const Request& request) {
  constexpr std::string_view bearer = "Bearer ";
  const auto authorization = request.header("authorization");
  if (authorization.starts_with(bearer)) {
    if (is_token(authorization.substr(bearer.size()))) return;
  } else if (const auto cookie = cookie_of(request); cookie && is_token(*cookie)) {
    return check_origin_of_cookie(request);
  }
  throw Refusal{401, "unauthorised",
                "the token is missing or wrong: open the address that sheaf app printed when it started"};
}

/// Browsers send cookies to all ports of a machine, and older ones with requests of other sites.
void Access::check_origin_of_cookie(const Request& request) const {
  const auto site = request.header("sec-fetch-site");
  if (request.path.starts_with("/api/") && (site == "cross-site" || site == "same-site"))
    throw Refusal{403, "forbidden", "requests of other sites are refused"};
  if (changes(request) && request.header("origin").empty())
    throw Refusal{403, "forbidden", "a request that changes something must come from the page, with an Origin"};
}

bool Access::has_token_in_address(const Request& request) {
  for (const auto& [name, value] : parse_query(request.query))
    if (name == "token") return is_token(value);
  return false;
}

std::string Access::cookie_header() const {
  return fmt::format("{}={}; Path={}/; HttpOnly; SameSite=Strict{}", options_.cookie, options_.token, options_.prefix,
                     options_.encrypted ? "; Secure" : "");
}

}  // namespace sheaf::app

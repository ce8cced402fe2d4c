#include "app/site.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <sheaf/error.hpp>

#include "app/http/url.hpp"
#include "app/pages/page_files.hpp"
#include "app/routes/route.hpp"
#include "app/routes/uploads.hpp"

namespace sheaf::app {
namespace {

constexpr std::string_view api = "/api/v1";

constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; worker-src 'self'; frame-src 'self'; form-action 'none'; base-uri 'self'; frame-ancestors 'none'";

bool is_api(std::string_view path) { return path == api || path.starts_with("/api/"); }

bool has_header(const Response& response, std::string_view name) {
  return std::any_of(response.headers.begin(), response.headers.end(),
                     [&](const auto& header) { return header.first == name; });
}

/// The page's own base, which makes all its addresses those behind the prefix.
std::string with_base(std::string_view html, const std::string& prefix) {
  constexpr std::string_view base = "<base href=\"/\">";
  std::string text(html);
  if (const auto at = text.find(base); at != text.npos)
    text.replace(at, base.size(), fmt::format("<base href=\"{}/\">", prefix));
  return text;
}

Match find_route(const Request& request) {
  const auto path = std::string_view(request.path);
  if (!path.starts_with(api)) return {};
  return match(request.method, path.substr(api.size()));
}

}  // namespace

/// Headers that every answer has.
Response AppSite::secured(Response response) const {
  auto& headers = response.headers;
  if (!has_header(response, "Content-Security-Policy"))
    headers.emplace_back("Content-Security-Policy", std::string(page_policy));
  headers.emplace_back("X-Content-Type-Options", "nosniff");
  headers.emplace_back("Referrer-Policy", "no-referrer");
  headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  return response;
}

Response AppSite::describe(const Refusal& refusal) {
  Json error{{"code", refusal.code}, {"message", refusal.message}};
  if (!refusal.field.empty()) error["field"] = refusal.field;
  return secured(json_response({{"error", std::move(error)}}, refusal.status));
}

/// Some proxies keep the prefix and others take it off; both are served.
void AppSite::take_prefix(Request& request) const {
  if (prefix_.empty() || (!request.path.starts_with(prefix_ + "/") && request.path != prefix_)) return;
  request.path.erase(0, prefix_.size());
  if (request.path.empty()) request.path = "/";
}

/// The address with the token leads to the one without, which is not kept in a history, and sets the cookie.
Response AppSite::enter() const {
  Response response;
  response.status = 303;
  response.headers = {
      {"Location", prefix_ + "/"}, {"Set-Cookie", access_.cookie_header()}, {"Cache-Control", "no-store"}};
  return response;
}

std::optional<Response> AppSite::refuse(Request& request) {
  try {
    access_.check_names(request);
    take_prefix(request);
    if (request.method == "GET" && request.path == "/" && access_.has_token_in_address(request))
      return secured(enter());
    access_.check_token(request);
    if (!is_api(request.path)) return std::nullopt;
    const auto found = find_route(request);
    if (found.route == nullptr && !found.methods.empty()) {
      auto response = describe({405, "method_not_allowed", fmt::format("this address takes {}", found.methods)});
      response.headers.emplace_back("Allow", found.methods);
      return response;
    }
    if (found.route == nullptr) throw Refusal{404, "not_found", "there is nothing at this address"};
    if (found.route->changes && services_.options.read_only)
      throw Refusal{403, "read_only", "this server only shows: it was started with --read-only"};
    return std::nullopt;
  } catch (const Refusal& refusal) {
    if (refusal.status != 401 || is_api(request.path)) return describe(refusal);
    auto response = describe(refusal);
    response.body = "Sheaf: " + refusal.message + "\n";
    response.headers.front().second = "text/plain; charset=utf-8";
    return response;
  }
}

BodyPlan AppSite::take_body(const Request& request) {
  const auto found = find_route(request);
  if (found.route == nullptr) return {};
  if (found.route->upload) return plan_upload(services_, request, found.parts.front());
  return {found.route->body, nullptr};
}

/// A file of the page, or the page itself for addresses that its script knows.
Response AppSite::page(const Request& request) const {
  if (request.method != "GET" && request.method != "HEAD")
    throw Refusal{405, "method_not_allowed", "this address takes GET"};
  const auto name = percent_decoded(request.path.substr(1)).value_or("");
  const auto* file = name.empty() ? nullptr : find_page_file(name);
  if (name == "openapi.json") file = nullptr;
  Response response;
  if (file == nullptr || name == "index.html") {
    if (name.starts_with("assets/") || request.header("accept").find("text/html") == std::string_view::npos)
      if (!name.empty() && name != "index.html") throw Refusal{404, "not_found", "there is nothing at this address"};
    response.body = with_base(find_page_file("index.html")->bytes, prefix_);
    response.headers = {{"Content-Type", "text/html; charset=utf-8"}, {"Cache-Control", "no-store"}};
    return response;
  }
  const bool packed = request.header("accept-encoding").find("gzip") != std::string_view::npos &&
                      file->packed.size() < file->bytes.size();
  response.constant = packed ? file->packed : file->bytes;
  response.headers = {{"Content-Type", std::string(content_type(name))}, {"Vary", "Accept-Encoding"}};
  if (packed) response.headers.emplace_back("Content-Encoding", "gzip");
  const bool hashed = name.starts_with("assets/");  // their names change with their bytes
  response.headers.emplace_back("Cache-Control", hashed ? "private, max-age=31536000, immutable" : "no-cache");
  return response;
}

Response AppSite::answer(Request& request) {
  try {
    if (!is_api(request.path)) return secured(page(request));
    auto found = find_route(request);
    Call call{request, std::move(found.parts), parse_query(request.query)};
    return secured(found.route->handler(services_, call));
  } catch (const Refusal& refusal) {
    return describe(refusal);
  } catch (const Error& error) {
    return describe({400, "bad_request", error.what()});
  }
}

}  // namespace sheaf::app

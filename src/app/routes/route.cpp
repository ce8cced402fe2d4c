#include "app/routes/route.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <sys/stat.h>

#include "app/http/url.hpp"

namespace sheaf::app {
namespace {

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 1; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// Whether the path is one of the pattern's, and what stands in place of its names.
bool fits(const std::vector<std::string_view>& pattern, const std::vector<std::string_view>& path,
          std::vector<std::string>& parts) {
  if (pattern.size() != path.size()) return false;
  parts.clear();
  for (std::size_t k = 0; k < path.size(); ++k) {
    if (!pattern[k].starts_with('{')) {
      if (pattern[k] != path[k]) return false;
      continue;
    }
    auto part = percent_decoded(path[k]);
    if (!part || part->empty()) return false;
    parts.push_back(std::move(*part));
  }
  return true;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "bytes=0-99", "bytes=100-", "bytes=-100": first byte and length; nothing: not understood, and so ignored.
std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_range(std::string_view text, std::uint64_t size) {
  constexpr std::string_view unit = "bytes=";
  const auto dash = text.find('-');
  if (!text.starts_with(unit) || dash == text.npos || text.find(',') != text.npos) return std::nullopt;
  const auto first = parse_bytes(text.substr(unit.size(), dash - unit.size()));
  const auto last = parse_bytes(text.substr(dash + 1));
  if (!first && !last) return std::nullopt;
  if (!first) return std::pair(size - std::min(*last, size), std::min(*last, size));
  if (*first >= size || (last && *last < *first)) throw Refusal{416, "bad_request", "the file has no such bytes"};
  return std::pair(*first, std::min(last.value_or(size - 1), size - 1) - *first + 1);
}

}  // namespace

std::string Call::text(std::string_view name) const {
  for (const auto& [known, value] : query)
    if (known == name) return value;
  return {};
}

std::int64_t Call::number(std::string_view name, std::int64_t otherwise, std::int64_t low, std::int64_t high) const {
  const auto given = text(name);
  if (given.empty()) return otherwise;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (error != std::errc() || end != given.data() + given.size() || value < low || value > high)
    throw Refusal{400, "bad_request", fmt::format("{} is a whole number from {} to {}", name, low, high),
                  std::string(name)};
  return value;
}

const std::vector<Route>& routes() {
  static const auto all = [] {
    std::vector<Route> list;
    for (auto* group : {status_routes, dataset_routes, upload_routes, design_routes, job_routes, run_routes,
                        event_routes, predict_routes, compare_routes})
      for (auto& route : group()) list.push_back(std::move(route));
    return list;
  }();
  return all;
}

Match match(std::string_view method, std::string_view path) {
  if (method == "HEAD") method = "GET";
  const auto given = split_path(path);
  Match result;
  std::vector<std::string> parts;
  for (const auto& route : routes()) {
    if (!fits(split_path(route.pattern), given, parts)) continue;
    if (route.method == method) return {&route, parts, {}};
    result.methods += (result.methods.empty() ? "" : ", ") + std::string(route.method);
  }
  return result;
}

Response file_response(const Call& call, const std::string& path, std::string_view type, const std::string& name) {
  Response response;
  response.file = open_file(path);
  struct stat status {};
  ::fstat(response.file->descriptor(), &status);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  response.file_length = size;
  response.headers = {{"Content-Type", std::string(type)}, {"Accept-Ranges", "bytes"}, {"Cache-Control", "no-store"}};
  if (!name.empty())
    response.headers.emplace_back("Content-Disposition",
                                  fmt::format("attachment; filename*=UTF-8''{}", percent_encoded(name)));
  if (const auto range = parse_range(call.request.header("range"), size)) {
    response.status = 206;
    response.file_begin = range->first;
    response.file_length = range->second;
    response.headers.emplace_back("Content-Range",
                                  fmt::format("bytes {}-{}/{}", range->first, range->first + range->second - 1, size));
  }
  return response;
}

}  // namespace sheaf::app

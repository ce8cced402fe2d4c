#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include <sheaf/dataset.hpp>

#include "core/fail.hpp"

namespace sheaf {
namespace {

/// A position from 1 as an index from 0; -1: it is none.
std::int64_t position(const std::string& text, std::int64_t features) {
  std::int64_t found = 0;
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, found);
  if (result.ec != std::errc() || result.ptr != end || found < 1 || found > features) return -1;
  return found - 1;
}

}  // namespace

std::vector<std::int64_t> find_features(const std::vector<std::string>& wanted,
                                        const std::vector<std::string>& feature_names, std::int64_t features) {
  std::unordered_map<std::string_view, std::int64_t> by_name;
  for (std::size_t j = 0; j < feature_names.size(); ++j) by_name.emplace(feature_names[j], j);
  std::vector<std::int64_t> result;
  std::unordered_set<std::int64_t> seen;
  for (const auto& text : wanted) {
    const auto named = by_name.find(text);
    const auto found = named != by_name.end() ? named->second : position(text, features);
    if (found < 0) fail_usage("there is no feature '{}': neither a name nor a position from 1 to {}", text, features);
    if (!seen.insert(found).second) fail_usage("the feature '{}' is named twice", text);
    result.push_back(found);
  }
  return result;
}

}  // namespace sheaf

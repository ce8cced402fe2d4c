#include "data/class_names.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/text/number.hpp"

namespace sheaf {

std::string canonical_label(std::string_view label) {
  double value = 0;
  if (parse_whole_number(label, value) != NumberStatus::ok) return std::string(label);
  return fmt::format("{}", value + 0.0);  // both zeros are 0
}

OrderedClasses order_classes(const Target& target) {
  OrderedClasses result{target.class_names, target.classes};
  auto& names = result.names;
  if (target.fixed_order || names.size() != 2 || canonical_label(names[0]) != "-1" || canonical_label(names[1]) != "1")
    return result;
  std::swap(names[0], names[1]);
  for (auto& c : result.rows) c = 1 - c;
  return result;
}

std::size_t find_class(const std::vector<std::string>& names, const std::string& wanted) {
  const auto same = [spelling = canonical_label(wanted)](const auto& name) {
    return canonical_label(name) == spelling;
  };
  const auto found = std::find_if(names.begin(), names.end(), same);
  if (found == names.end()) fail_unknown("class", wanted, names);
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<std::int32_t> match_classes(std::span<const std::string> names, std::span<const std::string> labels) {
  std::unordered_map<std::string, std::int32_t> known;
  for (const auto& name : names) known.try_emplace(canonical_label(name), static_cast<std::int32_t>(known.size()));
  std::vector<std::int32_t> match;
  match.reserve(labels.size());
  for (const auto& label : labels) {
    const auto found = known.find(canonical_label(label));
    match.push_back(found == known.end() ? -1 : found->second);
  }
  return match;
}

std::string integer_label(const std::string& name, std::string_view program) {
  auto canonical = canonical_label(name);
  int value = 0;
  const auto* end = canonical.data() + canonical.size();
  const auto result = std::from_chars(canonical.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end)
    fail("the class '{}' is no integer, and {}'s model files hold no other; use Sheaf's own format", name, program);
  return canonical;
}

}  // namespace sheaf

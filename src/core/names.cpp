#include "core/names.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "core/fail.hpp"

namespace sheaf {
namespace {

constexpr std::ptrdiff_t most_names_in_error = 40;  // a table may have 100,000 features

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Letters to insert, drop, change or swap with a neighbour (restricted Damerau-Levenshtein), ignoring case.
std::size_t letters_apart(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return table[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  return at(a.size(), b.size());
}

}  // namespace

std::string nearest_name(std::string_view given, std::span<const std::string> known) {
  if (given.empty()) return {};
  std::string begun;
  std::size_t beginnings = 0;
  for (const auto& name : known)
    if (name.starts_with(given)) {
      begun = name;
      ++beginnings;
    }
  if (beginnings == 1) return begun;
  std::string best;
  std::size_t fewest = std::max<std::size_t>(given.size(), 3) / 3 + 1;
  for (const auto& name : known) {
    const std::size_t apart = letters_apart(given, name);
    if (apart >= fewest || apart >= std::max(given.size(), name.size())) continue;
    fewest = apart;
    best = name;
  }
  return best;
}

void fail_unknown(std::string_view kind, std::string_view given, std::span<const std::string> known) {
  const auto nearest = nearest_name(given, known);
  std::vector<std::string> shown(known.begin(), known.begin() + std::min(std::ssize(known), most_names_in_error));
  if (std::ssize(known) > most_names_in_error)
    shown.push_back(fmt::format("{} more", std::ssize(known) - most_names_in_error));
  fail_usage("unknown {} '{}'; known are {}{}", kind, given, join_names(shown),
             nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

std::string join_names(std::span<const std::string> names, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 < names.size() ? ", " : fmt::format(" {} ", last);
    text += names[i];
  }
  return text;
}

std::size_t find_name(std::string_view kind, std::string_view given, std::span<const std::string_view> known) {
  const auto found = std::find(known.begin(), known.end(), given);
  if (found == known.end()) fail_unknown(kind, given, std::vector<std::string>(known.begin(), known.end()));
  return static_cast<std::size_t>(found - known.begin());
}

}  // namespace sheaf

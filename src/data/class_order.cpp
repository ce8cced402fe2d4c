#include "data/class_order.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <numeric>

#include <sheaf/dataset.hpp>

#include "core/fail.hpp"
#include "data/labels.hpp"
#include "data/text/exact_decimal.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace {

/// NaN for a word.
double number_of(std::string_view name) {
  double value = 0;
  return parse_whole_number(name, value) == NumberStatus::ok ? value : std::numeric_limits<double>::quiet_NaN();
}

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & '\x80') != 0; }

/// The words of a name in lower case: "Non-tumour tissue" has three.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  bool open = false;
  for (const char c : name) {
    if (is_letter_or_digit(c)) {
      if (!open) words.emplace_back();
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    open = is_letter_or_digit(c);
  }
  return words;
}

template <std::size_t size>
bool has_one_of(const std::vector<std::string>& words, const std::array<std::string_view, size>& known) {
  return std::find_first_of(words.begin(), words.end(), known.begin(), known.end()) != words.end();
}

/// 1: the class of interest, such as a disease; -1: the reference, such as controls; 0: the name implies neither.
int what_it_says(std::string_view name) {
  static constexpr std::array<std::string_view, 28> looked_for{
      "yes",      "true",     "case",    "cases",    "sick",       "ill",       "tumour",
      "tumor",    "tumours",  "tumors",  "cancer",   "disease",    "diseased",  "patient",
      "ad",       "mutant",   "mutated", "mut",      "malignant",  "carcinoma", "adenocarcinoma",
      "affected", "positive", "pos",     "infected", "metastasis", "relapse",   "1"};
  static constexpr std::array<std::string_view, 21> compared_with{
      "normal", "normals",  "control", "controls",   "ctrl",       "ctl",       "wildtype",
      "wt",     "wild",     "healthy", "benign",     "no",         "not",       "non",
      "false",  "negative", "neg",     "unaffected", "uninfected", "reference", "0"};
  const auto words = words_of(name);
  if (has_one_of(words, compared_with)) return -1;
  return has_one_of(words, looked_for) ? 1 : 0;
}

/// 0, 1, 2 ... or 1, 2, 3 ... without a gap: codes rather than measurements.
bool are_codes(const std::vector<double>& values, std::size_t distinct) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return (*low == 0 || *low == 1) && *high - *low + 1 == static_cast<double>(distinct);
}

}  // namespace

std::vector<std::size_t> sorted_places(std::span<const std::string> names) {
  std::vector<double> numbers;
  for (const auto& name : names) numbers.push_back(number_of(name));
  std::vector<std::size_t> places(names.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    const bool word_a = std::isnan(numbers[a]);
    const bool word_b = std::isnan(numbers[b]);
    if (word_a != word_b) return word_b;
    if (word_a) return names[a] < names[b];
    if (numbers[a] == numbers[b] && is_beyond_exact(numbers[a]))
      return exact_decimal(names[a]) < exact_decimal(names[b]);
    return numbers[a] < numbers[b];
  });
  return places;
}

std::vector<std::int32_t> ranks_of(std::span<const std::size_t> places) {
  std::vector<std::int32_t> ranks(places.size());
  for (std::size_t k = 0; k < places.size(); ++k) ranks[places[k]] = static_cast<std::int32_t>(k);
  return ranks;
}

std::int32_t positive_class(std::span<const std::string> class_names) {
  if (class_names.size() != 2) return -1;
  const bool numbers = !std::isnan(number_of(class_names[0])) && !std::isnan(number_of(class_names[1]));
  if (numbers) return sorted_places(class_names).back() == 0 ? 0 : 1;
  const int first = what_it_says(class_names[0]);
  const int second = what_it_says(class_names[1]);
  if (first != second) return first > second ? 0 : 1;
  return sorted_places(class_names).back() == 0 ? 0 : 1;
}

std::vector<std::string> Target::target_names() const {
  std::vector<std::string> names;
  if (several()) names.push_back(name);
  for (const auto& one : further) names.push_back(one.name);
  return names;
}

std::vector<double> Target::table() const {
  const auto columns = static_cast<std::size_t>(targets());
  std::vector<double> result(values.size() * columns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    result[i * columns] = values[i];
    for (std::size_t c = 1; c < columns; ++c) result[i * columns + c] = further[c - 1].values[i];
  }
  return result;
}

bool Target::looks_like_classes() const {
  if (several()) return false;
  if (kind != LabelKind::automatic) return kind == LabelKind::classes;
  if (classes.empty()) return false;
  if (values.empty()) return true;
  constexpr std::size_t few = 20;
  constexpr std::size_t rows_of_code = 10;
  const auto distinct = class_names.size();
  if (std::any_of(values.begin(), values.end(), [](double value) { return value != std::floor(value); })) return false;
  if (distinct <= few) return distinct * 2 <= classes.size();
  return distinct * rows_of_code <= classes.size() && are_codes(values, distinct);
}

void Target::order_classes(const std::string& wanted) {
  const bool two = class_names.size() == 2;
  if (!wanted.empty() && !two)
    fail_usage("a positive class ('{}') is for two classes, and the labels have {}", wanted,
               class_names.empty() ? "none" : std::to_string(class_names.size()));
  auto places = sorted_places(class_names);
  if (two) {
    const auto first =
        wanted.empty() ? static_cast<std::size_t>(positive_class(class_names)) : find_class(class_names, wanted);
    if (places.front() != first) std::swap(places[0], places[1]);
    positive = 0;
  }
  fixed_order = true;
  if (std::is_sorted(places.begin(), places.end())) return;
  std::vector<std::string> names;
  names.reserve(places.size());
  for (const auto place : places) names.push_back(std::move(class_names[place]));
  class_names = std::move(names);
  const auto ranks = ranks_of(places);
  for (auto& c : classes) c = ranks[static_cast<std::size_t>(c)];
}

}  // namespace sheaf

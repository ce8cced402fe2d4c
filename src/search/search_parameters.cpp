#include <algorithm>
#include <cmath>

#include <sheaf/search.hpp>

#include "core/fail.hpp"
#include "data/parameter_rows.hpp"

namespace sheaf {
namespace {

using Row = Parameter<SearchOptions>;

double parse_cost(std::string_view text, std::string_view name) {
  const auto cost = parse_number<double>(name, text, {0, std::numeric_limits<double>::max()});
  if (cost == 0) fail_usage("{} must be more than 0", name);
  return cost;
}

std::vector<std::string_view> parts(std::string_view text, char between) {
  std::vector<std::string_view> result;
  while (true) {
    const auto end = text.find(between);
    result.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    text.remove_prefix(end + 1);
  }
}

/// Rounded to 12 digits, so that decades come out as 0.01 and not as 0.010000000000000002.
double rounded(double cost) { return parse_cost(fmt::format("{:.12g}", cost), "cost"); }

std::vector<double> log_range(const std::vector<std::string_view>& ends, std::string_view text, std::string_view name) {
  if (ends.size() != 3) fail_usage("{} takes numbers A,B,C or a range LOW:HIGH:COUNT, not '{}'", name, text);
  const double low = parse_cost(ends[0], name);
  const double high = parse_cost(ends[1], name);
  const auto count = parse_number<std::int32_t>(fmt::format("the count of a {} range", name), ends[2], {2, 10000});
  if (high <= low) fail_usage("{} {}: the second number must be larger than the first", name, text);
  std::vector<double> costs{low};
  for (std::int32_t k = 1; k + 1 < count; ++k)
    costs.push_back(rounded(low * std::pow(high / low, static_cast<double>(k) / (count - 1))));
  costs.push_back(high);
  return costs;
}

Row cost_row() {
  auto set = [](SearchOptions& options, std::string_view text) {
    const auto more = parse_costs(text);
    options.costs.insert(options.costs.end(), more.begin(), more.end());
  };
  return {
      "cost",         "LIST|RANGE", "costs C to try: numbers A,B,C, or LOW:HIGH:COUNT in equal steps of the logarithm",
      "0.001:1000:7", {},           std::move(set)};
}

std::vector<std::string> split_names() {
  std::vector<std::string> names;
  for (int kind = 0; kind <= static_cast<int>(SplitKind::bootstrap); ++kind)
    names.emplace_back(to_string(static_cast<SplitKind>(kind)));
  return names;
}

Row split_row() {
  auto set = [](SearchOptions& options, std::string_view text) { options.split = parse_split_kind(text); };
  return {"split", "NAME", "how rows are left out", "stratified, svr: kfold", split_names(), std::move(set)};
}

Row score_row() {
  std::vector<std::string> names;
  for (const auto& row : metrics()) names.emplace_back(row.name);
  auto set = [](SearchOptions& options, std::string_view text) { options.score = parse_metric(text); };
  return {"score", "NAME", "the score to choose by", "accuracy, svr: r2", names, std::move(set)};
}

}  // namespace

std::vector<double> default_costs() { return parse_costs("0.001:1000:7"); }

std::vector<double> parse_costs(std::string_view text, std::string_view name) {
  std::vector<double> costs;
  if (text.find(':') != std::string_view::npos)
    costs = log_range(parts(text, ':'), text, name);
  else
    for (const auto part : parts(text, ',')) costs.push_back(parse_cost(part, name));
  std::sort(costs.begin(), costs.end());
  costs.erase(std::unique(costs.begin(), costs.end()), costs.end());
  return costs;
}

template <>
const std::vector<Parameter<SearchOptions>>& parameters() {
  using O = SearchOptions;
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  static const std::vector<Row> rows{
      cost_row(),
      split_row(),
      number_row("folds", &O::folds, {1, most}, "folds, shuffles or bootstraps"),
      number_row("test-fraction", &O::test_fraction, {0, 1}, "shuffles: share of the rows that a split leaves out"),
      number_row("outer", &O::outer, {0, most},
                 "nested validation: a search without each of N outer folds, judged on that fold; 0: none"),
      score_row(),
      choice_row<O, Choice>("choose", &O::choice,
                            {{"best", Choice::best}, {"one-standard-error", Choice::one_standard_error}},
                            "the best mean score, or the smallest C within one standard error of it"),
      number_row("batch", &O::batch, {0, most}, "models trained and recorded together; results may differ in last bits",
                 "as many as are worth it and fit"),
  };
  return rows;
}

}  // namespace sheaf

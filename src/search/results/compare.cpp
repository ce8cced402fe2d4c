#include <sheaf/compare.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <sheaf/solvers/splits.hpp>

#include "core/fail.hpp"
#include "core/files/small_file.hpp"
#include "core/text.hpp"
#include "data/text/json_text.hpp"
#include "statistics/distributions.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::json;

Json load(const std::string& folder, const char* name) {
  const auto path = folder + "/" + name;
  const auto text = small_file(path);
  if (!text) fail("{}: cannot be opened; name the results folder of a search that has ended", path);
  auto json = parse_json<Json>(*text);
  if (!json.is_object()) fail("{}: is damaged, or not written by sheaf search", path);
  return json;
}

/// A results folder.
struct Run {
  std::string folder;
  Json settings, results;

  explicit Run(const std::string& path)
      : folder(path), settings(load(path, "settings.json")), results(load(path, "results.json")) {}
};

/// Settings that must be equal for scores to be of the same splits.
void check_same_splits(const Run& first, const Run& second) {
  const auto same = [&](const Json& x, const Json& y, std::string_view what) {
    if (x != y)
      fail("{} and {} are not of the same splits: {} is {} in the one and {} in the other", first.folder, second.folder,
           what, x.dump(), y.dump());
  };
  const auto& a = first.settings;
  const auto& b = second.settings;
  same(a.at("data").at("sha256"), b.at("data").at("sha256"), "the dataset's checksum");
  same(a.at("seed"), b.at("seed"), "the seed");
  for (const char* key : {"split", "folds", "test_fraction", "outer", "outer_split", "outer_fraction"})
    same(a.at("options").value(key, Json()), b.at("options").value(key, Json()), key);
  for (const char* key : {"label", "group", "task"})
    same(a.at("reading").value(key, Json()), b.at("reading").value(key, Json()), key);
}

double number(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> outer_scores(const Json& results, const std::string& metric) {
  std::vector<double> scores;
  for (const auto& fold : results.at("outer").at("folds")) scores.push_back(number(fold.at("scores").at(metric)));
  return scores;
}

/// Scores of the chosen point on each split.
std::vector<double> split_scores(const Json& results, const std::string& metric) {
  const auto& chosen = results.at("chosen");
  for (const auto& point : results.at("points")) {
    bool same = true;
    for (const auto& [key, value] : chosen.at("best").items())
      same = same && point.value(key, Json()) == chosen.at(key);
    if (!same) continue;
    std::vector<double> scores;
    for (const auto& score : point.at(metric).at("by_split")) scores.push_back(number(score));
    return scores;
  }
  throw Json::other_error::create(0, "no point is the chosen one", nullptr);
}

/// Test rows for each training row.
double ratio_of(const Json& results, bool nested) {
  const auto& asked = results.at("asked");
  const auto kind = asked.at(nested ? "outer_split" : "split").get<std::string>();
  if (kind.find("shuffle") != std::string::npos) {
    const double share = asked.at(nested ? "outer_fraction" : "test_fraction").get<double>();
    return share / (1 - share);
  }
  if (kind.find("bootstrap") != std::string::npos) return std::exp(-1) / (1 - std::exp(-1));
  const double rows = results.at("rows").get<double>();
  if (kind == to_string(SplitKind::leave_one_out))
    return (nested ? 1 : rows / results.at("splits").get<double>()) / (rows - 1);
  return 1 / (asked.at(nested ? "outer" : "folds").get<double>() - 1);
}

/// The scores of several folders on the same splits.
struct SameSplits {
  Metric metric = Metric::accuracy;
  bool nested = false;
  double ratio = 0;  // test rows for each training row
  std::vector<std::vector<double>> scores;
};

SameSplits scores_of(const std::vector<std::string>& folders, const std::string& metric) {
  std::vector<Run> runs;
  for (const auto& folder : folders) {
    runs.emplace_back(folder);
    check_same_splits(runs.front(), runs.back());
  }
  const auto& first = runs.front();
  const auto name =
      metric.empty() ? first.results.at("score").get<std::string>() : std::string(info(parse_metric(metric)).name);
  SameSplits same{parse_metric(name), true, 0, {}};
  for (const auto& run : runs) {
    if (metric.empty() && run.results.at("score") != name)
      fail("{} was chosen by {} and {} by {}; say by which score to compare (--score)", first.folder, name, run.folder,
           run.results.at("score").get<std::string>());
    same.nested = same.nested && !run.results.at("outer").is_null();
  }
  for (const auto& run : runs)
    same.scores.push_back(same.nested ? outer_scores(run.results, name) : split_scores(run.results, name));
  same.ratio = ratio_of(first.results, same.nested);
  return same;
}

/// The same, with folders that are not of this version as an Error.
SameSplits read_scores(const std::vector<std::string>& folders, const std::string& metric) {
  try {
    return scores_of(folders, metric);
  } catch (const Json::exception&) {
    fail("{} cannot be compared: one of them is no results folder of this version of Sheaf",
         fmt::join(folders, " and "));
  }
}

/// Keeps the places at which every list has a number.
void keep_common(std::vector<std::vector<double>>& lists) {
  std::vector<std::vector<double>> kept(lists.size());
  for (std::size_t k = 0; k < lists.front().size(); ++k)
    if (std::none_of(lists.begin(), lists.end(), [&](const auto& list) { return std::isnan(list[k]); }))
      for (std::size_t r = 0; r < lists.size(); ++r) kept[r].push_back(lists[r][k]);
  lists = std::move(kept);
}

}  // namespace

double student_t(double t, double degrees) {
  const double tail = two_tails(t, degrees) / 2;
  return t > 0 ? 1 - tail : tail;
}

Comparison compare_scores(std::vector<double> first, std::vector<double> second, double ratio) {
  if (first.size() != second.size())
    fail("there are {} scores on the one side and {} on the other; they must be of the same splits", first.size(),
         second.size());
  Comparison result;
  result.first = std::move(first);
  result.second = std::move(second);
  std::vector<double> differences;
  for (std::size_t k = 0; k < result.first.size(); ++k) {
    if (std::isnan(result.first[k]) || std::isnan(result.second[k])) continue;
    differences.push_back(result.first[k] - result.second[k]);
    result.mean_first += result.first[k];
    result.mean_second += result.second[k];
  }
  const auto count = static_cast<double>(differences.size());
  if (count < 2) fail("{} splits have both scores; a comparison takes two or more", differences.size());
  result.mean_first /= count;
  result.mean_second /= count;
  result.difference = result.mean_first - result.mean_second;
  double squares = 0;
  for (const double one : differences) squares += (one - result.difference) * (one - result.difference);
  result.degrees = count - 1;
  result.standard_error = std::sqrt((1 / count + ratio) * squares / result.degrees);
  if (result.standard_error > 0) {
    result.t = result.difference / result.standard_error;
    result.p_value = 2 * student_t(-std::abs(result.t), result.degrees);
  } else if (result.difference != 0) {
    result.t = std::copysign(std::numeric_limits<double>::infinity(), result.difference);
    result.p_value = 0;
  }
  const double reach = two_tails_quantile(0.05, result.degrees) * result.standard_error;
  result.low = result.difference - reach;
  result.high = result.difference + reach;
  return result;
}

Comparison compare_searches(const std::string& first, const std::string& second, const std::string& metric) {
  auto found = read_scores({first, second}, metric);
  auto result = compare_scores(std::move(found.scores.front()), std::move(found.scores.back()), found.ratio);
  result.metric = found.metric;
  result.nested = found.nested;
  return result;
}

SearchesComparison compare_searches(const std::vector<std::string>& folders, const std::string& metric) {
  if (folders.size() < 2) fail_usage("a comparison takes two searches or more, and there is {}", folders.size());
  auto found = read_scores(folders, metric);
  for (std::size_t r = 1; r < folders.size(); ++r)
    if (found.scores[r].size() != found.scores.front().size())
      fail("{} has {} and {} has {}; they must be the same", folders.front(),
           counted(found.scores.front().size(), "split"), folders[r], found.scores[r].size());
  keep_common(found.scores);
  SearchesComparison result{found.metric, found.nested, {}};
  for (std::size_t r = 0; r < folders.size(); ++r) {
    const auto beside_zero = compare_scores(found.scores[r], std::vector<double>(found.scores[r].size()), found.ratio);
    result.searches.push_back(
        {folders[r], found.scores[r], beside_zero.mean_first, beside_zero.low, beside_zero.high, {}, 1});
  }
  const double sign = info(found.metric).larger_is_better ? 1 : -1;
  std::stable_sort(result.searches.begin(), result.searches.end(),
                   [&](const auto& a, const auto& b) { return sign * a.mean > sign * b.mean; });
  std::vector<double> p_values;
  for (auto& search : result.searches) {
    search.to_best = compare_scores(search.scores, result.searches.front().scores, found.ratio);
    search.to_best.metric = found.metric;
    search.to_best.nested = found.nested;
    if (&search != &result.searches.front()) p_values.push_back(search.to_best.p_value);
  }
  const auto adjusted = holm(p_values);
  for (std::size_t k = 0; k < adjusted.size(); ++k) result.searches[k + 1].adjusted_p_value = adjusted[k];
  return result;
}

std::vector<double> holm(const std::vector<double>& p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(order.size() - k) * p_values[order[k]]));
    adjusted[order[k]] = largest;
  }
  return adjusted;
}

}  // namespace sheaf

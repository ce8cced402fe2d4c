#include <sheaf/compare.hpp>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include <nlohmann/json.hpp>

#include <sheaf/splits.hpp>

#include "core/fail.hpp"
#include "data/text/json_text.hpp"
#include "statistics/distributions.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::json;

Json load(const std::string& folder, const char* name) {
  const auto path = folder + "/" + name;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("{}: cannot be opened; name the results folder of a search that has ended", path);
  auto json = parse_json<Json>(std::string{std::istreambuf_iterator<char>(file), {}});
  if (!json.is_object()) fail("{}: is damaged, or not written by sheaf search", path);
  return json;
}

/// What must be the same for scores to be of the same splits.
void check_same_splits(const std::string& first, const std::string& second) {
  const auto a = load(first, "settings.json");
  const auto b = load(second, "settings.json");
  const auto same = [&](const Json& x, const Json& y, std::string_view what) {
    if (x != y)
      fail("{} and {} are not of the same splits: {} is {} in the one and {} in the other", first, second, what,
           x.dump(), y.dump());
  };
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

/// Of the point that was chosen.
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
  try {
    check_same_splits(first, second);
    const auto a = load(first, "results.json");
    const auto b = load(second, "results.json");
    const auto name = metric.empty() ? a.at("score").get<std::string>() : std::string(info(parse_metric(metric)).name);
    if (metric.empty() && b.at("score") != name)
      fail("{} was chosen by {} and {} by {}; say by which score to compare (--score)", first, name, second,
           b.at("score").get<std::string>());
    const bool nested = !a.at("outer").is_null() && !b.at("outer").is_null();
    auto result = compare_scores(nested ? outer_scores(a, name) : split_scores(a, name),
                                 nested ? outer_scores(b, name) : split_scores(b, name), ratio_of(a, nested));
    result.metric = parse_metric(name);
    result.nested = nested;
    return result;
  } catch (const Json::exception&) {
    fail("{} and {} cannot be compared: one of them is no results folder of this version of Sheaf", first, second);
  }
}

}  // namespace sheaf

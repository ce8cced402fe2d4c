#include "text/compare_text.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/text.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

Json likelihood_json(const NamedLikelihood& model) {
  const auto& fit = model.fit;
  return {{"model", model.name},
          {"parameters", fit.parameters},
          {"log_likelihood", fit.log_likelihood},
          {"deviance", fit.deviance},
          {"aic", fit.aic},
          {"bic", fit.bic}};
}

/// The score that is compared, above a table.
std::string score_title(Metric metric, bool nested) {
  return fmt::format(
      "{}{}\n", bold(info(metric).title),
      dim(nested ? "  on the outer folds" : "  of the chosen points, on the splits they were chosen by"));
}

}  // namespace

std::string compare_text(const Comparison& c, const std::string& first, const std::string& second) {
  std::vector<std::vector<std::string>> rows{{dim("split"), dim(first), dim(second), dim("difference")}};
  for (std::size_t k = 0; k < c.first.size(); ++k)
    rows.push_back({std::to_string(k + 1), score_text(c.first[k]), score_text(c.second[k]),
                    fmt::format("{:+.4f}", c.first[k] - c.second[k])});
  rows.push_back({"mean", score_text(c.mean_first), score_text(c.mean_second), fmt::format("{:+.4f}", c.difference)});
  return score_title(c.metric, c.nested) + table(rows, "lrrr", 2) +
         fmt::format(
             "\n  difference {:+.4f}, 95 % interval {:+.4f} to {:+.4f}\n  corrected resampled t-test: t = {:.3f}, "
             "{} degrees of freedom, p = {:.4g}\n",
             c.difference, c.low, c.high, c.t, c.degrees, c.p_value);
}

std::string compare_json(const Comparison& c) {
  const Json answer{{"score", info(c.metric).name},
                    {"nested", c.nested},
                    {"first", numbers(c.first)},
                    {"second", numbers(c.second)},
                    {"mean_first", number(c.mean_first)},
                    {"mean_second", number(c.mean_second)},
                    {"difference", number(c.difference)},
                    {"standard_error", number(c.standard_error)},
                    {"interval", {number(c.low), number(c.high)}},
                    {"t", number(c.t)},
                    {"degrees_of_freedom", number(c.degrees)},
                    {"p_value", number(c.p_value)}};
  return answer.dump(2) + "\n";
}

std::string searches_text(const SearchesComparison& c) {
  std::vector<std::vector<std::string>> rows{{dim("search"), dim("score"), dim("95 % interval"),
                                              dim("difference to the best"), dim("t"), dim("p"), dim("p, adjusted")}};
  for (const auto& search : c.searches) {
    const auto& test = search.to_best;
    const auto interval = fmt::format("{} to {}", score_text(search.low), score_text(search.high));
    if (&search == &c.searches.front())
      rows.push_back({search.folder, score_text(search.mean), interval, "best", "", "", ""});
    else
      rows.push_back({search.folder, score_text(search.mean), interval,
                      fmt::format("{:+.4f} ({:+.4f} to {:+.4f})", test.difference, test.low, test.high),
                      fmt::format("{:.3f}", test.t), fmt::format("{:.4g}", test.p_value),
                      fmt::format("{:.4g}", search.adjusted_p_value)});
  }
  return score_title(c.metric, c.nested) + table(rows, "lrrrrrr", 2) +
         fmt::format(
             "\n  corrected resampled t-test, {} degrees of freedom; p-values are adjusted for {} comparisons (Holm)\n",
             c.searches.front().to_best.degrees, c.searches.size() - 1);
}

std::string searches_json(const SearchesComparison& c) {
  Json list = Json::array();
  for (const auto& search : c.searches) {
    const auto& test = search.to_best;
    const bool best = &search == &c.searches.front();
    const auto of_test = [&](double value) { return best ? Json() : number(value); };
    list.push_back({{"search", search.folder},
                    {"scores", numbers(search.scores)},
                    {"mean", number(search.mean)},
                    {"interval", {number(search.low), number(search.high)}},
                    {"difference", of_test(test.difference)},
                    {"standard_error", of_test(test.standard_error)},
                    {"difference_interval", best ? Json() : Json{number(test.low), number(test.high)}},
                    {"t", of_test(test.t)},
                    {"p_value", of_test(test.p_value)},
                    {"adjusted_p_value", of_test(search.adjusted_p_value)}});
  }
  const Json answer{{"score", info(c.metric).name},
                    {"nested", c.nested},
                    {"degrees_of_freedom", number(c.searches.front().to_best.degrees)},
                    {"adjustment", "holm"},
                    {"searches", std::move(list)}};
  return answer.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string models_text(std::span<const NamedLikelihood> models, const LikelihoodRatioTest& test) {
  std::vector<std::vector<std::string>> rows{
      {"", dim("parameters"), dim("log-likelihood"), dim("deviance"), dim("AIC"), dim("BIC")}};
  for (const auto& [name, fit] : models)
    rows.push_back({name, fmt::format("{}", fit.parameters), fmt::format("{:.6g}", fit.log_likelihood),
                    fmt::format("{:.6g}", fit.deviance), fmt::format("{:.6g}", fit.aic),
                    fmt::format("{:.6g}", fit.bic)});
  return fmt::format("{}{}\n", bold("Likelihood-ratio test"), dim("  of two models")) + table(rows, "lrrrrr", 2) +
         fmt::format("\n  the larger model is {}\n  chi-squared = {:.6g}, {} degrees of freedom, p = {:.4g}\n",
                     models[test.first_larger ? 0 : 1].name, test.statistic, test.freedom, test.p);
}

std::string models_json(std::span<const NamedLikelihood> models, const LikelihoodRatioTest& test) {
  const Json answer{{"first", likelihood_json(models[0])},
                    {"second", likelihood_json(models[1])},
                    {"larger", models[test.first_larger ? 0 : 1].name},
                    {"chi_squared", number(test.statistic)},
                    {"degrees_of_freedom", test.freedom},
                    {"p_value", number(test.p)}};
  return answer.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sheaf::cli

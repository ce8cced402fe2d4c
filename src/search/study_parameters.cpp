#include <algorithm>
#include <cmath>

#include <sheaf/study.hpp>

#include "core/fail.hpp"
#include "data/parameter_rows.hpp"

namespace sheaf {
namespace {

using Row = Parameter<StudyOptions>;
using O = StudyOptions;

const Choices<Strategy>& strategies() {
  static const Choices<Strategy> rows{{"grid", Strategy::grid},
                                      {"random", Strategy::random},
                                      {"refined", Strategy::refined},
                                      {"descent", Strategy::descent}};
  return rows;
}

const Choices<LeaveOut>& ways_to_leave_out() {
  static const Choices<LeaveOut> rows{
      {"auto", LeaveOut::automatic}, {"stratified", LeaveOut::stratified}, {"group", LeaveOut::group}};
  return rows;
}

/// Rows that mean the same for a search are those of its table.
Row like_search(std::string_view name, const std::string& help, const std::string& default_text,
                void (*take)(StudyOptions&, const SearchOptions&)) {
  for (const auto& row : parameters<SearchOptions>()) {
    if (row.name != name) continue;
    auto set = [set = row.set, take](StudyOptions& options, std::string_view text) {
      SearchOptions like;
      set(like, text);
      take(options, like);
    };
    return {row.name, row.value, help, default_text, row.choices, std::move(set)};
  }
  throw InternalError("a search has no such parameter");
}

Row alphas_row() {
  auto set = [](StudyOptions& options, std::string_view text) {
    auto more = parse_costs(text, "alphas");
    options.alphas.insert(options.alphas.end(), more.begin(), more.end());
  };
  return {"alphas",
          "LIST|RANGE",
          "alphas to try: numbers A,B,C, or LOW:HIGH:COUNT in equal steps of the logarithm",
          "from the smallest that leaves no weights downwards",
          {},
          std::move(set)};
}

Row l1_ratios_row() {
  auto set = [](StudyOptions& options, std::string_view text) {
    while (true) {
      const auto comma = text.find(',');
      options.l1_ratios.push_back(parse_number<double>("l1-ratios", text.substr(0, comma), {0, 1}));
      if (comma == std::string_view::npos) return;
      text.remove_prefix(comma + 1);
    }
  };
  return {"l1-ratios",   "LIST", "shares of the L1 penalty to try: numbers from 0 to 1",
          "0.2,0.5,0.9", {},     std::move(set)};
}

Row share_row() {
  auto set = [](StudyOptions& options, std::string_view text) {
    const auto share = parse_number<double>("smallest-share", text, {0, 1});
    if (share == 0 || share == 1) fail_usage("smallest-share must be more than 0 and less than 1");
    options.smallest_share = share;
  };
  return {"smallest-share",
          "N",
          "the smallest of these, as a share of the largest",
          fmt::format("{}", O{}.smallest_share),
          {},
          std::move(set)};
}

void take_choice(StudyOptions& options, const SearchOptions& like) { options.choice = like.choice; }
void take_score(StudyOptions& options, const SearchOptions& like) { options.score = like.score; }

}  // namespace

std::vector<double> default_l1_ratios() { return {0.2, 0.5, 0.9}; }

std::string_view to_string(Strategy strategy) {
  for (const auto& [name, value] : strategies())
    if (value == strategy) return name;
  throw InternalError("an unknown strategy");
}

std::string_view to_string(LeaveOut split) {
  for (const auto& [name, value] : ways_to_leave_out())
    if (value == split) return name;
  throw InternalError("an unknown way to leave rows out");
}

StudyOptions decided(StudyOptions options, const Target& target, bool has_groups, const std::string& source) {
  if (options.split == LeaveOut::automatic) options.split = has_groups ? LeaveOut::group : LeaveOut::stratified;
  if (options.split == LeaveOut::group && !has_groups)
    fail_usage("splitting by 'group' needs groups of rows; name the column that holds them (--group)");
  const bool classes = takes_classes(options.net, target, source);
  if (options.l1_ratios.empty()) options.l1_ratios = default_l1_ratios();
  std::sort(options.l1_ratios.begin(), options.l1_ratios.end());
  options.l1_ratios.erase(std::unique(options.l1_ratios.begin(), options.l1_ratios.end()), options.l1_ratios.end());
  std::sort(options.alphas.begin(), options.alphas.end(), std::greater<>());
  options.alphas.erase(std::unique(options.alphas.begin(), options.alphas.end()), options.alphas.end());
  if (!options.score) options.score = classes ? Metric::auc : Metric::r2;
  const auto& score = info(*options.score);
  if (score.regression == classes)
    fail_usage("{} is a score of {}, and the labels are {}", score.name, score.regression ? "amounts" : "classes",
               classes ? "classes" : "amounts");
  if (score.probabilities && options.net.loss != Loss::logistic)
    fail_usage("{} needs probabilities, which only --model elastic-net-logistic has", score.name);
  if (options.splits < 1) fail_usage("a study takes 1 split or more");
  if (options.path_split > options.splits)
    fail_usage("the path of split {} is asked for, but there are {}", options.path_split, options.splits);
  if (options.trials > 0 && (options.strategy == Strategy::grid || options.strategy == Strategy::descent))
    fail_usage("--trials is for --strategy random and refined");
  return options;
}

template <>
const std::vector<Parameter<StudyOptions>>& parameters() {
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  static const std::vector<Row> rows{
      number_row("splits", &O::splits, {1, most}, "times that rows are left out anew"),
      choice_row<O, LeaveOut>("split", &O::split, ways_to_leave_out(),
                              "rows left out: the same share of each class, or whole groups (auto: where the table has "
                              "groups)"),
      number_row("test-fraction", &O::test_fraction, {0, 1}, "share of the rows that a split leaves out"),
      number_row("folds", &O::folds, {2, most}, "folds of a split's other rows, to choose alpha and l1-ratio by"),
      alphas_row(),
      number_row("alpha-count", &O::alpha_count, {1, 100000}, "how many alphas, where they are not given"),
      share_row(),
      l1_ratios_row(),
      like_search("score", "the score to choose by", "auc, of amounts: r2", take_score),
      like_search("choose", "the best mean score, or the fewest features within one standard error of it", "best",
                  take_choice),
      choice_row<O, Strategy>("strategy", &O::strategy, strategies(),
                              "pairs of alpha and l1-ratio to try: all; some at random; then all around the best; or "
                              "from the middle to better neighbours"),
      number_row("trials", &O::trials, {1, most}, "random, refined: how many at random", "a third, but 10 at least"),
      number_row("min-frequency", &O::min_frequency, {0, 1},
                 "features that this share of the splits chose are selected"),
      number_row("path-split", &O::path_split, {0, most}, "split whose whole path the report shows; 0: none",
                 "1 with --report, else 0"),
      number_row("batch", &O::batch, {0, most}, "splits trained and recorded together; results may differ in last bits",
                 "as many as are worth it and fit"),
  };
  return rows;
}

}  // namespace sheaf

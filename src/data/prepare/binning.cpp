#include "data/prepare/binning.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/name_source.hpp"
#include "data/nominal.hpp"

namespace sheaf {
namespace {

constexpr std::array<std::string_view, 5> method_names{"equal-width", "equal-frequency", "mdlp", "as-given",
                                                       "automatic"};

constexpr std::int64_t enough_a_bin = 5;  // rows, for counts to mean something

bool is_counted(const BinningOptions& options) {
  return options.method != BinMethod::mdlp && options.method != BinMethod::as_given;
}

void check_options(const BinningOptions& options, const BinnedTarget* target) {
  if (is_counted(options) && (options.bins < 2 || options.bins > BinningOptions::most_bins))
    fail_usage("{} bins were asked for; from 2 to {} are possible", options.bins, BinningOptions::most_bins);
  if (options.method == BinMethod::mdlp && target == nullptr)
    fail("mdlp needs classes, and the dataset has none; bin by equal width or equal frequency");
}

template <class T>
BinRule integers_rule(const Dataset<T>& dataset, std::int64_t j, const bins::Extents& extents) {
  const auto at = static_cast<std::size_t>(j);
  BinRule rule;
  rule.kind = BinRule::Kind::integers;
  if (!(extents.low[at] <= extents.high[at])) return rule;
  rule.low = std::floor(extents.low[at]);
  rule.high = std::floor(extents.high[at]);
  const double states = rule.high - rule.low + 1;
  if (states > BinningOptions::most_bins)
    fail(
        "{}: feature '{}' holds numbers from {} to {}; taken as they are, they would be more than {} states, so bin "
        "them",
        dataset.source, dataset.feature_name(j), rule.low, rule.high, BinningOptions::most_bins);
  rule.states = static_cast<std::int32_t>(states);
  return rule;
}

template <class T>
BinRule levels_rule(const Dataset<T>& dataset, std::int64_t j) {
  BinRule rule;
  rule.kind = BinRule::Kind::levels;
  rule.levels = dataset.levels[static_cast<std::size_t>(j)];
  if (rule.levels.size() > static_cast<std::size_t>(BinningOptions::most_bins))
    fail("{}: feature '{}' has {} levels; at most {} states are possible", dataset.source, dataset.feature_name(j),
         rule.levels.size(), BinningOptions::most_bins);
  rule.states = static_cast<std::int32_t>(rule.levels.size());
  return rule;
}

std::vector<std::int64_t> sizes_of(const BinnedTarget& target) {
  std::vector<std::int64_t> sizes(target.names.size());
  for (const auto c : target.classes) ++sizes[static_cast<std::size_t>(c)];
  return sizes;
}

/// The rules that need the values in order.
template <class T>
void learn_cuts(const Context& context, const Dataset<T>& dataset, const BinningOptions& options,
                const BinnedTarget* target, std::vector<BinRule>& rules) {
  const bool mdlp = options.method == BinMethod::mdlp;
  const auto sizes = mdlp ? sizes_of(*target) : std::vector<std::int64_t>{};
  const bins::XLogX x_log_x(mdlp ? dataset.rows() : 0);
  Stage stage(context.progress(), "finding cuts", dataset.features());
  bins::for_each_column(context, dataset, [&](std::int64_t j, const bins::Column<T>& column) {
    stage.advance(1);
    if (is_nominal(dataset, j)) return;
    auto cuts = mdlp ? bins::mdlp_cuts(column, target->classes, sizes, x_log_x)
                     : bins::equal_frequency_cuts(column, options.bins);
    if (cuts.size() >= static_cast<std::size_t>(BinningOptions::most_bins))
      fail("{}: feature '{}' would be cut {} times; at most {} states are possible", dataset.source,
           dataset.feature_name(j), cuts.size(), BinningOptions::most_bins);
    rules[static_cast<std::size_t>(j)] = bins::cuts_rule(std::move(cuts));
  });
}

/// Replaces rules of equal width that crowd their features.
template <class T>
void cut_skewed(const Context& context, const Dataset<T>& dataset, std::vector<BinRule>& rules) {
  bins::for_each_column(context, dataset, [&](std::int64_t j, const bins::Column<T>& column) {
    auto& rule = rules[static_cast<std::size_t>(j)];
    if (auto cuts = bins::cuts_if_skewed(column, rule); !cuts.empty()) rule = bins::cuts_rule(std::move(cuts));
  });
}

template <class T>
std::vector<std::string> notes_of(const Dataset<T>& dataset, const BinningOptions& options,
                                  const bins::Extents& extents, const Binning& binning,
                                  const std::vector<std::int32_t>& states) {
  std::vector<std::string> notes;
  const auto skewed = std::count_if(binning.rules.begin(), binning.rules.end(),
                                    [](const BinRule& rule) { return rule.kind == BinRule::Kind::cuts; });
  if (binning.method == BinMethod::automatic && skewed > 0)
    notes.push_back(fmt::format("{} of {} features {} skewed: {} bins are of equal frequency, not of equal width",
                                grouped(skewed), grouped(dataset.features()), skewed == 1 ? "is" : "are",
                                skewed == 1 ? "its" : "their"));
  const auto single = std::count(states.begin(), states.end(), 1);
  if (single > 0)
    notes.push_back(fmt::format("{} of {} features {}", grouped(single), grouped(dataset.features()),
                                options.method == BinMethod::mdlp
                                    ? "have no useful cut: none of them alone separates the classes"
                                    : "are constant and carry no information"));
  if (is_counted(options) && options.bins > dataset.rows())
    notes.push_back(fmt::format("{} bins are more than the {} rows; most bins hold none, or but one",
                                grouped(options.bins), grouped(dataset.rows())));
  else if (is_counted(options) && std::int64_t{options.bins} * enough_a_bin > dataset.rows())
    notes.push_back(fmt::format("{} bins are many for {} rows; fewer leave less to chance", grouped(options.bins),
                                grouped(dataset.rows())));
  if (options.method == BinMethod::as_given) {
    const auto fractions = std::count(extents.fractional.begin(), extents.fractional.end(), 1);
    if (fractions > 0)
      notes.push_back(fmt::format("{} of {} features hold fractions, which were rounded down to be states",
                                  grouped(fractions), grouped(dataset.features())));
  }
  return notes;
}

}  // namespace

BinMethod parse_bin_method(std::string_view text) {
  return static_cast<BinMethod>(find_name("binning", text, method_names));
}

bool has_automatic_bins(const BinningOptions& options) { return is_counted(options) && options.bins == 0; }

std::int32_t automatic_bins(std::int64_t rows, std::int64_t classes) {
  constexpr std::int32_t least = 3;  // two would not separate the middle of the values from the ends
  std::int32_t bins = 1;
  for (auto of_class = rows / std::max<std::int64_t>(1, classes); of_class >= 4; of_class /= 4) ++bins;
  return std::max(least, bins);
}

BinningOptions with_bins(BinningOptions options, std::int64_t rows, const BinnedTarget* target) {
  if (!options.method) options.method = options.bins > 0 ? BinMethod::equal_width : BinMethod::automatic;
  if (!has_automatic_bins(options)) return options;
  std::vector<bool> occurs(target != nullptr ? target->names.size() : 0, false);
  if (target != nullptr)
    for (const auto c : target->classes) occurs.at(static_cast<std::size_t>(c)) = true;
  options.bins = automatic_bins(rows, std::count(occurs.begin(), occurs.end(), true));
  return options;
}

std::string describe_bins(const BinningOptions& options, bool automatic) {
  if (options.method == BinMethod::as_given) return "states as given";
  if (options.method == BinMethod::mdlp) return "cuts by mdlp";
  return fmt::format("{} of equal {}{}", counted(options.bins, "bin"),
                     options.method == BinMethod::equal_width       ? "width"
                     : options.method == BinMethod::equal_frequency ? "frequency"
                                                                    : "width, for skewed features of equal frequency",
                     automatic ? ", a number that follows from the rows and classes" : "");
}

std::string_view to_string(BinMethod method) { return method_names[static_cast<std::size_t>(method)]; }

namespace bins {

BinRule width_rule(double low, double high, std::int32_t bins) {
  BinRule rule;
  if (!(low <= high)) return rule;
  rule.low = low;
  rule.high = high;
  rule.states = low < high ? bins : 1;
  return rule;
}

BinRule cuts_rule(std::vector<double> cuts) {
  BinRule rule;
  rule.kind = BinRule::Kind::cuts;
  rule.states = static_cast<std::int32_t>(cuts.size()) + 1;
  rule.cuts = std::move(cuts);
  return rule;
}

bool need_no_copy(const BinningOptions& options) {
  return options.target_bins == 0 && is_counted(options) && options.method != BinMethod::equal_frequency;
}

template <class T>
Binning learn(const Context& context, const Dataset<T>& dataset, const BinningOptions& options,
              const BinnedTarget* target, const Extents& extents) {
  Binning binning{*options.method, options.missing, {}, dataset.feature_names};
  binning.rules.resize(static_cast<std::size_t>(dataset.features()));
  for (std::int64_t j = 0; j < dataset.features(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    if (is_nominal(dataset, j))
      binning.rules[at] = levels_rule(dataset, j);
    else if (options.method == BinMethod::equal_width || options.method == BinMethod::automatic)
      binning.rules[at] = width_rule(extents.low[at], extents.high[at], options.bins);
    else if (options.method == BinMethod::as_given)
      binning.rules[at] = integers_rule(dataset, j, extents);
  }
  if (options.method == BinMethod::equal_frequency || options.method == BinMethod::mdlp)
    learn_cuts(context, dataset, options, target, binning.rules);
  if (options.method == BinMethod::automatic) cut_skewed(context, dataset, binning.rules);
  return binning;
}

template <class T>
Extents checked_extents(const Context& context, const Dataset<T>& dataset, const BinningOptions& options,
                        const BinnedTarget* target) {
  name_source(dataset.source, [&] { check_options(options, target); });
  check_feature_memory(context, dataset, sizeof(BinRule) + 4 * sizeof(double), "rules of binning");
  auto extents = measure(context, dataset);
  if (options.missing == MissingState::error) check_missing(dataset, extents);
  check_finite(dataset, extents);
  return extents;
}

}  // namespace bins

template <class T>
Binning learn_binning(const Context& context, const Dataset<T>& dataset, const BinningOptions& given,
                      const BinnedTarget* target) {
  const auto options = with_bins(given, dataset.rows(), target);
  return bins::learn(context, dataset, options, target, bins::checked_extents(context, dataset, options, target));
}

template <class T>
Binned learn_and_apply_binning(const Context& context, const Dataset<T>& dataset, const BinningOptions& given,
                               const BinnedTarget* target) {
  const auto options = with_bins(given, dataset.rows(), target);
  const auto extents = bins::checked_extents(context, dataset, options, target);
  auto binning = bins::learn(context, dataset, options, target, extents);
  auto table = bins::apply(context, binning, dataset, extents);
  auto notes = notes_of(dataset, given, extents, binning, table.states);
  return {std::move(binning), std::move(table), std::move(notes)};
}

template Binning learn_binning(const Context&, const Dataset<float>&, const BinningOptions&, const BinnedTarget*);
template Binning learn_binning(const Context&, const Dataset<double>&, const BinningOptions&, const BinnedTarget*);
template Binned learn_and_apply_binning(const Context&, const Dataset<float>&, const BinningOptions&,
                                        const BinnedTarget*);
template Binned learn_and_apply_binning(const Context&, const Dataset<double>&, const BinningOptions&,
                                        const BinnedTarget*);

}  // namespace sheaf

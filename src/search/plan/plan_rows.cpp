#include "search/plan/plan_rows.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <sheaf/error.hpp>

#include "core/text.hpp"
#include "data/describe/row_order.hpp"
#include "data/split/equal_rows.hpp"
#include "data/split/group_splits.hpp"

namespace sheaf::engine {
namespace {

std::int64_t largest(std::span<const std::int32_t> groups) {
  std::int64_t most = 0;
  const auto members = members_of(groups);
  for (std::int64_t g = 0; g < members.classes(); ++g) most = std::max(most, members.size(g));
  return most;
}

/// No set of rows is larger than what a split tests, unless a group is that large anyway.
bool stay_even(std::span<const std::int32_t> joined, std::span<const std::int32_t> groups,
               const SearchOptions& options) {
  const bool shuffle = options.split == SplitKind::stratified_shuffle || options.split == SplitKind::group_shuffle;
  const double tested = shuffle ? options.test_fraction : 1.0 / options.folds;
  return static_cast<double>(largest(joined)) <=
         std::max(static_cast<double>(largest(groups)), tested * static_cast<double>(joined.size()));
}

/// Whether a split of the search trains on a row that equals one that it tests.
bool are_on_both_sides(const Plan& plan, const EqualRowSets& sets, int threads) {
  for (std::int32_t split = 0; split < plan.all_splits(); ++split) {
    const auto table = plan.table({split}, threads);
    std::vector<bool> trained(sets.first.size(), false);
    for (std::size_t i = 0; i < sets.first.size(); ++i)
      if (table.weights[i] > 0) trained[static_cast<std::size_t>(sets.first[i])] = true;
    for (const auto row : table.tests.rows)
      if (trained[static_cast<std::size_t>(sets.first[static_cast<std::size_t>(row)])]) return true;
  }
  return false;
}

/// Plans the rows, and notes the treatment of those with equal features.
template <class T>
class RowPlanner {
 public:
  RowPlanner(const Context& context, const Dataset<T>& dataset, const Labels& labels, const SearchOptions& options)
      : context_(context),
        dataset_(dataset),
        labels_(labels),
        options_(options),
        planned_{plan({dataset.groups, dataset.row_columns.times})} {
    planned_.groups = planned_.plan.groups();
  }

  PlannedRows run() {
    warn_of_order();
    note_time();
    if (options_.equal_rows == EqualRows::apart || options_.split == SplitKind::time) return std::move(planned_);
    const auto sets = find_equal_rows(dataset_.x, context_.threads());
    if (sets.rows == 0) return std::move(planned_);
    const auto what = fmt::format("{} of {} rows have the same features as another row", grouped(sets.rows),
                                  grouped(dataset_.rows()));
    if (!can_keep_groups(*options_.split)) {
      note_given(sets, what);
      return std::move(planned_);
    }
    if (options_.equal_rows == EqualRows::automatic && sets.few_values) {
      planned_.notes.push_back(
          what +
          ", since the features have few values; they are split like other rows (equal-rows together keeps them "
          "on one side of every split)");
      return std::move(planned_);
    }
    return keep_together(sets, what);
  }

 private:
  Plan plan(const PlanRows& rows) const { return {labels_, rows, options_, context_.seed(), context_.threads()}; }

  void warn_of_order() {
    const bool mixed = options_.split == SplitKind::leave_one_out || options_.split == SplitKind::bootstrap ||
                       (can_keep_groups(*options_.split) && !planned_.groups);
    if (!mixed) return;
    if (const auto order = describe_order(dataset_); !order.empty())
      planned_.warnings.push_back(order +
                                  ", and the splits mix them: scores are those of predicting between known rows; to "
                                  "predict what comes later, split by time (split time)");
  }

  void note_time() {
    if (options_.split != SplitKind::time) return;
    const auto& name = dataset_.row_columns.time_name;
    planned_.notes.push_back(
        fmt::format("each split tests rows that are later than those it trains on, in the order of {}",
                    dataset_.row_columns.times.empty() ? "the dataset"
                    : name.empty()                     ? "the given times"
                                                       : fmt::format("'{}'", name)));
  }

  void note_given(const EqualRowSets& sets, const std::string& what) {
    if (!are_on_both_sides(planned_.plan, sets, context_.threads())) return;
    const auto* const splits = options_.splits ? "the given splits" : "the splits";
    planned_.notes.push_back(
        fmt::format("{}, and {} train on some of them and test others: their scores are too good if "
                    "such rows are copies",
                    what, splits));
  }

  PlannedRows keep_together(const EqualRowSets& sets, const std::string& what) {
    const bool automatic = options_.equal_rows == EqualRows::automatic;
    const auto groups =
        planned_.groups > 0 ? std::span<const std::int32_t>(dataset_.groups) : std::span<const std::int32_t>();
    const auto joined = join_groups(groups, sets);
    std::optional<Plan> kept;
    if (!automatic || stay_even(joined, groups, options_)) try {
        kept.emplace(plan({joined, dataset_.row_columns.times, true}));
      } catch (const Error&) {  // a class has too few different rows
        if (!automatic) throw;
      }
    if (!kept) {
      planned_.warnings.push_back(what +
                                  ", and splits that keep such rows together would be uneven or lack a class: models "
                                  "are tested on rows that they were trained on, and scores may be too good");
      return std::move(planned_);
    }
    planned_.notes.push_back(
        what +
        "; such rows are kept on one side of every split, so that no model is tested on a row that it was trained "
        "on (equal-rows apart splits them like other rows)");
    return {*std::move(kept), planned_.groups, std::move(planned_.notes), std::move(planned_.warnings)};
  }

  const Context& context_;
  const Dataset<T>& dataset_;
  const Labels& labels_;
  const SearchOptions& options_;
  PlannedRows planned_;
};

}  // namespace

template <class T>
PlannedRows plan_rows(const Context& context, const Dataset<T>& dataset, const Labels& labels,
                      const SearchOptions& options) {
  return RowPlanner<T>(context, dataset, labels, options).run();
}

template PlannedRows plan_rows(const Context&, const Dataset<float>&, const Labels&, const SearchOptions&);
template PlannedRows plan_rows(const Context&, const Dataset<double>&, const Labels&, const SearchOptions&);

}  // namespace sheaf::engine

#include "search/results/one_class.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sheaf::engine {

namespace {

/// The class that the chosen model predicts for all held-out rows; -1: there are several.
std::ptrdiff_t only_class(const SearchResult& result) {
  const auto classes = result.class_names.size();
  if (result.level.points.empty() || classes < 2 || result.options.threshold) return -1;
  std::vector<std::int64_t> predicted(classes, 0);
  for (std::int32_t s = 0; s < result.splits; ++s) {
    const auto place =
        result.level.chosen.chosen * static_cast<std::size_t>(result.splits) + static_cast<std::size_t>(s);
    const auto& confusion = result.level.models[place].confusion;
    for (std::size_t k = 0; k < confusion.size(); ++k) predicted[k % classes] += confusion[k];
  }
  const auto used = std::count_if(predicted.begin(), predicted.end(), [](auto rows) { return rows > 0; });
  return used == 1 ? std::max_element(predicted.begin(), predicted.end()) - predicted.begin() : -1;
}

bool looks_at_classes(Metric metric) {
  return metric != Metric::auc && metric != Metric::average_precision && !info(metric).probabilities;
}

}  // namespace

bool tries_threshold(std::int32_t splits, const SearchResult& result) {
  constexpr std::int32_t most_splits = 50;
  return result.class_names.size() == 2 && result.model && splits <= most_splits &&
         !looks_at_classes(*result.options.score) && only_class(result) >= 0;
}

void keep_useful_threshold(SearchResult& result) {
  constexpr double useful = 1.25;  // sensitivity + specificity; 1 is chance
  auto& found = *result.held_out;
  double right[2] = {0, 0};
  double rows[2] = {0, 0};
  for (std::size_t k = 0; k < found.by_threshold.size(); ++k) {
    const auto truth = static_cast<std::size_t>(found.truth[k]);
    ++rows[truth];
    right[truth] += found.by_threshold[k] == found.truth[k] ? 1 : 0;
  }
  const auto rule = to_string(*result.options.threshold);
  if (found.by_threshold.empty() || right[0] / rows[0] + right[1] / rows[1] < useful) {
    found.by_threshold.clear();
    result.options.threshold.reset();
    result.model->set_threshold(std::nullopt);
    return;
  }
  result.notes.push_back(
      fmt::format("by itself the chosen model predicts one class for every held-out row; the decision value from which "
                  "on it predicts {} is chosen on these rows (threshold {})",
                  result.class_names[static_cast<std::size_t>(result.positive)], rule));
}

std::string one_class_warning(const SearchResult& result) {
  const auto classes = result.class_names.size();
  const auto only = only_class(result);
  if (only < 0) return {};
  return fmt::format(
      "the chosen model predicts the class {} for every held-out row: {}",
      result.class_names[static_cast<std::size_t>(only)],
      classes == 2 ? "choose from which decision value on the other class is predicted (threshold youden), or let the "
                     "rare class count as much as the other (class-weight balanced)"
                   : "let rare classes count as much as others (class-weight balanced)");
}

}  // namespace sheaf::engine

#include "search/results/one_class.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sheaf::engine {

std::string one_class_warning(const SearchResult& result) {
  const auto classes = result.class_names.size();
  if (result.level.points.empty() || classes < 2 || result.options.threshold) return {};
  std::vector<std::int64_t> predicted(classes, 0);
  for (std::int32_t s = 0; s < result.splits; ++s) {
    const auto place =
        result.level.chosen.chosen * static_cast<std::size_t>(result.splits) + static_cast<std::size_t>(s);
    const auto& confusion = result.level.models[place].confusion;
    for (std::size_t k = 0; k < confusion.size(); ++k) predicted[k % classes] += confusion[k];
  }
  const auto used = std::count_if(predicted.begin(), predicted.end(), [](auto rows) { return rows > 0; });
  if (used != 1) return {};
  const auto only = std::max_element(predicted.begin(), predicted.end()) - predicted.begin();
  return fmt::format(
      "the chosen model predicts the class {} for every held-out row: {}",
      result.class_names[static_cast<std::size_t>(only)],
      classes == 2 ? "choose from which decision value on the other class is predicted (threshold youden), or let the "
                     "rare class count as much as the other (class-weight balanced)"
                   : "let rare classes count as much as others (class-weight balanced)");
}

}  // namespace sheaf::engine

#include "linear/dual/multiclass.hpp"

namespace sheaf::linear::dual {

std::vector<std::int32_t> classes_of(const Sheaf& sheaf) {
  std::vector<std::int32_t> classes(static_cast<std::size_t>(sheaf.examples), -1);
  for (std::size_t i = 0; i < classes.size(); ++i)
    for (std::int32_t c = 0; c < sheaf.target_columns && classes[i] < 0; ++c)
      if (sheaf.targets[i * static_cast<std::size_t>(sheaf.target_columns) + static_cast<std::size_t>(c)] > 0)
        classes[i] = c;
  return classes;
}

template <class T>
std::vector<T> multiclass_costs(const Sheaf& sheaf, std::span<const std::int32_t> classes,
                                const MultiClassLayout& layout, std::span<const Task> tasks, std::span<Start> starts) {
  const auto models = static_cast<std::size_t>(layout.models);
  std::vector<T> costs(classes.size() * models, T(0));
  const std::size_t count = tasks.size() / static_cast<std::size_t>(layout.classes);
  for (std::size_t i = 0; i < classes.size(); ++i)
    for (std::size_t m = 0; m < count && classes[i] >= 0; ++m) {
      const Task& task = tasks[m * static_cast<std::size_t>(layout.classes) + static_cast<std::size_t>(classes[i])];
      const auto at = i * static_cast<std::size_t>(sheaf.weight_columns) + static_cast<std::size_t>(task.rows);
      const double weight = sheaf.row_weights.empty() ? 1.0 : static_cast<double>(sheaf.row_weights[at]);
      costs[i * models + m] = static_cast<T>(weight * task.cost_positive);
      if (costs[i * models + m] == 0) continue;
      starts[m].rows += 1;
      starts[m].losses += layout.classes > 1 ? weight * task.cost_positive : 0;
    }
  return costs;
}

template std::vector<float> multiclass_costs(const Sheaf&, std::span<const std::int32_t>, const MultiClassLayout&,
                                             std::span<const Task>, std::span<Start>);
template std::vector<double> multiclass_costs(const Sheaf&, std::span<const std::int32_t>, const MultiClassLayout&,
                                              std::span<const Task>, std::span<Start>);

}  // namespace sheaf::linear::dual

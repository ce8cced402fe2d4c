#include "model/class_values.hpp"

#include <sheaf/svm.hpp>

#include "kernel/model/plan.hpp"

namespace sheaf {
namespace {

/// Whether decision values are those of pairs of three classes or more.
bool decides_by_pairs(const Model& model) {
  const auto* svm = model.get_if<SvmModel>();
  return svm != nullptr && svm->class_names.size() > 2 && svm->multi_class == MultiClass::one_vs_one;
}

}  // namespace

std::vector<double> class_values(const Model& model, const Predictions& predictions) {
  const auto classes = model.class_names().size();
  const auto columns = static_cast<std::size_t>(predictions.columns);
  std::vector<double> result;
  if (classes == 2 && columns == 2) {
    for (std::size_t i = 0; i + 1 < predictions.decisions.size(); i += 2)
      result.push_back(predictions.decisions[i] - predictions.decisions[i + 1]);
    return result;
  }
  if (!decides_by_pairs(model)) return predictions.decisions;
  const auto& svm = *model.get_if<SvmModel>();
  const auto sides = kernel::sides_of(svm.kind, classes, svm.multi_class);
  for (std::size_t i = 0; i < static_cast<std::size_t>(predictions.rows); ++i) {
    const auto row = std::span(predictions.decisions).subspan(i * columns, columns);
    const auto values = kernel::class_values(row, sides, classes, {});
    result.insert(result.end(), values.begin(), values.end());
  }
  return result;
}

}  // namespace sheaf

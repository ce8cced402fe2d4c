// The steps before a model that follow from the data and the model.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <sheaf/pipeline.hpp>

#include "data/nominal.hpp"
#include "family/family.hpp"
#include "pipeline/learn.hpp"

namespace sheaf {
namespace {

template <class T>
bool has_gaps(const Dataset<T>& dataset) {
  return std::visit(
      [](const auto& x) {
        return std::any_of(x.values.begin(), x.values.end(), [](T value) { return std::isnan(value); });
      },
      dataset.x);
}

}  // namespace

PipelineOptions default_pipeline() { return {.choose_impute = true, .choose_scale = true}; }

/// Scaling would make numbers of the zeros of counts and the like.
template <class T>
bool has_scales(const Dataset<T>& dataset) {
  const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x);
  if (dense == nullptr) return false;
  std::vector<std::int64_t> numeric;  // the level of a text is no number
  for (std::int64_t j = 0; j < dense->columns; ++j)
    if (!is_nominal(dataset, j)) numeric.push_back(j);
  std::int64_t zeros = 0;
  for (std::int64_t i = 0; i < dense->rows; ++i)
    for (const auto j : numeric) zeros += dense->values[i * dense->columns + j] == T{0} ? 1 : 0;
  return 2 * zeros < dense->rows * std::ssize(numeric);
}

template <class T>
void decide_steps(const Dataset<T>& dataset, const ModelOptions& model, PipelineOptions& options) {
  if (options.choose_impute && has_gaps(dataset)) options.impute = Imputation::median;
  if (options.choose_scale && model.family().wants_scaling(model) && has_scales(dataset))
    options.scale = ScaleMethod::standard;
}

template <class T>
std::vector<Finding> pipeline::scale_warnings(const Context& context, const Dataset<T>& dataset,
                                              const ModelOptions& model, const PipelineOptions& steps) {
  std::vector<Finding> found;
  if (steps.scale || !steps.transforms.empty()) return found;
  for (auto& text : model.family().warnings_before(context, dataset, model))
    found.push_back({Finding::Level::warning, "unscaled", std::move(text)});
  return found;
}

template <class T>
std::vector<Finding> training_findings(const Context& context, const Dataset<T>& dataset, const ModelOptions& model,
                                       const PipelineOptions& steps) {
  auto found = pipeline::scale_warnings(context, dataset, model, steps);
  for (auto& finding : data_findings(context, dataset)) found.push_back(std::move(finding));
  return found;
}

std::string describe_steps(const PipelineOptions& options) {
  std::vector<std::string> steps;
  if (options.impute != Imputation::none)
    steps.push_back(options.impute == Imputation::constant
                        ? fmt::format("missing values filled with {}", options.fill)
                        : fmt::format("missing values filled ({})", to_string(options.impute)));
  for (const auto& one : options.transforms)
    steps.push_back(one.features.empty()
                        ? fmt::format("rows transformed ({})", to_string(one.transform))
                        : fmt::format("{} transformed ({})", fmt::join(one.features, ", "), to_string(one.transform)));
  if (options.min_prevalence > 0 || options.min_variance > 0) steps.emplace_back("rare or constant features left out");
  if (options.scale) steps.push_back(fmt::format("features scaled ({})", to_string(*options.scale)));
  if (!options.select.empty())
    steps.push_back(fmt::format("features selected ({}:{})", options.select, fmt::join(options.counts, ",")));
  return fmt::format("{}", fmt::join(steps, ", "));
}

template std::vector<Finding> pipeline::scale_warnings(const Context&, const Dataset<float>&, const ModelOptions&,
                                                       const PipelineOptions&);
template std::vector<Finding> pipeline::scale_warnings(const Context&, const Dataset<double>&, const ModelOptions&,
                                                       const PipelineOptions&);
template std::vector<Finding> training_findings(const Context&, const Dataset<float>&, const ModelOptions&,
                                                const PipelineOptions&);
template std::vector<Finding> training_findings(const Context&, const Dataset<double>&, const ModelOptions&,
                                                const PipelineOptions&);
template bool has_scales(const Dataset<float>&);
template bool has_scales(const Dataset<double>&);
template void decide_steps(const Dataset<float>&, const ModelOptions&, PipelineOptions&);
template void decide_steps(const Dataset<double>&, const ModelOptions&, PipelineOptions&);

}  // namespace sheaf

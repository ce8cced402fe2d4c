// Contributions of each feature to the decision values of a model.
#include <algorithm>
#include <cmath>

#include <sheaf/model.hpp>
#include <sheaf/solvers/stack.hpp>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "model/explain_linear.hpp"
#include "model/explain_rows.hpp"
#include "model/reference_row.hpp"
#include "pipeline/origins.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t rows_at_once = 4096;  // that the pipeline copies

template <class T>
double stored_value(const Matrix<T>& x, std::int64_t row, std::int64_t feature) {
  return std::visit(
      [&](const auto& m) -> double {
        double found = 0;
        if constexpr (requires { m.offsets; }) {
          const auto* begin = m.indices.data() + m.offsets[row];
          const auto* end = m.indices.data() + m.offsets[row + 1];
          const auto* at = std::find(begin, end, feature);
          if (at != end) found = static_cast<double>(m.values[at - m.indices.data()]);
        } else {
          found = static_cast<double>(m.values[row * m.columns + feature]);
        }
        return found;
      },
      x);
}

template <class T>
void add_values(const Matrix<T>& x, std::int64_t row, Explanation& explanation) {
  for (auto& one : explanation.largest) one.value = stored_value(x, row, one.feature);
}

/// Calls work(first row, rows of the dataset, the same after the pipeline).
template <class T, class Work>
void for_parts(const Context& context, const Pipeline& pipeline, const Dataset<T>& aligned, const Work& work) {
  for (std::int64_t first = 0; first < aligned.rows(); first += rows_at_once) {
    std::vector<std::int32_t> rows;
    for (auto i = first; i < std::min(first + rows_at_once, aligned.rows()); ++i)
      rows.push_back(static_cast<std::int32_t>(i));
    const auto some = take_rows(aligned, rows, context.threads());
    work(first, some, apply_pipeline(context, pipeline, some));
  }
}

/// The place of the decision value that is explained.
std::int32_t explained_column(const TrainedModel& model, const Predictions& predictions, std::int64_t row) {
  if (model.class_names().empty() || predictions.columns == 1) return 0;
  return predictions.classes[static_cast<std::size_t>(row)];
}

/// The pipeline with the properties of the training rows; for a stack, that of its first member.
const Pipeline& training_pipeline(const Model& model) {
  const auto* stack = model.get_if<StackModel>();
  return stack != nullptr && !stack->members.empty() ? stack->members.front().model.pipeline() : model.pipeline();
}

}  // namespace

bool Model::keeps_means() const { return !training_pipeline(*this).means.empty(); }

std::string Model::decision_name(std::int32_t column) const {
  const auto targets = target_names();
  const auto& names = targets.empty() ? class_names() : targets;
  return names.empty() ? std::string() : names[static_cast<std::size_t>(column)];
}

template <class T>
std::vector<Explanation> Model::explain(const Context& context, const Dataset<T>& dataset,
                                        const ExplainOptions& options) const {
  if (trained_->has_precomputed_columns())
    fail_usage("an SVM of a precomputed kernel knows no features, so that there are none to explain it by");
  if (options.orders < 1)
    fail_usage("explanations take the mean over 1 order of the features or more, not {}", options.orders);
  std::vector<std::string> warnings;
  const auto aligned = align_features(context, inputs(), dataset, warnings);
  const auto* stack = get_if<StackModel>();
  auto reference = stack != nullptr ? reference_columns(training_pipeline(*this), features())
                                    : reference_row(context, pipeline_, aligned, features());
  auto origins = pipeline::origins(pipeline_, features());
  std::vector<Explanation> result;
  if (auto weights = trained_->coefficients()) {
    const LinearExplainer explainer(std::move(*weights), trained_->traits().softmax, target_names().size(),
                                    std::move(reference), std::move(origins), options.most);
    const auto each = explainer.each();
    result.resize(static_cast<std::size_t>(dataset.rows() * each));
    for_parts(context, pipeline_, aligned, [&](std::int64_t first, const auto& some, const auto& prepared) {
      parallel_ranges(context, some.rows(), 16, [&](Range range) {
        for (auto k = range.begin * each; k < range.end * each; ++k) {
          auto& one = result[static_cast<std::size_t>(first * each + k)];
          one = explainer.explain(prepared.x, k / each, k % each);
          add_values(some.x, k / each, one);
        }
      });
    });
    return result;
  }
  Stage stage(context.progress(), "explaining", dataset.rows(), context.stop());
  const auto quiet = context.with({.progress = &silent_progress()});
  for_parts(quiet, pipeline_, aligned, [&](std::int64_t /*first*/, const auto& some, const auto& prepared) {
    const auto chosen = quiet.for_work(prediction_work(prepared, *this));
    const RowExplainer<T> explainer(chosen, *trained_, reference, origins, aligned.features(), options);
    const auto predictions = trained_->predict(chosen, prepared, false, {});
    for (std::int64_t i = 0; i < some.rows(); ++i) {
      result.push_back(explainer.explain(prepared, some, i, explained_column(*trained_, predictions, i)));
      add_values(some.x, i, result.back());
      stage.advance(1);
    }
  });
  return result;
}

template std::vector<Explanation> Model::explain(const Context&, const Dataset<float>&, const ExplainOptions&) const;
template std::vector<Explanation> Model::explain(const Context&, const Dataset<double>&, const ExplainOptions&) const;

}  // namespace sheaf

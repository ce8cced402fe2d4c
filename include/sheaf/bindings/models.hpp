// Training, trained models, their predictions, and what can be set.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/bindings/datasets.hpp>
#include <sheaf/sheaf.hpp>

namespace sheaf::bindings {

inline Model fit(const Context& context, const AnyDataset& dataset, const ModelOptions& options,
                 const std::vector<float>& row_weights, const PipelineOptions& steps = {}) {
  return std::visit([&](const auto& one) { return sheaf::fit(context, one, options, row_weights, steps); }, dataset);
}

/// `decisions`, `classes`, `warnings` and, if requested, `probabilities`.
inline List predict(const Context& context, const Model& model, const AnyDataset& dataset, bool probabilities) {
  auto found = std::visit([&](const auto& one) { return model.predict(context, one, probabilities); }, dataset);
  List answer;
  answer.add("decisions", Matrix{std::move(found.decisions), found.rows, found.columns});
  answer.add("classes", Places(found.classes)).add("warnings", std::move(found.warnings));
  if (!probabilities) return answer;
  const auto columns = found.rows > 0 ? std::ssize(found.probabilities) / found.rows : 0;
  return answer.add("probabilities", Matrix{std::move(found.probabilities), found.rows, columns});
}

/// How many iterations each decision value took; all of a generalised linear model together.
inline std::vector<std::int32_t> iterations_of(const Model& model) {
  std::vector<std::int32_t> result;
  if (const auto* linear = model.get_if<LinearModel>()) {
    for (const auto& fit : linear->fits) result.push_back(fit.iterations);
    if (linear->net)
      for (const auto& fit : linear->net->fits) result.push_back(fit.epochs);
    if (linear->glm) result.push_back(linear->glm->fit.iterations);
  }
  if (const auto* svm = model.get_if<SvmModel>())
    for (const auto& fit : svm->fits) result.push_back(static_cast<std::int32_t>(fit.iterations));
  return result;
}

/// How far the objective of each decision value of an elastic net may be above the least.
inline std::vector<double> gaps_of(const Model& model) {
  const auto* linear = model.get_if<LinearModel>();
  if (linear == nullptr || !linear->net) return {};
  return column_of(linear->net->fits, [](const auto& fit) { return fit.gap; });
}

/// `weights` (features x decision values), `intercepts` and the `names` of the features; none: the model has no such.
inline Value coefficients_of(const Model& model) {
  auto found = model.coefficients();
  if (!found) return {};
  const auto rows = std::ssize(found->feature_names), columns = std::ssize(found->intercepts);
  return List()
      .add("weights", Matrix{std::move(found->values), rows, columns})
      .add("intercepts", std::move(found->intercepts))
      .add("names", std::move(found->feature_names));
}

/// An elastic net as its coefficients say.
struct NetCoefficients {
  Loss loss = Loss::squared;
  std::vector<double> weights;     ///< features x decision values
  std::vector<double> intercepts;  ///< one a decision value; none of Cox models
  std::vector<std::string> names;  ///< of the features
  std::vector<std::string> class_names = {}, target_names = {};
  NetTraining training = {};  ///< without fits
};
/// The model that files hold.
inline Model model_of(NetCoefficients net) {
  LinearModel model;
  model.solver = net_solver(net.loss, !net.class_names.empty()).name;
  model.features = std::ssize(net.names);
  model.columns = static_cast<std::int32_t>(std::ssize(net.weights) / model.features);
  model.bias = net.intercepts.empty() ? 0 : 1;
  model.penalise_bias = false;
  model.weights = std::move(net.weights);
  model.weights.insert(model.weights.end(), net.intercepts.begin(), net.intercepts.end());
  model.class_names = std::move(net.class_names);
  model.target_names = std::move(net.target_names);
  model.feature_names = std::move(net.names);
  net.training.fits.resize(static_cast<std::size_t>(model.columns));
  for (std::int32_t c = 0; c < model.columns; ++c) {
    auto& fit = net.training.fits[static_cast<std::size_t>(c)];
    fit.converged = true;
    for (std::int64_t j = 0; j < model.features; ++j) fit.nonzeros += model.weight(j, c) != 0 ? 1 : 0;
  }
  model.net = std::move(net.training);
  return model;
}

/// The source of standard errors and tests of a generalised linear model; none: the model is no such.
inline Value glm_of(const Model& model) {
  const auto* linear = model.get_if<LinearModel>();
  if (linear == nullptr || !linear->glm) return {};
  const auto& glm = *linear->glm;
  const auto& statistics = glm.statistics;
  const auto& survival = statistics.survival;
  List list;
  list.add("family", to_string(glm.family)).add("link", to_string(glm.link)).add("parameter", glm.parameter);
  list.add("parameter_error", glm.parameter_error);
  list.add("solver", to_string(glm.solver)).add("iterations", static_cast<std::int32_t>(glm.fit.iterations));
  list.add("converged", glm.fit.converged).add("separated", glm.separated);
  list.add("deviance", statistics.deviance).add("null_deviance", statistics.null_deviance);
  list.add("log_likelihood", statistics.log_likelihood).add("dispersion", statistics.dispersion);
  list.add("parameters", statistics.parameters).add("events", survival.events).add("wald", survival.wald);
  list.add("score", survival.score).add("concordance", survival.concordance);
  if (!statistics.errors.empty()) {
    const auto columns = linear->columns > 1 ? linear->columns - 1 : 1;
    const auto count = std::ssize(statistics.errors);
    list.add("errors", Matrix{statistics.errors, linear->rows(), columns});
    if (!statistics.covariance.empty())  // files have none
      list.add("covariance", Matrix{statistics.covariance, count, count});
  }
  if (withholds_errors(*linear)) list.add("withheld", no_errors_reason(*linear));
  return list;
}

/// Dense values as a matrix; compressed rows as `values`, `indices` and `offsets`.
inline Value matrix_of(const sheaf::Matrix<double>& x) {
  if (const auto* dense = std::get_if<DenseMatrix<double>>(&x))
    return Matrix{{dense->values.begin(), dense->values.end()}, dense->rows, dense->columns};
  const auto& sparse = std::get<SparseMatrix<double>>(x);
  return List()
      .add("values", std::vector<double>(sparse.values.begin(), sparse.values.end()))
      .add("indices", std::vector<std::int32_t>(sparse.indices.begin(), sparse.indices.end()))
      .add("offsets", std::vector<std::int64_t>(sparse.offsets.begin(), sparse.offsets.end()));
}

/// The support vectors of an SVM, their rows and classes; the coefficients that its binary SVMs give them (`vector`,
/// `svm`, `value`) and what each has to subtract (`rho`); the kernel's gamma and the sigmoids' a and b. None: the model
/// is no SVM.
inline Value svm_of(const Model& model) {
  const auto* svm = model.get_if<SvmModel>();
  if (svm == nullptr) return {};
  std::vector<std::int64_t> vectors, svms;
  std::vector<double> values;
  for (std::size_t m = 0; m < svm->svms.size(); ++m) {
    const auto& one = svm->svms[m];
    vectors.insert(vectors.end(), one.rows.begin(), one.rows.end());
    svms.insert(svms.end(), one.rows.size(), static_cast<std::int64_t>(m));
    values.insert(values.end(), one.coefficients.begin(), one.coefficients.end());
  }
  return List()
      .add("vectors", svm->serials.empty() ? matrix_of(svm->support) : Value())
      .add("rows", Places(svm->support_rows))
      .add("classes", Places(svm->support_classes))
      .add("vector", Places(vectors))
      .add("svm", Places(svms))
      .add("value", std::move(values))
      .add("rho", column_of(svm->svms, [](const auto& one) { return double(one.rho); }))
      .add("gamma", svm->kernel.gamma)
      .add("sigmoid_a", svm->sigmoid_a)
      .add("sigmoid_b", svm->sigmoid_b);
}

/// The parameters that can be set.
template <class Options>
Value parameters_table(const std::vector<Parameter<Options>>& rows) {
  using Row = Parameter<Options>;
  return Table(rows)
      .column("name", &Row::name)
      .column("help", &Row::help)
      .column("default", &Row::default_text)
      .column("choices", [](const Row& row) {
        std::string known;
        for (const auto& choice : row.choices) known += (known.empty() ? "" : ", ") + choice;
        return known;
      });
}
/// The parameters of a kind of model, or of `read`, `search`, `pipeline`, `select`, `binning`, `neighbors`, `distance`
/// and `percolator`.
inline Value parameters_table(const std::string& kind) {
  if (kind == "read") return parameters_table(parameters<ReadOptions>());
  if (kind == "search") return parameters_table(parameters<SearchOptions>());
  if (kind == "pipeline") return parameters_table(parameters<PipelineOptions>());
  if (kind == "select") return parameters_table(parameters<SelectionOptions>());
  if (kind == "binning") return parameters_table(parameters<BinningOptions>());
  if (kind == "neighbors") return parameters_table(parameters<NeighborOptions>());
  if (kind == "distance") return parameters_table(parameters<DistanceOptions>());
  if (kind == "percolator") return parameters_table(parameters<RescoreOptions>());
  return parameters_table(parameters_of(find_model_kind(kind).options));
}

inline Value kinds_table() {
  return Table(model_kinds())
      .column("name", [](const auto& kind) { return kind.name; })
      .column("family", [](const auto& kind) { return kind.family; })
      .column("about", [](const auto& kind) { return kind.about; });
}

}  // namespace sheaf::bindings

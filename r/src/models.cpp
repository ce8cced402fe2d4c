// Training, prediction, and what R can read of trained models.
#include "core.hpp"

namespace sheaf::r {
namespace {

using Rcpp::_;
using Rcpp::List;

/// A table that says what can be set.
template <class Options>
Rcpp::DataFrame table_of(const std::vector<Parameter<Options>>& rows) {
  std::vector<std::string> names, help, defaults, choices;
  for (const auto& row : rows) {
    names.push_back(row.name);
    help.push_back(row.help);
    defaults.push_back(row.default_text);
    std::string known;
    for (const auto& choice : row.choices) known += (known.empty() ? "" : ", ") + choice;
    choices.push_back(known);
  }
  return Rcpp::DataFrame::create(_["name"] = names, _["help"] = help, _["default"] = defaults, _["choices"] = choices,
                                 _["stringsAsFactors"] = false);
}

List glm_list(const LinearModel& model) {
  const auto& glm = *model.glm;
  const auto& statistics = glm.statistics;
  const auto columns = model.columns > 1 ? model.columns - 1 : 1;
  Rcpp::RObject errors, covariance;
  if (!statistics.errors.empty()) {
    const auto count = std::ssize(statistics.errors);
    errors = matrix_of(statistics.errors, model.rows(), columns);
    covariance = matrix_of(statistics.covariance, count, count);
  }
  const auto& survival = statistics.survival;
  List answer = List::create(
      _["family"] = std::string(to_string(glm.family)), _["link"] = std::string(to_string(glm.link)),
      _["parameter"] = glm.parameter, _["solver"] = std::string(to_string(glm.solver)),
      _["iterations"] = glm.fit.iterations, _["converged"] = glm.fit.converged, _["objective"] = glm.fit.objective,
      _["rows"] = statistics.rows, _["log_likelihood"] = statistics.log_likelihood, _["deviance"] = statistics.deviance,
      _["null_deviance"] = statistics.null_deviance, _["dispersion"] = statistics.dispersion,
      _["parameters"] = statistics.parameters, _["errors"] = errors, _["covariance"] = covariance,
      _["separated"] = glm.separated, _["events"] = survival.events, _["wald"] = survival.wald,
      _["score"] = survival.score, _["concordance"] = survival.concordance);
  if (withholds_errors(model)) answer["withheld"] = no_errors_reason(model);
  return answer;
}

Rcpp::RObject support_vectors(const SvmModel& svm) {
  if (!svm.serials.empty()) return R_NilValue;
  const auto& x = svm.support;
  const auto* sparse = std::get_if<SparseMatrix<double>>(&x);
  const auto dense = sparse != nullptr ? to_dense(*sparse, 1) : DenseMatrix<double>{};
  const auto& table = sparse != nullptr ? dense : std::get<DenseMatrix<double>>(x);
  return matrix_of({table.values.begin(), table.values.end()}, table.rows, table.columns);
}

/// Support vectors and, by SVM, all of their coefficients (0: not one of its own) and rho.
List svm_list(const SvmModel& svm) {
  const auto count = svm.support_vectors();
  Rcpp::NumericMatrix coefficients(static_cast<int>(count), static_cast<int>(svm.svms.size()));
  Rcpp::NumericVector rho;
  for (std::size_t m = 0; m < svm.svms.size(); ++m) {
    const auto& one = svm.svms[m];
    for (std::size_t k = 0; k < one.rows.size(); ++k)
      coefficients(one.rows[k], static_cast<int>(m)) = one.coefficients[k];
    rho.push_back(one.rho);
  }
  return List::create(_["vectors"] = support_vectors(svm), _["rows"] = from_one(svm.support_rows),
                      _["classes"] = from_one(svm.support_classes), _["coefficients"] = coefficients, _["rho"] = rho,
                      _["gamma"] = svm.kernel.gamma, _["sigmoid_a"] = svm.sigmoid_a, _["sigmoid_b"] = svm.sigmoid_b);
}

/// Predictions of all columns, the number of each row's class (from 1) and probabilities, those that there are.
List predictions_list(const Predictions& result, const Model& model, bool probabilities) {
  List answer = List::create(_["decisions"] = matrix_of(result.decisions, result.rows, result.columns),
                             _["classes"] = from_one(result.classes), _["warnings"] = result.warnings,
                             _["levels"] = model.class_names());
  if (!probabilities) return answer;
  const auto columns = result.rows > 0 ? std::ssize(result.probabilities) / result.rows : 0;
  answer["probabilities"] = matrix_of(result.probabilities, result.rows, columns);
  return answer;
}

}  // namespace

ModelOptions model_options(const std::string& kind, const Rcpp::CharacterMatrix& settings) {
  auto options = find_model_kind(kind).options;
  auto rows = settings_of(settings);
  // LIBLINEAR's L1 penalty is one of its numbered types and not in the parameter table.
  const auto is_l1 = [](const Setting& setting) { return setting.option == "penalty" && setting.text == "l1"; };
  if (auto* linear = options.get_if<LinearOptions>(); linear != nullptr && std::erase_if(rows, is_l1) > 0)
    linear->penalty = LinearPenalty::l1;
  for (const auto& row : rows) name_argument(row, [&] { set_parameter(options, row.option, row.text); });
  return options;
}

List describe_model(const Rcpp::XPtr<Model>& pointer, bool with_text) {
  const Model& model = *pointer;
  List result = List::create(_["family"] = std::string(model.family()), _["levels"] = model.class_names(),
                             _["features"] = static_cast<double>(model.features()), _["warnings"] = model.warnings());
  if (const auto found = model.coefficients()) {
    result["weights"] = matrix_of(found->values, std::ssize(found->feature_names), std::ssize(found->intercepts));
    result["intercepts"] = found->intercepts;
    result["weight_names"] = found->feature_names;
  }
  if (const auto* linear = model.get_if<LinearModel>()) {
    if (linear->glm) result["glm"] = glm_list(*linear);
    std::vector<int> iterations;
    for (const auto& fit : linear->fits) iterations.push_back(fit.iterations);
    result["iterations"] = iterations;
  }
  if (const auto* svm = model.get_if<SvmModel>()) result["svm"] = svm_list(*svm);
  if (with_text) result["text"] = model.text();
  result["pointer"] = pointer;
  return result;
}

}  // namespace sheaf::r

using namespace sheaf::r;

// [[Rcpp::export(rng = false)]]
Rcpp::List core_fit(const Rcpp::List& control, SEXP x, const Rcpp::List& about, const std::string& kind,
                    const Rcpp::CharacterMatrix& settings, const Rcpp::CharacterMatrix& pipeline,
                    const Rcpp::RObject& weights, const Rcpp::List& vectors, bool with_text) {
  const auto surroundings = surroundings_of(control);
  const auto rows = rows_of(x, about);
  auto options = model_options(kind, settings);
  if (vectors.size() > 0) {
    const Rcpp::CharacterVector names = vectors.names();
    for (int i = 0; i < vectors.size(); ++i)
      sheaf::set_parameter(options, Rcpp::as<std::string>(names[i]), Rcpp::as<std::vector<double>>(vectors[i]));
  }
  sheaf::PipelineOptions steps;
  set_options(steps, settings_of(pipeline));
  const auto count = std::visit([](const auto& input) { return input.rows; }, rows.input);
  const auto row_weights = row_weights_of(weights, count);
  sheaf::Model model;
  run(surroundings, [&](const sheaf::Context& context) {
    const auto dataset = make(surroundings, context, rows);
    std::visit([&](const auto& one) { model = sheaf::fit(context, one, options, row_weights, steps); }, dataset);
  });
  return describe_model(Rcpp::XPtr<sheaf::Model>(new sheaf::Model(std::move(model))), with_text);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_one_class(const Rcpp::List& control, SEXP x, const Rcpp::List& about, double nu, double tolerance,
                          const Rcpp::RObject& weights) {
  const auto surroundings = surroundings_of(control);
  const auto rows = rows_of(x, about);
  const auto count = std::visit([](const auto& input) { return input.rows; }, rows.input);
  const auto row_weights = row_weights_of(weights, count);
  sheaf::OneClassOptions options;
  options.nu = nu;
  if (tolerance > 0) options.tolerance = tolerance;
  sheaf::Model model;
  run(surroundings, [&](const sheaf::Context& context) {
    const auto dataset = make(surroundings, context, rows);
    std::visit([&](const auto& one) { model = sheaf::train_one_class(context, one, options, row_weights); }, dataset);
  });
  return describe_model(Rcpp::XPtr<sheaf::Model>(new sheaf::Model(std::move(model))), true);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_parse(const std::string& text) {
  return describe_model(Rcpp::XPtr<sheaf::Model>(new sheaf::Model(sheaf::Model::parse(text, "a saved model"))), false);
}

// [[Rcpp::export(rng = false)]]
std::string core_model_text(SEXP pointer, const std::string& format) {
  const Rcpp::XPtr<sheaf::Model> model(pointer);
  return model->text(format == "liblinear" ? sheaf::ModelFile::liblinear
                     : format == "libsvm"  ? sheaf::ModelFile::libsvm
                                           : sheaf::ModelFile::sheaf);
}

// [[Rcpp::export(rng = false)]]
bool core_is_alive(SEXP pointer) { return R_ExternalPtrAddr(pointer) != nullptr; }

// [[Rcpp::export(rng = false)]]
Rcpp::List core_predict(const Rcpp::List& control, SEXP pointer, SEXP x, const Rcpp::List& about, bool probabilities) {
  const auto surroundings = surroundings_of(control);
  const Rcpp::XPtr<sheaf::Model> model(pointer);
  const sheaf::Model& known = *model;
  const auto rows = rows_of(x, about);
  sheaf::Predictions result;
  run(surroundings, [&](const sheaf::Context& context) {
    const auto dataset = make(surroundings, context, rows);
    std::visit([&](const auto& one) { result = known.predict(context, one, probabilities); }, dataset);
  });
  return predictions_list(result, known, probabilities);
}

// [[Rcpp::export(rng = false)]]
Rcpp::DataFrame core_parameters(const std::string& kind) {
  if (kind == "search") return table_of(sheaf::parameters<sheaf::SearchOptions>());
  if (kind == "pipeline") return table_of(sheaf::parameters<sheaf::PipelineOptions>());
  if (kind == "select") return table_of(sheaf::parameters<sheaf::SelectionOptions>());
  if (kind == "binning") return table_of(sheaf::parameters<sheaf::BinningOptions>());
  if (kind == "neighbors") return table_of(sheaf::parameters<sheaf::NeighborOptions>());
  if (kind == "distance") return table_of(sheaf::parameters<sheaf::DistanceOptions>());
  if (kind == "percolator") return table_of(sheaf::parameters<sheaf::RescoreOptions>());
  return table_of(sheaf::parameters_of(sheaf::find_model_kind(kind).options));
}

// [[Rcpp::export(rng = false)]]
Rcpp::DataFrame core_kinds() {
  std::vector<std::string> names, families, about;
  for (const auto& kind : sheaf::model_kinds()) {
    names.emplace_back(kind.name);
    families.emplace_back(kind.family);
    about.emplace_back(kind.about);
  }
  using Rcpp::_;
  return Rcpp::DataFrame::create(_["name"] = names, _["family"] = families, _["about"] = about,
                                 _["stringsAsFactors"] = false);
}

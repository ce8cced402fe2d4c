// Training, prediction, and what R can read of trained models.
#include <sheaf/bindings/models.hpp>

#include "core.hpp"

namespace sheaf::r {

ModelOptions model_options(const std::string& kind, const Rcpp::CharacterMatrix& settings) {
  auto options = find_model_kind(kind).options;
  auto rows = settings_of(settings);
  // LIBLINEAR's L1 penalty is one of its numbered types and not in the parameter table.
  const auto is_l1 = [](const bindings::Setting& setting) {
    return setting.option == "penalty" && setting.text == "l1";
  };
  if (auto* linear = options.get_if<LinearOptions>(); linear != nullptr && std::erase_if(rows, is_l1) > 0)
    linear->penalty = LinearPenalty::l1;
  set_options(options, rows);
  return options;
}

std::string text_of(const Model& model, const std::string& format) {
  return model.text(format == "liblinear" ? ModelFile::liblinear
                    : format == "libsvm"  ? ModelFile::libsvm
                                          : ModelFile::sheaf);
}

Rcpp::List describe_model(const Rcpp::XPtr<Model>& pointer, bool with_text) {
  const Model& model = *pointer;
  bindings::List list;
  list.add("family", std::string(model.family())).add("levels", model.class_names());
  list.add("features", static_cast<std::int64_t>(model.features())).add("warnings", model.warnings());
  list.add("regression", model.is_regression()).add("targets", model.target_names());
  list.add("coefficients", bindings::coefficients_of(model)).add("glm", bindings::glm_of(model));
  list.add("iterations", bindings::iterations_of(model)).add("svm", bindings::svm_of(model));
  if (with_text) list.add("text", model.text());
  auto result = to_r(list);
  result["pointer"] = pointer;
  return result;
}

}  // namespace sheaf::r

using namespace sheaf::r;
namespace bindings = sheaf::bindings;

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
  const auto row_weights = row_weights_of(weights, rows.count());
  sheaf::Model model;
  run_on(surroundings, rows, [&](const sheaf::Context& context, const bindings::AnyDataset& dataset) {
    model = bindings::fit(context, dataset, options, row_weights, steps);
  });
  return describe_model(Rcpp::XPtr<sheaf::Model>(new sheaf::Model(std::move(model))), with_text);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_one_class(const Rcpp::List& control, SEXP x, const Rcpp::List& about, double nu, double tolerance,
                          const Rcpp::RObject& weights) {
  const auto surroundings = surroundings_of(control);
  const auto rows = rows_of(x, about);
  const auto row_weights = row_weights_of(weights, rows.count());
  sheaf::OneClassOptions options;
  options.nu = nu;
  if (tolerance > 0) options.tolerance = tolerance;
  sheaf::Model model;
  run_on(surroundings, rows, [&](const sheaf::Context& context, const bindings::AnyDataset& dataset) {
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
  return text_of(*model, format);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_load(const std::string& file) {
  return describe_model(Rcpp::XPtr<sheaf::Model>(new sheaf::Model(sheaf::Model::load(file))), true);
}

// [[Rcpp::export(rng = false)]]
bool core_is_alive(SEXP pointer) { return R_ExternalPtrAddr(pointer) != nullptr; }

// [[Rcpp::export(rng = false)]]
Rcpp::List core_predict(const Rcpp::List& control, SEXP pointer, SEXP x, const Rcpp::List& about, bool probabilities) {
  const auto surroundings = surroundings_of(control);
  const Rcpp::XPtr<sheaf::Model> model(pointer);
  const sheaf::Model& known = *model;
  const auto rows = rows_of(x, about);
  bindings::List result;
  run_on(surroundings, rows, [&](const sheaf::Context& context, const bindings::AnyDataset& dataset) {
    result = bindings::predict(context, known, dataset, probabilities);
  });
  return to_r(result.add("levels", known.class_names()));
}

// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_parameters(const std::string& kind) { return to_r(bindings::parameters_table(kind)); }

// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_kinds() { return to_r(bindings::kinds_table()); }

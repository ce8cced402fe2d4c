// Options, training and trained models of all families.
#include <sheaf/bindings/models.hpp>
#include <sheaf/solvers/net_path.hpp>
#include <sheaf/solvers/ridge.hpp>

#include <utility>

#include "core.hpp"

namespace sheaf::python {
namespace {

/// fit() without a copy of the rows, which the dataset keeps as long as the model lives.
Model fit_in_place(const Context& context, const Dataset<double>& rows, const KnnOptions& options) {
  Model model(train_knn(context, rows, options, {}, true));
  Pipeline none;
  describe_training(context, rows, none);
  model.set_pipeline(std::move(none));
  return model;
}

Model train(const Surroundings& surroundings, const AnyDataset& dataset, const ModelOptions& options,
            const py::object& weights) {
  const auto row_weights = row_weights_of(weights, dataset.rows());
  const auto* neighbors = options.get_if<KnnOptions>();
  const auto* rows = std::get_if<Dataset<double>>(&dataset.any);
  Model model;
  run(surroundings, [&](const Context& context) {
    if (neighbors != nullptr && rows != nullptr && row_weights.empty() && !needs_pipeline(*rows, {}))
      model = fit_in_place(context, *rows, *neighbors);
    else
      model = bindings::fit(context, dataset.any, options, row_weights);
  });
  return model;
}

/// The smallest alpha at which an elastic net has no weights.
double largest_alpha_of(const Surroundings& surroundings, const AnyDataset& dataset, const ModelOptions& options,
                        const py::object& weights) {
  const auto* net = options.get_if<NetOptions>();
  if (net == nullptr) throw UsageError("the model is no elastic net");
  const auto row_weights = row_weights_of(weights, dataset.rows());
  double largest = 0;
  run(surroundings, [&](const Context& context) {
    std::visit([&](const auto& one) { largest = largest_alpha(context, one, *net, row_weights); }, dataset.any);
  });
  return largest;
}

/// Predictions for rows that are left out, alphas x rows.
py::array_t<double> leave_one_out(const Surroundings& surroundings, const AnyDataset& dataset,
                                  const std::vector<double>& alphas, const std::vector<double>& weights,
                                  bool intercept) {
  std::vector<double> predictions;
  run(surroundings, [&](const Context& context) {
    std::visit([&](const auto& one) { predictions = ridge_leave_one_out(context, one, alphas, weights, intercept); },
               dataset.any);
  });
  return array_of(predictions, std::ssize(alphas), dataset.rows());
}

/// Ridge regression of all targets of the dataset, solved directly.
Model ridge(const Surroundings& surroundings, const AnyDataset& dataset, double alpha,
            const std::vector<double>& weights, bool intercept) {
  Model model;
  run(surroundings, [&](const Context& context) {
    std::visit([&](const auto& one) { model = train_ridge(context, one, alpha, weights, intercept); }, dataset.any);
  });
  return model;
}

py::object predict(const Model& model, const Surroundings& surroundings, const AnyDataset& dataset,
                   bool probabilities) {
  bindings::List result;
  run(surroundings,
      [&](const Context& context) { result = bindings::predict(context, model, dataset.any, probabilities); });
  return to_python(std::move(result));
}

/// Weights as features x decision values, and intercepts.
py::object coefficients(const Model& model) {
  const auto found = to_python(bindings::coefficients_of(model));
  return found.is_none() ? found : py::make_tuple(found["weights"], found["intercepts"]);
}

}  // namespace

void add_models(py::module_& module) {
  py::class_<ModelOptions>(module, "Options")
      .def(py::init([](const std::string& kind) { return find_model_kind(kind).options; }))
      .def("set", [](ModelOptions& options, const std::string& name,
                     const std::string& text) { set_parameter(options, name, text); })
      .def("set", [](ModelOptions& options, const std::string& name,
                     const std::vector<double>& numbers) { set_parameter(options, name, numbers); })
      .def("rows",
           [](const ModelOptions& options) { return records_of(bindings::parameters_table(parameters_of(options))); });
  py::class_<Model>(module, "Model")
      .def_static("parse", [](const std::string& text, const std::string& name) { return Model::parse(text, name); })
      .def("text", [](const Model& model) { return model.text(); })
      .def("peer_text", &Model::peer_text)
      .def_property_readonly("family", [](const Model& model) { return std::string(model.family()); })
      .def_property_readonly("warnings", &Model::warnings)
      .def_property_readonly("has_probabilities", &Model::has_probabilities)
      .def_property_readonly("class_names", &Model::class_names)
      .def("predict", &predict)
      .def("coefficients", &coefficients)
      .def("iterations", [](const Model& model) { return to_python(bindings::iterations_of(model)); })
      .def("statistics", [](const Model& model) { return to_python(bindings::glm_of(model)); })
      .def("gaps", [](const Model& model) { return to_python(bindings::gaps_of(model)); })
      .def("support", [](const Model& model) { return to_python(bindings::svm_of(model)); })
      .def(py::pickle([](const Model& model) { return model.text(); },
                      [](const std::string& text) { return Model::parse(text, "a pickled model"); }));
  module.def("kinds", [] { return py::object(to_python(bindings::kinds_table())["name"]); });
  module.def("fit", &train, py::keep_alive<0, 2>());
  module.def("largest_alpha", &largest_alpha_of);
  module.def("ridge", &ridge);
  module.def("prefers_ridge", [](const AnyDataset& dataset, double alpha) {
    return std::visit([&](const auto& one) { return prefers_train_ridge(one, alpha); }, dataset.any);
  });
  module.def("ridge_leave_one_out", &leave_one_out);
  module.def("huber_threshold", [](const std::vector<double>& targets, const py::object& weights) {
    return huber_threshold(targets, "y", row_weights_of(weights, std::ssize(targets)));
  });
}

}  // namespace sheaf::python

// Options, training and trained models of all families.
#include <sheaf/solvers/ridge.hpp>

#include "core.hpp"

namespace sheaf::python {
namespace {

Model train(const Surroundings& surroundings, const AnyDataset& dataset, const ModelOptions& options,
            const py::object& weights) {
  const auto row_weights = row_weights_of(weights, dataset.rows());
  Model model;
  run(surroundings, [&](const Context& context) {
    std::visit([&](const auto& one) { model = fit(context, one, options, row_weights); }, dataset.any);
  });
  return model;
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

/// Decision values, the number of each row's class and probabilities, those that there are.
py::tuple predict(const Model& model, const Surroundings& surroundings, const AnyDataset& dataset, bool probabilities) {
  Predictions result;
  run(surroundings, [&](const Context& context) {
    std::visit([&](const auto& one) { result = model.predict(context, one, probabilities); }, dataset.any);
  });
  const py::object classes = result.classes.empty() ? py::none() : py::object(array_of(result.classes));
  py::object shares = py::none();
  if (probabilities) {
    const auto columns = result.rows > 0 ? std::ssize(result.probabilities) / result.rows : 0;
    shares = array_of(result.probabilities, result.rows, columns);
  }
  return py::make_tuple(array_of(result.decisions, result.rows, result.columns), classes, shares, result.warnings);
}

/// Weights as features x decision values, and intercepts.
py::object coefficients(const Model& model) {
  const auto found = model.coefficients();
  if (!found) return py::none();
  return py::make_tuple(array_of(found->values, model.features(), std::ssize(found->intercepts)),
                        array_of(found->intercepts));
}

/// How many iterations each decision value took; all of a generalised linear model together.
std::vector<std::int64_t> iterations(const Model& model) {
  std::vector<std::int64_t> result;
  if (const auto* linear = model.get_if<LinearModel>()) {
    for (const auto& fit : linear->fits) result.push_back(fit.iterations);
    if (linear->net)
      for (const auto& fit : linear->net->fits) result.push_back(fit.epochs);
    if (linear->glm) result.push_back(linear->glm->fit.iterations);
  }
  if (const auto* svm = model.get_if<SvmModel>())
    for (const auto& fit : svm->fits) result.push_back(fit.iterations);
  return result;
}

/// How far the objective of each decision value of an elastic net may be above the least.
std::vector<double> gaps(const Model& model) {
  std::vector<double> result;
  if (const auto* linear = model.get_if<LinearModel>(); linear != nullptr && linear->net)
    for (const auto& fit : linear->net->fits) result.push_back(fit.gap);
  return result;
}

py::object matrix_of(const Matrix<double>& x) {
  if (const auto* dense = std::get_if<DenseMatrix<double>>(&x)) {
    const std::vector<double> values(dense->values.begin(), dense->values.end());
    return array_of(values, dense->rows, dense->columns);
  }
  const auto& sparse = std::get<SparseMatrix<double>>(x);
  return py::make_tuple(array_of(std::vector(sparse.values.begin(), sparse.values.end())),
                        array_of(std::vector(sparse.indices.begin(), sparse.indices.end())),
                        array_of(std::vector(sparse.offsets.begin(), sparse.offsets.end())));
}

/// The support vectors of an SVM (dense, or the three arrays of compressed rows), their rows and classes, and each
/// binary SVM as its support vectors, their coefficients and rho; also the kernel's gamma and the sigmoids a and b.
py::object support(const Model& model) {
  const auto* svm = model.get_if<SvmModel>();
  if (svm == nullptr) return py::none();
  py::list machines;
  for (const auto& one : svm->svms)
    machines.append(py::make_tuple(array_of(one.rows), array_of(one.coefficients), one.rho));
  py::dict result;
  result["rows"] = array_of(svm->support_rows);
  result["classes"] = array_of(svm->support_classes);
  result["vectors"] = svm->serials.empty() ? matrix_of(svm->support) : py::none();
  result["svms"] = std::move(machines);
  result["gamma"] = svm->kernel.gamma;
  result["sigmoids"] = py::make_tuple(array_of(svm->sigmoid_a), array_of(svm->sigmoid_b));
  return result;
}

/// A table that says what can be set: the documentation of estimators is checked against it.
py::list rows_of(const ModelOptions& options) {
  py::list rows;
  for (const auto& row : parameters_of(options)) {
    py::dict entry;
    entry["name"] = row.name;
    entry["help"] = row.help;
    entry["default"] = row.default_text;
    entry["choices"] = row.choices;
    rows.append(std::move(entry));
  }
  return rows;
}

}  // namespace

void add_models(py::module_& module) {
  py::class_<ModelOptions>(module, "Options")
      .def(py::init([](const std::string& kind) { return find_model_kind(kind).options; }))
      .def("set", [](ModelOptions& options, const std::string& name,
                     const std::string& text) { set_parameter(options, name, text); })
      .def("set", [](ModelOptions& options, const std::string& name,
                     const std::vector<double>& numbers) { set_parameter(options, name, numbers); })
      .def("rows", &rows_of);
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
      .def("iterations", &iterations)
      .def("gaps", &gaps)
      .def("support", &support)
      .def(py::pickle([](const Model& model) { return model.text(); },
                      [](const std::string& text) { return Model::parse(text, "a pickled model"); }));
  module.def("fit", &train);
  module.def("ridge_leave_one_out", &leave_one_out);
  module.def("huber_threshold", [](const std::vector<double>& targets, const py::object& weights) {
    return huber_threshold(targets, "y", row_weights_of(weights, std::ssize(targets)));
  });
}

}  // namespace sheaf::python

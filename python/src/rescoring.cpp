// Rescoring of peptide-spectrum matches.
#include <sheaf/bindings/rescoring.hpp>

#include <optional>

#include "core.hpp"

namespace sheaf::python {
namespace {

/// `weights` None: trains; else scores with them, the bias last, without training.
py::object rescore(const Surroundings& surroundings, const std::vector<std::string>& files, const Texts& settings,
                   bool as_percolator, bool single, const std::optional<std::vector<double>>& weights) {
  RescoreOptions options;
  bindings::set_options(options, settings_of(settings));
  if (as_percolator) options.rules = RescoreRules::percolator;
  if (weights) {
    options.initial_weights = *weights;
    options.apply_only = true;
  }
  RescoreResult result;
  run(surroundings, [&](const Context& context) { result = bindings::rescore(context, single, files, options); });
  return to_python(bindings::rescored(result));
}

void save_weights(const std::vector<std::string>& feature_names, const std::vector<std::vector<double>>& normalised,
                  const std::vector<std::vector<double>>& raw, const std::string& path) {
  write_weights({feature_names, normalised, raw}, path, true);
}

}  // namespace

void add_rescoring(py::module_& module) {
  module.def("rescore", &rescore);
  module.def("save_weights", &save_weights);
}

}  // namespace sheaf::python

// Rescoring of peptide-spectrum matches, and datasets of files.
#include <sheaf/bindings/rescoring.hpp>

#include "core.hpp"

using namespace sheaf::r;
namespace bindings = sheaf::bindings;

// [[Rcpp::export(rng = false)]]
Rcpp::List core_percolator(const Rcpp::List& control, const std::vector<std::string>& files,
                           const Rcpp::CharacterMatrix& settings) {
  const auto surroundings = surroundings_of(control);
  sheaf::RescoreOptions options;
  set_options(options, settings_of(settings));
  options.seed = surroundings.options.seed;
  sheaf::RescoreResult result;
  run(surroundings,
      [&](const sheaf::Context& context) { result = bindings::rescore(context, surroundings.single, files, options); });
  return to_r(bindings::rescored(result).add("test_fdr", options.test_fdr));
}

// Sparse data come as compressed columns.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_read(const Rcpp::List& control, const std::string& file, const Rcpp::CharacterMatrix& settings) {
  sheaf::ReadOptions options;
  options.missing = sheaf::Missing::keep;
  set_options(options, settings_of(settings));
  bindings::List list;
  run(surroundings_of(control),
      [&](const sheaf::Context& context) { list = bindings::read(context, file, options, true); });
  return to_r(list);
}

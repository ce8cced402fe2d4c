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

// The matrix as an R matrix or, of sparse data, as compressed columns.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_read(const Rcpp::List& control, const std::string& file) {
  const auto surroundings = surroundings_of(control);
  sheaf::Dataset<double> dataset;
  sheaf::ReadOptions options;
  options.missing = sheaf::Missing::keep;
  run(surroundings, [&](const sheaf::Context& context) {
    dataset = sheaf::read_dataset<double>(context, file, options);
    if (std::holds_alternative<sheaf::SparseMatrix<double>>(dataset.x))
      dataset.by_columns(sheaf::Device::cpu(), context.threads());
  });
  bindings::List list;
  list.add("rows", dataset.rows()).add("columns", dataset.features()).add("names", dataset.feature_names);
  list.add("notes", dataset.notes);
  if (const auto* dense = std::get_if<sheaf::DenseMatrix<double>>(&dataset.x)) {
    list.add("dense", bindings::Matrix{{dense->values.begin(), dense->values.end()}, dense->rows, dense->columns});
  } else {
    const auto& compressed = dataset.by_columns(sheaf::Device::cpu(), 1);
    list.add("p", std::vector<std::int32_t>(compressed.offsets.begin(), compressed.offsets.end()));
    list.add("i", std::vector<std::int32_t>(compressed.indices.begin(), compressed.indices.end()));
    list.add("x", std::vector<double>(compressed.values.begin(), compressed.values.end()));
  }
  const auto& target = dataset.target;
  if (!target.empty() && target.looks_like_classes())
    list.add("classes", bindings::Places(target.classes)).add("levels", target.class_names);
  else if (!target.empty())
    list.add("numbers", target.values);
  return to_r(list);
}

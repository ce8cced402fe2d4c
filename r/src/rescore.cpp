// Rescoring of peptide-spectrum matches, and datasets of files.
#include "core.hpp"

using namespace sheaf::r;
using Rcpp::_;

namespace {

Rcpp::CharacterVector texts_of(const sheaf::RescoreResult& result, const std::vector<std::int32_t>& rows,
                               std::string_view sheaf::PsmView::*member) {
  Rcpp::CharacterVector list(static_cast<R_xlen_t>(rows.size()));
  for (std::size_t k = 0; k < rows.size(); ++k)
    list[static_cast<R_xlen_t>(k)] = std::string(result.text(rows[k]).*member);
  return list;
}

Rcpp::DataFrame level_frame(const sheaf::RescoreResult& result, const sheaf::RescoreLevel& level) {
  Rcpp::LogicalVector target(static_cast<R_xlen_t>(level.rows.size()));
  for (std::size_t k = 0; k < level.rows.size(); ++k)
    target[static_cast<R_xlen_t>(k)] = result.text(level.rows[k]).target;
  return Rcpp::DataFrame::create(
      _["row"] = from_one(level.rows), _["id"] = texts_of(result, level.rows, &sheaf::PsmView::id),
      _["target"] = target, _["score"] = level.scores, _["q"] = level.q, _["pep"] = level.pep,
      _["peptide"] = texts_of(result, level.rows, &sheaf::PsmView::peptide),
      _["proteins"] = texts_of(result, level.rows, &sheaf::PsmView::proteins), _["stringsAsFactors"] = false);
}

Rcpp::DataFrame protein_frame(const std::vector<sheaf::RescoreProtein>& proteins) {
  std::vector<std::string> names;
  std::vector<bool> target;
  std::vector<int> peptides;
  std::vector<double> scores, q, pep;
  for (const auto& one : proteins) {
    names.push_back(one.name);
    target.push_back(one.target);
    scores.push_back(one.score);
    q.push_back(one.q);
    pep.push_back(one.pep);
    peptides.push_back(static_cast<int>(one.peptides.size()));
  }
  return Rcpp::DataFrame::create(_["protein"] = names, _["target"] = target, _["score"] = scores, _["q"] = q,
                                 _["pep"] = pep, _["peptides"] = peptides, _["stringsAsFactors"] = false);
}

Rcpp::NumericMatrix weights_matrix(const sheaf::RescoreModel& model) {
  const auto folds = static_cast<int>(model.raw.size());
  const auto features = static_cast<int>(model.feature_names.size());
  Rcpp::NumericMatrix matrix(features + 1, folds);
  for (int fold = 0; fold < folds; ++fold)
    for (int j = 0; j <= features; ++j)
      matrix(j, fold) = model.raw[static_cast<std::size_t>(fold)][static_cast<std::size_t>(j)];
  Rcpp::CharacterVector names(model.feature_names.begin(), model.feature_names.end());
  names.push_back("(Intercept)");
  Rcpp::rownames(matrix) = names;
  return matrix;
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_percolator(const Rcpp::List& control, const std::vector<std::string>& files,
                           const Rcpp::CharacterMatrix& settings) {
  const auto surroundings = surroundings_of(control);
  sheaf::RescoreOptions options;
  set_options(options, settings_of(settings));
  options.seed = surroundings.options.seed;
  sheaf::RescoreResult result;
  run(surroundings, [&](const sheaf::Context& context) {
    result = surroundings.single ? sheaf::rescore_psms<float>(context, files, options)
                                 : sheaf::rescore_psms<double>(context, files, options);
  });
  std::vector<double> accepted;
  for (const auto& one : result.iterations) accepted.push_back(static_cast<double>(one.tested));
  return Rcpp::List::create(_["psms"] = level_frame(result, result.psms),
                            _["peptides"] = level_frame(result, result.peptides),
                            _["proteins"] = protein_frame(result.proteins), _["weights"] = weights_matrix(result.model),
                            _["accepted"] = static_cast<double>(result.psms.accepted),
                            _["accepted_peptides"] = static_cast<double>(result.peptides.accepted),
                            _["initial"] = static_cast<double>(result.initial_accepted), _["by_iteration"] = accepted,
                            _["pi0"] = result.psms.pi0, _["fell_back"] = result.fell_back,
                            _["test_fdr"] = options.test_fdr, _["warnings"] = result.warnings);
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
  const auto rows = static_cast<int>(dataset.rows()), columns = static_cast<int>(dataset.features());
  Rcpp::List result = Rcpp::List::create(_["rows"] = rows, _["columns"] = columns, _["names"] = dataset.feature_names,
                                         _["notes"] = dataset.notes);
  if (const auto* dense = std::get_if<sheaf::DenseMatrix<double>>(&dataset.x)) {
    Rcpp::NumericMatrix matrix(rows, columns);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) matrix(i, j) = dense->values[std::int64_t{i} * columns + j];
    result["dense"] = matrix;
  } else {
    const auto& compressed = dataset.by_columns(sheaf::Device::cpu(), 1);
    result["p"] = Rcpp::IntegerVector(compressed.offsets.begin(), compressed.offsets.end());
    result["i"] = Rcpp::IntegerVector(compressed.indices.begin(), compressed.indices.end());
    result["x"] = Rcpp::NumericVector(compressed.values.begin(), compressed.values.end());
  }
  const auto& target = dataset.target;
  if (!target.empty() && target.looks_like_classes()) {
    result["classes"] = from_one(target.classes);
    result["levels"] = target.class_names;
  } else if (!target.empty()) {
    result["numbers"] = target.values;
  }
  return result;
}

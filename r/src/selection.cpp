// Selection of features by a criterion, nearest rows, distances.
#include "core.hpp"

using namespace sheaf::r;
using Rcpp::_;

// [[Rcpp::export(rng = false)]]
Rcpp::List core_select(const Rcpp::List& control, SEXP x, const Rcpp::List& about,
                       const Rcpp::CharacterMatrix& settings, const Rcpp::CharacterMatrix& binning,
                       const Rcpp::CharacterMatrix& ensemble) {
  const auto surroundings = surroundings_of(control);
  const auto rows = rows_of(x, about);
  sheaf::SelectRequest request;
  set_options(request.options, settings_of(settings));
  set_options(request.binning, settings_of(binning));
  set_options(request.ensemble, settings_of(ensemble));
  sheaf::SelectionResult result;
  run(surroundings, [&](const sheaf::Context& context) {
    const auto dataset = make(surroundings, context, rows);
    std::visit([&](const auto& one) { result = sheaf::select(context, one, request); }, dataset);
  });
  std::vector<int> selected;
  std::vector<double> scores, relevance, redundancy, frequency;
  for (const auto& row : result.selected) {
    selected.push_back(static_cast<int>(row.feature.index) + 1);
    scores.push_back(row.feature.score);
    relevance.push_back(row.feature.relevance);
    redundancy.push_back(row.feature.redundancy);
    if (row.votes) frequency.push_back(row.votes->frequency);
  }
  return Rcpp::List::create(
      _["selected"] = selected, _["scores"] = scores, _["relevance"] = relevance, _["redundancy"] = redundancy,
      _["frequency"] = frequency, _["stability"] = result.stability, _["chance"] = result.chance.values,
      _["bins"] = result.binning.bins > 0 ? result.binning.bins : NA_INTEGER, _["notes"] = result.notes);
}

// [[Rcpp::export(rng = false)]]
Rcpp::DataFrame core_criteria() {
  std::vector<std::string> names, titles, help;
  for (const auto& row : sheaf::criteria()) {
    names.emplace_back(row.name);
    titles.emplace_back(row.title);
    help.emplace_back(row.help);
  }
  return Rcpp::DataFrame::create(_["name"] = names, _["title"] = titles, _["help"] = help,
                                 _["stringsAsFactors"] = false);
}

namespace {

/// The dataset and, where there are any, the queries, in the same precision.
template <class Use>
void with_queries(const Surroundings& surroundings, const sheaf::Context& context, const Rows& rows,
                  const std::optional<Rows>& queries, const Use& use) {
  const auto dataset = make(surroundings, context, rows);
  std::visit(
      [&](const auto& one) {
        using Same = std::decay_t<decltype(one)>;
        if (!queries) return use(one, static_cast<const Same*>(nullptr));
        const auto others = make(surroundings, context, *queries);
        use(one, &std::get<Same>(others));
      },
      dataset);
}

std::optional<Rows> queries_of(const Rcpp::RObject& queries) {
  if (queries.isNULL()) return std::nullopt;
  return rows_of(queries, Rcpp::List());
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_neighbors(const Rcpp::List& control, SEXP x, const Rcpp::RObject& queries,
                          const Rcpp::CharacterMatrix& settings, const Rcpp::CharacterMatrix& distance,
                          const std::vector<double>& feature_weights) {
  const auto surroundings = surroundings_of(control);
  const auto rows = rows_of(x, Rcpp::List());
  const auto others = queries_of(queries);
  sheaf::NeighborOptions options;
  set_options(options, settings_of(settings));
  set_options(options.distance, settings_of(distance));
  options.distance.weights = feature_weights;
  sheaf::NeighborLists lists;
  run(surroundings, [&](const sheaf::Context& context) {
    with_queries(surroundings, context, rows, others, [&](const auto& dataset, const auto* with) {
      lists = sheaf::find_neighbors(context, dataset, options, with);
    });
  });
  Rcpp::IntegerMatrix indices(static_cast<int>(lists.queries), static_cast<int>(lists.k));
  for (std::int64_t i = 0; i < lists.queries; ++i)
    for (std::int64_t j = 0; j < lists.k; ++j)
      indices(static_cast<int>(i), static_cast<int>(j)) = lists.indices[static_cast<std::size_t>(i * lists.k + j)] + 1;
  return Rcpp::List::create(_["index"] = indices, _["distance"] = matrix_of(lists.distances, lists.queries, lists.k));
}

// Rows of x by rows of `others`, or what lies below the diagonal of the rows among themselves, column by column.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_distances(const Rcpp::List& control, SEXP x, const Rcpp::RObject& others,
                                   const Rcpp::CharacterMatrix& distance, const std::vector<double>& feature_weights) {
  const auto surroundings = surroundings_of(control);
  const auto rows = rows_of(x, Rcpp::List());
  const auto with = queries_of(others);
  sheaf::DistanceOptions options;
  set_options(options, settings_of(distance));
  options.weights = feature_weights;
  const auto count = [](const Rows& of) { return std::visit([](const auto& input) { return input.rows; }, of.input); };
  const auto n = count(rows);
  Rcpp::NumericVector result(Rcpp::no_init(static_cast<R_xlen_t>(with ? n * count(*with) : n * (n - 1) / 2)));
  double* const out = result.begin();
  constexpr std::int64_t at_once = 64;
  run(surroundings, [&](const sheaf::Context& context) {
    with_queries(surroundings, context, rows, with, [&](const auto& dataset, const auto* queries) {
      const sheaf::DistanceMatrix matrix(context, dataset, options, queries);
      if (queries != nullptr) return matrix.compute(0, matrix.rows(), 0, matrix.columns(), out);
      std::vector<double> block(static_cast<std::size_t>(at_once * n));
      double* next = out;
      for (std::int64_t first = 0; first + 1 < n; first += at_once) {
        context.check_stop();
        const auto height = std::min(at_once, n - first);
        const auto width = n - first;
        matrix.compute(first, height, first, width, block.data());
        for (std::int64_t i = 0; i < height; ++i)
          next = std::copy(block.data() + i * width + i + 1, block.data() + (i + 1) * width, next);
      }
    });
  });
  return result;
}

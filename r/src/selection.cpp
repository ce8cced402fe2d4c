// Selection of features by a criterion, nearest rows, distances.
#include <sheaf/bindings/selection.hpp>

#include "core.hpp"

using namespace sheaf::r;
namespace bindings = sheaf::bindings;

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
  bindings::List result;
  run_on(surroundings, rows, [&](const sheaf::Context& context, const bindings::AnyDataset& dataset) {
    result = bindings::select(context, dataset, request);
  });
  return to_r(result);
}

// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_criteria() { return to_r(bindings::criteria_table()); }

namespace {

/// The work on the dataset and, if there are any, the queries, in the same precision; else nullptr.
template <class Work>
void run_with_queries(const Surroundings& surroundings, const Rows& rows, const std::optional<Rows>& queries,
                      const Work& work) {
  run_on(surroundings, rows, [&](const sheaf::Context& context, const bindings::AnyDataset& dataset) {
    if (!queries) return work(context, dataset, nullptr);
    const auto others = make(surroundings, context, *queries);
    work(context, dataset, &others);
  });
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
  using Dataset = bindings::AnyDataset;
  run_with_queries(surroundings, rows, others,
                   [&](const sheaf::Context& context, const Dataset& dataset, const Dataset* with) {
                     lists = bindings::find_neighbors(context, dataset, options, with);
                   });
  Rcpp::IntegerMatrix indices(static_cast<int>(lists.queries), static_cast<int>(lists.k));
  for (std::int64_t i = 0; i < lists.queries; ++i)
    for (std::int64_t j = 0; j < lists.k; ++j)
      indices(static_cast<int>(i), static_cast<int>(j)) = lists.indices[static_cast<std::size_t>(i * lists.k + j)] + 1;
  const auto distances = to_r(bindings::Matrix{std::move(lists.distances), lists.queries, lists.k});
  return Rcpp::List::create(Rcpp::_["index"] = indices, Rcpp::_["distance"] = distances);
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
  const auto n = rows.count();
  Rcpp::NumericVector result(Rcpp::no_init(static_cast<R_xlen_t>(with ? n * with->count() : n * (n - 1) / 2)));
  double* const out = result.begin();
  using Dataset = bindings::AnyDataset;
  run_with_queries(surroundings, rows, with,
                   [&](const sheaf::Context& context, const Dataset& dataset, const Dataset* queries) {
                     bindings::compute_distances(context, dataset, options, queries, out);
                   });
  return result;
}

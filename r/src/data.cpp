// Datasets over memory of R: matrices, and the sparse ones of package Matrix.
#include <cmath>

#include "core.hpp"

namespace sheaf::r {
namespace {

DenseInput dense_input(SEXP x) {
  const Rcpp::NumericMatrix matrix(x);
  const auto size = static_cast<std::size_t>(matrix.size());
  return DenseInput::column_major(std::span<const double>(matrix.begin(), size), matrix.nrow(), matrix.ncol());
}

SparseInput sparse_input(SEXP x) {
  const Rcpp::S4 matrix(x);
  const Rcpp::IntegerVector shape = matrix.slot("Dim"), offsets = matrix.slot("p"), rows = matrix.slot("i");
  const Rcpp::NumericVector values = matrix.slot("x");
  const auto ints = [](const Rcpp::IntegerVector& list) {
    return std::span<const std::int32_t>(list.begin(), static_cast<std::size_t>(list.size()));
  };
  return SparseInput::csc(shape[0], shape[1], ints(offsets), ints(rows),
                          std::span<const double>(values.begin(), static_cast<std::size_t>(values.size())));
}

/// Classes keep the order of the levels; of two the first one is the positive one, which decision values speak for.
Target target_of(const Rcpp::List& about) {
  Target target;
  if (about.containsElementNamed("classes")) {
    target = bindings::target_of_classes(Rcpp::as<std::vector<std::int32_t>>(about["classes"]),
                                         Rcpp::as<std::vector<std::string>>(about["levels"]));
    if (target.class_names.size() == 2) target.positive = 0;
  }
  if (!about.containsElementNamed("numbers")) return target;
  std::vector<std::uint8_t> events;
  if (about.containsElementNamed("events"))
    for (const int event : Rcpp::IntegerVector(about["events"])) events.push_back(static_cast<std::uint8_t>(event));
  const auto list = [&]<class Value>(const char* name, std::vector<Value> values) {
    if (about.containsElementNamed(name)) values = Rcpp::as<std::vector<Value>>(about[name]);
    return values;
  };
  return bindings::target_of_numbers(Rcpp::as<std::vector<double>>(about["numbers"]), std::move(events),
                                     list("entries", std::vector<double>()),
                                     list("strata", std::vector<std::int32_t>()));
}

/// The place of the first value that is no number: R counts from 1.
void refuse_missing(const DenseInput& input) {
  const auto values = std::get<std::span<const double>>(input.values);
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (std::isfinite(values[k])) continue;
    const auto rows = static_cast<std::size_t>(input.rows);
    throw UsageError("argument 'x': row " + std::to_string(k % rows + 1) + " of column " +
                     std::to_string(k / rows + 1) + " is missing or infinite");
  }
}

}  // namespace

Rows rows_of(SEXP x, const Rcpp::List& about) {
  Rows rows;
  if (Rf_isS4(x))
    rows.input = sparse_input(x);
  else
    rows.input = dense_input(x);
  if (about.containsElementNamed("names"))
    rows.options.feature_names = Rcpp::as<std::vector<std::string>>(about["names"]);
  if (about.containsElementNamed("times")) rows.options.times = Rcpp::as<std::vector<double>>(about["times"]);
  if (about.containsElementNamed("missing")) rows.options.missing = Missing::keep;
  if (about.containsElementNamed("groups")) rows.groups = Rcpp::as<std::vector<std::int32_t>>(about["groups"]);
  if (about.containsElementNamed("nominal"))
    for (const auto& levels : Rcpp::List(about["nominal"]))
      rows.levels.push_back(Rf_isNull(levels) ? std::vector<std::string>()
                                              : Rcpp::as<std::vector<std::string>>(levels));
  rows.options.source = "argument 'y'";
  rows.target = target_of(about);
  return rows;
}

bindings::AnyDataset make(const Surroundings& surroundings, const Context& context, const Rows& rows) {
  try {
    auto dataset = bindings::make_dataset(context, surroundings.single, rows.input, rows.options);
    std::visit(
        [&](auto& one) {
          one.target = rows.target;
          one.groups = rows.groups;
          one.levels = rows.levels;
        },
        dataset);
    return dataset;
  } catch (const UsageError& error) {
    if (const auto* dense = std::get_if<DenseInput>(&rows.input)) refuse_missing(*dense);
    throw UsageError(std::string("argument 'x': ") + error.what());
  }
}

std::vector<float> row_weights_of(const Rcpp::RObject& weights, std::int64_t rows) {
  if (weights.isNULL()) return {};
  const Rcpp::NumericVector list(weights);
  return make_row_weights(std::span<const double>(list.begin(), static_cast<std::size_t>(list.size())), rows);
}

}  // namespace sheaf::r

// [[Rcpp::export(rng = false)]]
Rcpp::RObject core_devices() { return sheaf::r::to_r(sheaf::bindings::devices_table()); }

// [[Rcpp::export(rng = false)]]
std::vector<double> core_tie_times(const std::vector<double>& times) { return sheaf::tie_times(times); }

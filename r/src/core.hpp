// What the files of the compiled part share. It converts arguments and results and nothing else: it has no mathematics
// and no defaults of its own. Options go by the names of the parameter table (sheaf/solvers/parameters.hpp) and as
// text, as on the command line.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <Rcpp.h>

#include <sheaf/sheaf.hpp>

namespace sheaf::r {

/// An option by its name in the parameter table, and the argument of the R function that it comes from.
struct Setting {
  std::string option, text, argument;
};
using Settings = std::vector<Setting>;

/// A character matrix of three columns, as the R function settings() makes it.
Settings settings_of(const Rcpp::CharacterMatrix& table);

/// The surroundings of a call. Made into a Context when work begins, so that memory is that which is free then.
struct Surroundings {
  Context::Options options;
  bool single = false;     ///< datasets hold float
  Rcpp::RObject progress;  ///< NULL, or a function of a stage, units done and units in all (0: not known)
};
/// Of a sheaf_control().
Surroundings surroundings_of(const Rcpp::List& control);

/// Does the work on a thread of its own, which must not call R. This one waits, looks ten times a second whether the
/// user interrupts, and reports progress; an interrupt, or an error of the function that hears of progress, stops the
/// work and is passed on.
void run(const Surroundings& surroundings, const std::function<void(const Context&)>& work);

/// A matrix of R and what is known of its rows, read before the work begins.
struct Rows {
  MatrixInput input;  ///< over memory of R
  DatasetOptions options;
  Target target;
  std::vector<std::int32_t> groups;              ///< from 0; empty: none
  std::vector<std::vector<std::string>> levels;  ///< of nominal columns; empty: there are none
};
/// `x`: a numeric matrix or a dgCMatrix. `about`: a list that may have `names` of the columns; `classes` (numbers from
/// 0) with `levels`, or `numbers`, or both `numbers` (times) and `events` (1 or 0); `groups` (from 0); `times`
/// (numbers that order the rows); `nominal` (a list of the levels of each column, NULL of numeric ones); `missing`:
/// there, where NA is kept for a pipeline that fills it in.
Rows rows_of(SEXP x, const Rcpp::List& about);

/// A dataset in one of the two precisions.
using AnyDataset = std::variant<Dataset<float>, Dataset<double>>;
AnyDataset make(const Surroundings& surroundings, const Context& context, const Rows& rows);

/// Calls work(); an error names the argument that it came from.
template <class Work>
void name_argument(const Setting& setting, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    throw UsageError("argument '" + setting.argument + "': " + error.what());
  }
}

/// Sets options by the rows of the parameter table. Unknown names are answered with the known ones, and what a row
/// refuses with the argument that it came from.
template <class Options>
void set_option(Options& options, const Setting& setting) {
  std::string known;
  for (const auto& row : parameters<Options>()) {
    known += (known.empty() ? "" : ", ") + row.name;
    if (row.name == setting.option) return name_argument(setting, [&] { row.set(options, setting.text); });
  }
  throw UsageError("argument '" + setting.argument + "': there is no parameter '" + setting.option + "'; known are " +
                   known);
}
template <class Options>
void set_options(Options& options, const Settings& settings) {
  for (const auto& setting : settings) set_option(options, setting);
}

/// The options of a kind of model.
ModelOptions model_options(const std::string& kind, const Rcpp::CharacterMatrix& settings);

/// Row weights, none where there are none.
std::vector<float> row_weights_of(const Rcpp::RObject& weights, std::int64_t rows);

/// What R can read of a model. The pointer in its list keeps the model alive; the text, where it is wanted, outlives
/// the session.
Rcpp::List describe_model(const Rcpp::XPtr<Model>& pointer, bool with_text);

/// rows x columns, from values that stand row by row.
Rcpp::NumericMatrix matrix_of(const std::vector<double>& values, std::int64_t rows, std::int64_t columns);

/// Numbers from 0, as R counts.
Rcpp::IntegerVector from_one(const std::vector<std::int32_t>& numbers);

}  // namespace sheaf::r

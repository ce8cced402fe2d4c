// Shared by the files of the compiled part. It converts R's arguments and the values of sheaf/bindings, and nothing
// else: it has no mathematics and no defaults of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <Rcpp.h>

#include <sheaf/bindings/datasets.hpp>
#include <sheaf/bindings/settings.hpp>
#include <sheaf/bindings/value.hpp>
#include <sheaf/sheaf.hpp>

namespace sheaf::r {

using bindings::set_options;

/// From a character matrix of three columns, as the R function settings() makes it.
bindings::Settings settings_of(const Rcpp::CharacterMatrix& table);

/// The surroundings of a call. Made into a Context when work begins, so that memory is that which is free then.
struct Surroundings {
  Context::Options options;
  bool single = false;     ///< datasets hold float
  Rcpp::RObject progress;  ///< NULL, or a function of a stage, units done and units in all (0: not known)
};
/// From a sheaf_control().
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

  std::int64_t count() const {
    return std::visit([](const auto& one) { return one.rows; }, input);
  }
};
/// `x`: a numeric matrix or a dgCMatrix. `about`: a list that may have `names` of the columns; `classes` (numbers from
/// 0) with `levels`, or `numbers`, or both `numbers` (times) and `events` (1 or 0), with `entries` and `strata` (from
/// 0) if there are some; `groups` (from 0); `times` (numbers that order the rows); `nominal` (a list of the levels of
/// each column, NULL of numeric ones); `missing`: there, if NA is kept for a pipeline that fills it in.
Rows rows_of(SEXP x, const Rcpp::List& about);

bindings::AnyDataset make(const Surroundings& surroundings, const Context& context, const Rows& rows);
/// The work on the dataset of the rows.
template <class Work>
void run_on(const Surroundings& surroundings, const Rows& rows, const Work& work) {
  run(surroundings, [&](const Context& context) { work(context, make(surroundings, context, rows)); });
}

/// The options of a kind of model.
ModelOptions model_options(const std::string& kind, const Rcpp::CharacterMatrix& settings);

/// Row weights, if there are any.
std::vector<float> row_weights_of(const Rcpp::RObject& weights, std::int64_t rows);

/// Vectors become vectors, matrices matrices, tables data frames and lists lists; places count from 1; entries that are
/// missing are NA.
Rcpp::RObject to_r(const bindings::Value& value);
Rcpp::List to_r(const bindings::List& list);

/// In the format of that name.
std::string text_of(const Model& model, const std::string& format);

/// The parts of a model that R can read. The pointer in its list keeps the model alive; the text, if it is wanted,
/// outlives the session.
Rcpp::List describe_model(const Rcpp::XPtr<Model>& pointer, bool with_text);

}  // namespace sheaf::r

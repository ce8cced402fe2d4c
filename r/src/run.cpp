// Work that the user can interrupt, what its surroundings are, and values as objects of R.
#include <sheaf/bindings/run.hpp>

#include "core.hpp"

namespace sheaf::r {
namespace {

void check_interrupt(void* /*unused*/) { R_CheckUserInterrupt(); }

template <class From>
Rcpp::NumericVector numbers_of(const From& values) {
  return {values.begin(), values.end()};
}

struct Converter {
  Rcpp::RObject operator()(std::monostate) const { return R_NilValue; }
  Rcpp::RObject operator()(std::int64_t value) const { return Rcpp::wrap(static_cast<double>(value)); }
  Rcpp::RObject operator()(const bindings::Place& place) const { return Rcpp::wrap(static_cast<int>(place.value + 1)); }
  Rcpp::RObject operator()(const bindings::Places& places) const {
    Rcpp::IntegerVector result(places.values.begin(), places.values.end());
    for (auto& number : result) ++number;
    return result;
  }
  Rcpp::RObject operator()(const bindings::Matrix& x) const {
    Rcpp::NumericMatrix matrix(static_cast<int>(x.rows), static_cast<int>(x.columns));
    const double* value = x.values.data();
    for (int i = 0; i < matrix.nrow(); ++i)
      for (int j = 0; j < matrix.ncol(); ++j) matrix(i, j) = *value++;
    return matrix;
  }
  Rcpp::RObject operator()(const std::vector<std::int64_t>& values) const { return numbers_of(values); }
  Rcpp::RObject operator()(const std::vector<std::optional<double>>& values) const {
    Rcpp::NumericVector result;
    for (const auto& value : values) result.push_back(value.value_or(NA_REAL));
    return result;
  }
  Rcpp::RObject operator()(const std::vector<std::string>& values) const {
    return texts_of(values, [](const std::string& text) { return text.c_str(); });
  }
  Rcpp::RObject operator()(const std::vector<std::optional<std::string>>& values) const {
    return texts_of(values, [](const auto& text) { return text ? text->c_str() : nullptr; });
  }
  Rcpp::RObject operator()(const bindings::List& list) const { return to_r(list); }
  template <class Other>
  Rcpp::RObject operator()(const Other& other) const {
    return Rcpp::wrap(other);
  }

 private:
  /// Names and labels come from files and from R, in UTF-8.
  template <class Texts, class Characters>
  static Rcpp::RObject texts_of(const Texts& values, const Characters& characters) {
    Rcpp::CharacterVector result(static_cast<R_xlen_t>(values.size()));
    R_xlen_t k = 0;
    for (const auto& value : values) {
      const char* text = characters(value);
      result[k++] = text == nullptr ? NA_STRING : Rf_mkCharCE(text, CE_UTF8);
    }
    return result;
  }
};

}  // namespace

/// R leaves a function that is interrupted by a jump, which must not pass over frames of C++.
void run(const Surroundings& surroundings, const std::function<void(const Context&)>& work) {
  const auto look_around = [&](const bindings::Progressed& state) {
    if (R_ToplevelExec(check_interrupt, nullptr) == FALSE) throw Rcpp::internal::InterruptedException();
    if (surroundings.progress.isNULL()) return;
    const Rcpp::Function report(surroundings.progress);
    report(state.stage, static_cast<double>(state.done), static_cast<double>(state.total));
  };
  const auto error = bindings::run_apart(surroundings.options, work, look_around);
  if (error) std::rethrow_exception(error);
}

Rcpp::RObject to_r(const bindings::Value& value) {
  return std::visit(Converter{}, static_cast<const bindings::AnyValue&>(value));
}

Rcpp::List to_r(const bindings::List& list) {
  Rcpp::List result(static_cast<R_xlen_t>(list.values.size()));
  for (std::size_t k = 0; k < list.values.size(); ++k) result[static_cast<R_xlen_t>(k)] = to_r(list.values[k]);
  result.names() = Rcpp::wrap(list.names);
  if (!list.is_table || list.values.empty()) return result;
  const SEXP first = result[0];
  result.attr("row.names") = Rcpp::IntegerVector::create(NA_INTEGER, -static_cast<int>(Rf_xlength(first)));
  result.attr("class") = "data.frame";
  return result;
}

bindings::Settings settings_of(const Rcpp::CharacterMatrix& table) {
  bindings::Settings settings;
  for (int i = 0; i < table.nrow(); ++i) {
    const auto text = [&](int column) { return Rcpp::as<std::string>(table(i, column)); };
    settings.push_back({text(0), text(1), text(2)});
  }
  return settings;
}

Surroundings surroundings_of(const Rcpp::List& control) {
  Surroundings result;
  for (const auto& setting : settings_of(control["settings"])) {
    if (setting.option == "precision")
      result.single = bindings::is_single(setting);
    else
      bindings::set_option(result.options, setting);
  }
  result.progress = control["progress"];
  return result;
}

}  // namespace sheaf::r

// Paths of elastic nets: one on all rows, or one for each fold, with what they predict for the rows they did not see.
#include <sheaf/bindings/models.hpp>
#include <sheaf/solvers/net_path.hpp>
#include <sheaf/solvers/net_scores.hpp>

#include "core.hpp"

namespace sheaf::r {
namespace {

using Rcpp::_;
using Rcpp::List;

/// Everything that describes the paths, read before the work begins.
struct Paths {
  NetSheaf sheaf;
  NetParams params;
  /// For each row, the path whose decision value is wanted. Empty: all paths.
  std::vector<std::int32_t> folds;
};

Loss loss_named(const std::string& name) {
  for (const auto loss :
       {Loss::squared, Loss::logistic, Loss::poisson, Loss::softmax, Loss::cox, Loss::huber, Loss::quantile})
    if (to_string(loss) == name) return loss;
  throw InternalError("elastic nets have no such loss");
}

/// Times, entries and strata of survival; empty lists of other responses.
RiskTimes risk_of(const List& list) {
  return {Rcpp::as<std::vector<double>>(list["times"]), Rcpp::as<std::vector<double>>(list["entries"]),
          Rcpp::as<std::vector<std::int32_t>>(list["strata"])};
}

/// `y` has the targets of all classes (or responses) of the first row, then those of the second ...
Paths paths_of(const Rcpp::NumericVector& y, const List& options) {
  Paths paths;
  paths.sheaf.classes = paths.sheaf.target_columns = Rcpp::as<int>(options["classes"]);
  paths.sheaf.examples = y.size() / paths.sheaf.classes;
  paths.sheaf.targets.assign(y.begin(), y.end());
  paths.sheaf.risk = risk_of(options);
  paths.sheaf.offsets = Rcpp::as<std::vector<double>>(options["offsets"]);
  const Rcpp::NumericMatrix weights = options["weights"];  // rows x paths, or nothing
  paths.sheaf.weight_columns = std::max(1, weights.ncol());
  for (int i = 0; i < weights.nrow(); ++i)
    for (int c = 0; c < weights.ncol(); ++c) paths.sheaf.row_weights.push_back(static_cast<float>(weights(i, c)));
  const auto alphas = Rcpp::as<std::vector<double>>(options["alphas"]);
  for (int c = 0; c < paths.sheaf.weight_columns; ++c)
    paths.sheaf.paths.push_back({c, 0, Rcpp::as<double>(options["l1_ratio"]), alphas});
  paths.sheaf.penalty_factors = Rcpp::as<std::vector<double>>(options["penalty_factors"]);
  paths.sheaf.lower_limits = Rcpp::as<std::vector<double>>(options["lower_limits"]);
  paths.sheaf.upper_limits = Rcpp::as<std::vector<double>>(options["upper_limits"]);
  paths.params.loss = loss_named(Rcpp::as<std::string>(options["loss"]));
  paths.params.loss_parameter = Rcpp::as<double>(options["loss_parameter"]);
  paths.params.tolerance = Rcpp::as<double>(options["tolerance"]);
  paths.params.max_epochs = Rcpp::as<int>(options["max_epochs"]);
  paths.params.intercept = Rcpp::as<bool>(options["intercept"]);
  paths.params.standardise = Rcpp::as<bool>(options["standardise"]);
  paths.params.relative_l2 = Rcpp::as<bool>(options["relative_l2"]);
  paths.params.grouped = Rcpp::as<bool>(options["grouped"]);
  paths.folds = Rcpp::as<std::vector<std::int32_t>>(options["folds"]);
  if (!paths.folds.empty()) paths.sheaf.decision_rows.resize(static_cast<std::size_t>(paths.sheaf.weight_columns));
  for (std::size_t i = 0; i < paths.folds.size(); ++i)
    if (paths.folds[i] >= 0)  // else its fold is not among those trained here
      paths.sheaf.decision_rows[static_cast<std::size_t>(paths.folds[i])].push_back(static_cast<std::int32_t>(i));
  return paths;
}

/// The properties of rows that net_response() has.
NetResponse response_of(const List& list) {
  NetResponse response;
  response.loss = loss_named(Rcpp::as<std::string>(list["loss"]));
  response.loss_parameter = Rcpp::as<double>(list["parameter"]);
  response.classes = Rcpp::as<int>(list["classes"]);
  response.targets = Rcpp::as<std::vector<double>>(list["targets"]);
  response.risk = risk_of(list);
  response.weights = Rcpp::as<std::vector<double>>(list["weights"]);
  response.offsets = Rcpp::as<std::vector<double>>(list["offsets"]);
  response.saturated = Rcpp::as<std::vector<double>>(list["saturated"]);
  return response;
}

std::span<const double> span_of(const Rcpp::NumericVector& values) {
  return {values.begin(), static_cast<std::size_t>(values.size())};
}

/// The dataset of a matrix of R: made when it is first needed, and kept for the calls of the compiled part that follow.
struct SharedDataset {
  Rcpp::RObject x;
  std::optional<bindings::AnyDataset> dataset;
};

/// The work on the dataset of x, which `options` share.
template <class Work>
void run_on_shared(const List& control, SEXP x, const List& options, const Work& work) {
  const auto surroundings = surroundings_of(control);
  const auto rows = rows_of(x, List());
  SharedDataset& shared = *Rcpp::XPtr<SharedDataset>(static_cast<SEXP>(options["shared"]));
  if (static_cast<SEXP>(shared.x) != x) shared = {x, std::nullopt};
  run(surroundings, [&](const Context& context) {
    if (!shared.dataset) shared.dataset = make(surroundings, context, rows);
    std::visit([&](const auto& one) { work(context, one); }, *shared.dataset);
  });
}

template <class T>
Context context_for(const Context& context, const Dataset<T>& dataset, const Paths& paths) {
  NetOptions options;
  options.loss = paths.params.loss;
  const auto models = paths.sheaf.paths.size() * paths.sheaf.paths.front().alphas.size();
  return context.for_work(training_work(dataset, options, static_cast<double>(models)));
}

/// The classes of an alpha stand side by side.
std::size_t columns_of(const Paths& paths) {
  return paths.sheaf.paths.front().alphas.size() * static_cast<std::size_t>(paths.sheaf.classes);
}
std::size_t column_of(const NetModel& model, std::int32_t classes) {
  return static_cast<std::size_t>(model.alpha * classes + model.column);
}

/// Decision values of the rows that each path did not see or, of a single path, of all rows: rows x classes x alphas,
/// column by column. Where no path is named for a row, those of all rows and paths: x paths.
template <class T>
class Decisions {
 public:
  Decisions(const Paths& paths, std::vector<double>& values)
      : classes_(paths.sheaf.classes),
        rows_(static_cast<std::size_t>(paths.sheaf.examples)),
        columns_(columns_of(paths)),
        folds_(paths.folds),
        values_(values) {
    values_.assign(rows_ * columns_ * (folds_.empty() ? paths.sheaf.paths.size() : 1), 0.0);
  }

  void take(std::span<const NetModel> models, BlockView<const T> decisions) {
    Array<T> copy;
    if (!decisions.device.is_cpu()) {
      copy = Array<T>(decisions.rows * decisions.stride);
      copy_bytes(copy.data(), Device::cpu(), decisions.data, decisions.device, copy.bytes());
      decisions.data = copy.data();
    }
    const auto stride = static_cast<std::size_t>(decisions.stride);
    for (std::size_t m = 0; m < models.size(); ++m) {
      const auto first = folds_.empty() ? static_cast<std::size_t>(models[m].path) * columns_ : 0;
      double* column = values_.data() + (first + column_of(models[m], classes_)) * rows_;
      for (std::size_t i = 0; i < rows_; ++i)
        if (folds_.empty() || folds_[i] == models[m].path)
          column[i] = static_cast<double>(decisions.data[i * stride + m]);
    }
  }

 private:
  std::int32_t classes_;
  std::size_t rows_, columns_;
  const std::vector<std::int32_t>& folds_;
  std::vector<double>& values_;
};

/// The models of one path as the columns of a dgCMatrix, and how their training ended.
List path_list(std::span<const NetModel> models) {
  std::vector<int> offsets{0}, features, epochs;
  std::vector<double> weights, intercepts, gaps;
  std::vector<bool> converged;
  for (const auto& model : models) {
    features.insert(features.end(), model.features.begin(), model.features.end());
    weights.insert(weights.end(), model.weights.begin(), model.weights.end());
    offsets.push_back(static_cast<int>(features.size()));
    intercepts.push_back(model.intercept);
    gaps.push_back(model.fit.gap);
    epochs.push_back(model.fit.epochs);
    converged.push_back(model.fit.converged);
  }
  return List::create(_["p"] = offsets, _["i"] = features, _["x"] = weights, _["a0"] = intercepts, _["gap"] = gaps,
                      _["epochs"] = epochs, _["converged"] = converged);
}

}  // namespace
}  // namespace sheaf::r

using namespace sheaf::r;
using Rcpp::_;

// A place for the dataset of a problem, in the options of the calls below.
// [[Rcpp::export(rng = false)]]
SEXP core_net_shared() { return Rcpp::XPtr<SharedDataset>(new SharedDataset); }

// Decision values, and of a single path its models.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_nets(const Rcpp::List& control, SEXP x, const Rcpp::NumericVector& y, const Rcpp::List& options) {
  const auto paths = paths_of(y, options);
  const bool single = paths.sheaf.paths.size() == 1;
  const auto columns = columns_of(paths);
  std::vector<sheaf::NetModel> kept(single ? columns : 0);
  std::vector<double> values;
  std::int64_t unconverged = 0;
  const auto train = [&]<class T>(const sheaf::Context& context, const sheaf::Dataset<T>& dataset) {
    Decisions<T> decisions(paths, values);
    const sheaf::UseNets<T> use = [&](std::span<sheaf::NetModel> models, sheaf::BlockView<const T> z) {
      decisions.take(models, z);
      for (auto& model : models) {
        unconverged += model.fit.converged || model.column > 0 ? 0 : 1;
        if (single) kept[column_of(model, paths.sheaf.classes)] = std::move(model);
      }
    };
    sheaf::elastic_nets(context_for(context, dataset, paths), dataset, paths.sheaf, paths.params, single, use);
  };
  run_on_shared(control, x, options, train);
  Rcpp::List answer = path_list(kept);
  const auto rows_of_values = static_cast<std::size_t>(paths.sheaf.examples);
  answer["decisions"] = Rcpp::NumericMatrix(static_cast<int>(rows_of_values),
                                            static_cast<int>(values.size() / rows_of_values), values.begin());
  answer["unconverged"] = static_cast<double>(unconverged);
  return answer;
}

// The models of one path, which ends by itself, and the share of the deviance that each explains.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_net_path(const Rcpp::List& control, SEXP x, const Rcpp::NumericVector& y, const Rcpp::List& options,
                         const Rcpp::List& end) {
  const auto paths = paths_of(y, options);
  const sheaf::PathEnd rule{.least_gain = Rcpp::as<double>(end["least_gain"]),
                            .relative = Rcpp::as<bool>(end["relative"]),
                            .models = Rcpp::as<int>(end["models"]),
                            .most_explained = Rcpp::as<double>(end["most_explained"])};
  sheaf::EndedPath path;
  run_on_shared(control, x, options, [&](const sheaf::Context& context, const auto& dataset) {
    path = sheaf::elastic_net_path(context_for(context, dataset, paths), dataset, paths.sheaf, paths.params, rule);
  });
  Rcpp::List answer = path_list(path.models);
  answer["explained"] = path.explained;
  return answer;
}

// [[Rcpp::export(rng = false)]]
double core_net_largest(const Rcpp::List& control, SEXP x, const Rcpp::NumericVector& y, const Rcpp::List& options) {
  const auto paths = paths_of(y, options);
  double largest = 0;
  run_on_shared(control, x, options, [&](const sheaf::Context& context, const auto& dataset) {
    largest = sheaf::largest_alphas(context, dataset, paths.sheaf, paths.params).front();
  });
  return largest;
}

// Deviances of models by their decision values, and whether the first one is certain of some row; no values: that of
// the model without features.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_net_deviances(const Rcpp::List& response, const Rcpp::NumericVector& decisions, bool intercept) {
  const auto rows = response_of(response);
  if (decisions.size() == 0) return Rcpp::List::create(_["deviance"] = sheaf::null_deviance(rows, intercept));
  const auto values = span_of(decisions);
  return Rcpp::List::create(_["deviance"] = sheaf::net_deviances(rows, values),
                            _["certain"] = sheaf::is_certain(rows, values.first(rows.targets.size())));
}

// Means of a measure; with folds those of held-out rows, and their standard errors.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_net_scores(const Rcpp::List& response, const std::string& measure, const Rcpp::NumericVector& decisions,
                           const std::vector<std::int32_t>& folds, const std::vector<std::int32_t>& groups,
                           bool together) {
  const auto rows = response_of(response);
  const auto kind = sheaf::parse_net_measure(measure);
  if (folds.empty()) return Rcpp::List::create(_["mean"] = sheaf::net_scores(rows, kind, span_of(decisions)));
  const auto found = sheaf::score_net_folds(rows, kind, span_of(decisions), folds, groups, together);
  return Rcpp::List::create(_["mean"] = found.mean, _["error"] = found.error);
}

// The model of one penalty, as text.
// [[Rcpp::export(rng = false)]]
std::string core_net_text(const Rcpp::List& net, const std::string& format) {
  const auto texts = [&](const char* name) { return Rcpp::as<std::vector<std::string>>(net[name]); };
  const auto numbers = [&](const char* name) { return Rcpp::as<std::vector<double>>(net[name]); };
  sheaf::bindings::NetCoefficients parts{.loss = loss_named(Rcpp::as<std::string>(net["loss"])),
                                         .weights = numbers("weights"),
                                         .intercepts = numbers("intercepts"),
                                         .names = texts("names"),
                                         .class_names = texts("class_names"),
                                         .target_names = texts("target_names")};
  parts.training.alpha = Rcpp::as<double>(net["alpha"]);
  parts.training.l1_ratio = Rcpp::as<double>(net["l1_ratio"]);
  parts.training.standardised = Rcpp::as<bool>(net["standardised"]);
  parts.training.grouped = Rcpp::as<bool>(net["grouped"]);
  parts.training.parameter = Rcpp::as<double>(net["parameter"]);
  parts.training.relax = Rcpp::as<double>(net["relax"]);
  return text_of(sheaf::bindings::model_of(std::move(parts)), format);
}

// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector core_choose_net(const std::vector<double>& alphas, const std::vector<double>& shares,
                                    const std::vector<double>& means, const std::vector<double>& errors,
                                    const std::string& measure) {
  std::vector<sheaf::NetPoint> points;
  for (std::size_t p = 0; p < alphas.size(); ++p) points.push_back({alphas[p], shares[p], means[p], errors[p]});
  const auto [best, near] = sheaf::choose_net(points, sheaf::parse_net_measure(measure));
  return {static_cast<int>(best) + 1, static_cast<int>(near) + 1};
}

// [[Rcpp::export(rng = false)]]
std::vector<double> core_martingale(const Rcpp::List& risk, const std::vector<double>& events,
                                    const std::vector<double>& weights, const std::vector<double>& values,
                                    const std::string& ties) {
  const std::vector<float> narrow(weights.begin(), weights.end());
  return sheaf::martingale_residuals(risk_of(risk), events, narrow, values,
                                     ties == "efron" ? sheaf::Ties::efron : sheaf::Ties::breslow);
}

// [[Rcpp::export(rng = false)]]
double core_huber_threshold(const std::vector<double>& targets, const Rcpp::RObject& weights) {
  return sheaf::huber_threshold(targets, "argument 'y'", row_weights_of(weights, std::ssize(targets)));
}

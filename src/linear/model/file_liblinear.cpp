// LIBLINEAR's model file: one keyword a line, then "w" and one line of weights for each feature.
//
//     solver_type L2R_LR
//     nr_class 2
//     label 1 -1
//     nr_feature 13
//     bias 1
//     w
//     0.034519015902634315
//     ...
//
// Regression has no label line, and neither have one-class models, which have a line "rho 0.5" before the weights and
// never a bias. Every number of the weights has a blank behind it. The bias is -1 if there is none; its weights are the
// last line.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/losses.hpp>

#include "core/names.hpp"
#include "core/text.hpp"
#include "data/labels.hpp"
#include "data/text/model_file.hpp"
#include "linear/model/formats.hpp"
#include "linear/model/glm_problem.hpp"

namespace sheaf::linear {
namespace {

bool is_one_class(std::string_view solver) { return solver == "ONECLASS_SVM"; }

struct Heading {
  const LinearSolver* solver = nullptr;
  std::int64_t classes = -1;
  std::int64_t features = -1;
  bool has_bias = false;
  double bias = 0;
  std::optional<double> rho;  // one-class models
  std::vector<std::string> labels;
};

const LinearSolver* read_solver(ModelReader& reader) {
  reader.skip_blanks();
  const auto word = reader.peek();
  std::vector<std::string> names;
  for (const auto& solver : linear_solvers()) {
    if (solver.id < 0) continue;
    if (solver.name == word) {
      reader.take(word);
      return &solver;
    }
    names.emplace_back(solver.name);
  }
  reader.fail_expected("a solver, one of " + join_names(names, "or"));
}

/// Labels as LIBLINEAR prints them: whole numbers.
std::vector<std::string> read_labels(ModelReader& reader, std::int64_t count) {
  std::vector<std::string> labels;
  if (count < 0) reader.fail_here("expected nr_class before the labels");
  for (std::int64_t c = 0; c < count; ++c)
    labels.push_back(std::to_string(reader.number<std::int64_t>("a label, a whole number")));
  return labels;
}

void read_entry(ModelReader& reader, Heading& heading) {
  const auto word = reader.peek();
  if (word == "solver_type") {
    reader.take(word);
    heading.solver = read_solver(reader);
  } else if (word == "nr_class") {
    reader.take(word);
    heading.classes = reader.count("the number of classes", 1);
  } else if (word == "label") {
    reader.take(word);
    heading.labels = read_labels(reader, heading.classes);
  } else if (word == "nr_feature") {
    reader.take(word);
    heading.features = reader.count("the number of features", 0);
  } else if (word == "bias") {
    reader.take(word);
    heading.bias = reader.number<double>("the bias, a number");
    heading.has_bias = heading.bias >= 0;
  } else if (word == "rho") {
    reader.take(word);
    heading.rho = reader.number<double>("rho, a number");
  } else {
    reader.fail_expected("solver_type, nr_class, label, nr_feature, bias, rho or w");
  }
}

Heading read_heading(ModelReader& reader) {
  Heading heading;
  for (reader.skip_space(); reader.peek() != "w"; reader.skip_space()) read_entry(reader, heading);
  const bool one_class = heading.solver != nullptr && is_one_class(heading.solver->name);
  const bool labelled = heading.solver != nullptr && !heading.solver->regression && !one_class;
  if (heading.solver == nullptr) reader.fail_here("no solver_type stands before the weights");
  if (heading.classes < 0) reader.fail_here("no nr_class stands before the weights");
  if (heading.features < 0) reader.fail_here("no nr_feature stands before the weights");
  if (labelled && heading.labels.empty()) reader.fail_here("no labels stand before the weights");
  if (labelled && (heading.classes < 2 || std::ssize(heading.labels) != heading.classes))
    reader.fail_here(fmt::format("{} labels do not suit {}; expected two or more", heading.labels.size(),
                                 counted(heading.classes, "class")));
  if (one_class && !heading.rho) reader.fail_here("no rho stands before the weights of a one-class model");
  if (one_class && heading.has_bias) reader.fail_here("a one-class model has no bias");
  reader.take("w");
  return heading;
}

std::int32_t columns_of(const Heading& heading) {
  if (heading.solver->regression || heading.rho) return 1;
  if (heading.classes == 2 && heading.solver->name != "MCSVM_CS") return 1;
  return static_cast<std::int32_t>(heading.classes);
}

void read_weights(ModelReader& reader, std::int64_t count, std::vector<double>& weights) {
  for (std::int64_t k = 0; k < count; ++k) {
    reader.skip_space();
    weights.push_back(reader.number<double>("a weight, a number"));
  }
}

/// Models that LIBLINEAR does not train are written as those of a solver whose models predict alike.
std::string_view written_solver(const LinearModel& model) {
  if (!model.target_names.empty())
    fail_usage("LIBLINEAR's model files hold one target, and this model has {}; take Sheaf's own format",
               model.target_names.size());
  if (model.glm && !info(model.glm->family).several) {
    const auto loss = glm_kind(model.glm->family, model.glm->link).loss;
    if (const auto same = info(loss).net.applied_as; !same.empty()) return same;
  }
  if (model.glm)
    fail_usage("LIBLINEAR's model files hold no model of the family {} with the link {}; take Sheaf's own format",
               to_string(model.glm->family), to_string(model.glm->link));
  for (const auto& solver : linear_solvers()) {
    if (solver.name != model.solver || solver.id >= 0) continue;
    if (solver.applied_as.empty())
      fail_usage("LIBLINEAR's model files hold no {}; take Sheaf's own format", solver.about);
    return solver.applied_as;
  }
  return model.solver;
}

}  // namespace

LinearModel read_liblinear_model(ModelReader& reader) {
  const auto heading = read_heading(reader);
  LinearModel model;
  model.solver = heading.solver->name;
  if (!heading.solver->regression) model.class_names = heading.labels;
  model.features = heading.features;
  model.columns = columns_of(heading);
  model.bias = std::max(0.0, heading.bias);
  read_weights(reader, model.rows() * model.columns, model.weights);
  if (is_one_class(model.solver)) {  // decision values are x'w - rho
    model.class_names = {"1", "-1"};
    model.bias = 1;
    model.weights.push_back(-*heading.rho);
  }
  std::vector<double> without_effect;  // the weights of a bias of 0
  if (heading.has_bias && model.bias == 0) read_weights(reader, model.columns, without_effect);
  reader.skip_space();
  if (!reader.at_end()) reader.fail_expected("the end of the file");
  return model;
}

std::string format_liblinear_model(const LinearModel& model) {
  std::string text = fmt::format("solver_type {}\nnr_class {}\n", written_solver(model),
                                 model.is_regression() ? 2 : static_cast<int>(model.class_names.size()));
  const bool one_class = is_one_class(model.solver);
  if (!model.is_regression() && !one_class) {
    text += "label";
    for (const auto& name : model.class_names) text += ' ' + integer_label(name, "LIBLINEAR");
    text += '\n';
  }
  const bool has_bias = model.bias > 0 && !one_class;
  text += fmt::format("nr_feature {}\nbias {:.17g}\n", model.features, has_bias ? model.bias : -1.0);
  if (one_class) text += fmt::format("rho {:.17g}\n", -model.bias * model.weights.back());
  text += "w\n";
  for (std::int64_t j = 0; j < (has_bias ? model.rows() : model.features); ++j) {
    for (std::int32_t c = 0; c < model.columns; ++c) {
      require_finite(model.weight(j, c));
      text += fmt::format("{:.17g} ", model.weight(j, c));
    }
    text += '\n';
  }
  return text;
}

}  // namespace sheaf::linear

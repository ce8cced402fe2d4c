// Lines of linear models in Sheaf's own model files, after the lines that all families begin with:
//
//     solver L2R_LR
//     names yes
//     bias 1 penalised
//     cost 1
//     epsilon 0.1
//     class-weights 1 1 2
//     training 3
//     converged 5 steps 14 products objective 17.5 gradient 0.02 tolerance 0.3
//     ...
//     bias-weights 0.25 0.5 -1
//     weights 4
//     1 0.38 0.57 -1.85 sepal length
//     2 - sepal width
//
// A line of weights holds the feature's position, one weight for each decision value ("-": all are 0) and the name.
// Features without weights have a line only if there are names. Lines of class-weights and bias-weights are written
// only if there are some.
//
// The family elastic-net has "names used", lines for features with weights alone, and in place of cost and epsilon
//
//     alpha 0.02 l1-ratio 0.5 plain
//
// Behind the solver of a net of several targets stand their names
//
//     targets 2
//     target weight
//     target height
//
// and there is one weight for each target in a line of weights.
//
// ("standardised": features were penalised as if their standard deviation was 1), for Cox models a line of how ties are
// treated ("ties breslow"), of other losses their parameter ("threshold 0.3" of Huber's, "quantile 0.9"), for penalties
// of a feature's weights in all classes together a line ("penalties grouped"), for relaxed models the share of the
// penalised one ("relax 0.5"), and its training reads
//
//     converged 42 epochs 17 nonzeros objective 0.31 gap 0.00001 tolerance 0.0001
//
// The family glm has in place of cost and epsilon
//
//     glm poisson log newton together
//     alpha 0 parameter 0
//     deviance 51.2 null 88.1 likelihood -190.4 dispersion 1 rows 100 parameters 5 reference 0
//     standard-errors hc0
//     errors 5
//     0.02
//     ...
//
// ("separated": the classes of some rows are certain; reference: its place among the classes from 1 on, 0 if there is
// none), for Cox models
//
//     ties efron
//     events 165 wald 63.2 score 66.1 concordance 0.65
//
// one line of standard errors for each feature and the intercept, if there are any, and one training. The line
// "standard-errors" is written only if they are not from the expected information.
#include <algorithm>
#include <array>

#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/losses.hpp>

#include "core/text.hpp"
#include "data/text/model_file.hpp"
#include "linear/model/formats.hpp"
#include "linear/model/glm_problem.hpp"

namespace sheaf::linear {
namespace {

using Words = std::array<std::string, 2>;
constexpr double any_number = std::numeric_limits<double>::lowest();

template <class File, class Model>
void describe_solver(File& file, Model& model) {
  file.keyword("solver");
  if constexpr (File::reading) {
    file.skip_blanks();
    const auto word = file.peek();
    const auto all = linear_solvers();
    const auto solver = std::find_if(all.begin(), all.end(), [&](const auto& one) {
      return one.name == word && one.net() == model.net.has_value() && one.glm() == model.glm.has_value();
    });
    if (solver == all.end()) file.fail_expected("the name of a solver");
    const bool too_few = solver->loss == Loss::softmax && model.class_names.size() < 3;
    if (too_few || solver->regression != model.class_names.empty())
      file.fail_here(fmt::format("the solver {} does not suit {}", word, counted(model.class_names.size(), "class")));
    model.solver = word;
    const auto count = model.class_names.size();
    const bool one_value = count == 0 || (count == 2 && model.solver != "MCSVM_CS");
    model.columns = one_value ? 1 : static_cast<std::int32_t>(count);
  }
  file.keyword(model.solver);
  file.end_line();
}

/// Lines of a net of several targets.
template <class File, class Model>
void describe_targets(File& file, Model& model) {
  auto count = static_cast<std::int64_t>(model.target_names.size());
  bool several = count > 0;
  if constexpr (File::reading) several = file.peek() == "targets";
  if (!several) return;
  if constexpr (File::reading)
    if (model.solver != net_solver(Loss::squared, false).name)
      file.fail_here(fmt::format("the solver {} does not suit several targets", model.solver));
  file.count("targets", count, [](std::int64_t found) {
    return found > 1 ? std::string() : fmt::format("expected 2 or more, not {}", found);
  });
  name_lines(file, "target", model.target_names, count);
  if constexpr (File::reading) model.columns = static_cast<std::int32_t>(count);
}

/// All names of a kind of choice, in its order.
template <class Choice>
std::vector<std::string> names_up_to(Choice last) {
  std::vector<std::string> names;
  for (int k = 0; k <= static_cast<int>(last); ++k) names.emplace_back(to_string(static_cast<Choice>(k)));
  return names;
}

/// Standard errors: one line for each weight of a decision value.
template <class File, class Model>
void describe_errors(File& file, Model& model) {
  auto& from = model.glm->statistics.errors_from;
  bool named = from != StandardErrors::expected;
  if constexpr (File::reading) named = file.peek() == "standard-errors";
  if (named) choice_line(file, "standard-errors", from, names_up_to(StandardErrors::cluster));
  auto& errors = model.glm->statistics.errors;
  auto lines = errors.empty() ? std::int64_t{0} : model.rows();
  file.count("errors", lines, [&](std::int64_t found) {
    if (found == 0 || found == model.rows()) return std::string();
    return fmt::format("expected 0 or {}, one for each weight, not {}", model.rows(), found);
  });
  const auto width = static_cast<std::size_t>(std::max(1, model.columns - 1));
  if constexpr (File::reading) {
    file.check_room(lines * static_cast<std::int64_t>(width));
    errors.resize(static_cast<std::size_t>(lines) * width);
  }
  for (std::size_t e = 0; e < errors.size(); ++e) {
    file.value(errors[e], "a standard error, a number, 0 or more");
    if (e % width == width - 1) file.end_line();
  }
}

const Words tie_words{"breslow", "efron"};

/// Further lines of Cox models.
template <class File, class Glm>
void describe_survival(File& file, Glm& glm) {
  choice_line(file, "ties", glm.ties, tie_words);
  auto& survival = glm.statistics.survival;
  const auto next = [&](std::string_view key, auto& value) {
    file.keyword(key);
    file.value(value, "a number, 0 or more");
  };
  next("events", survival.events);
  next("wald", survival.wald);
  next("score", survival.score);
  next("concordance", survival.concordance);
  file.end_line();
}

template <class File, class Model>
void describe_glm(File& file, Model& model) {
  static const Words separated{"together", "separated"};
  auto& glm = *model.glm;
  file.keyword("glm");
  file.choice(glm.family, names_up_to(distributions().back().family));
  file.choice(glm.link, names_up_to(GlmLink::sqrt));
  if constexpr (File::reading) {
    const auto known = glm_links(glm.family);
    if (std::find(known.begin(), known.end(), glm.link) == known.end())
      file.fail_here(
          fmt::format("the family {} does not have the link {}", to_string(glm.family), to_string(glm.link)));
    const bool classes = glm_kind(glm.family, glm.link).classes;
    const bool several = glm.family == GlmFamily::multinomial;
    if (classes == model.class_names.empty() || several != (model.columns > 1))
      file.fail_here(fmt::format("the family {} does not suit {}", to_string(glm.family),
                                 counted(model.class_names.size(), "class")));
  }
  file.choice(glm.solver, names_up_to(GlmSolver::accelerated));
  file.choice(glm.separated, separated);
  file.end_line();
  const auto next = [&](std::string_view key, auto& value, double least = 0) {
    file.keyword(key);
    file.value(value, least == 0 ? "a number, 0 or more" : "a number", least);
  };
  auto& statistics = glm.statistics;
  next("alpha", glm.alpha);
  next("parameter", glm.parameter);
  file.end_line();
  next("deviance", statistics.deviance, any_number);
  next("null", statistics.null_deviance, any_number);
  next("likelihood", statistics.log_likelihood, any_number);
  next("dispersion", statistics.dispersion);
  next("rows", statistics.rows);
  next("parameters", statistics.parameters);
  std::int64_t reference = statistics.reference + 1;
  file.keyword("reference");
  file.value(reference, "the place of a class, or 0");
  if constexpr (File::reading) {
    if (reference > static_cast<std::int64_t>(model.class_names.size()) || (model.columns > 1 && reference == 0))
      file.fail_here(fmt::format("there is no class {} to be the reference", reference));
    statistics.reference = static_cast<std::int32_t>(reference) - 1;
  }
  file.end_line();
  if (glm.family == GlmFamily::cox) describe_survival(file, glm);
  describe_errors(file, model);
}

/// The parameter of a net's loss.
template <class File, class Number>
void describe_loss(File& file, const LossParameterInfo& parameter, Number& value) {
  file.keyword(parameter.key);
  file.value(value, "a number " + range_text(parameter));
  if constexpr (File::reading)
    if (!parameter.holds(value)) file.fail_here(fmt::format("{} is {}", parameter.about, range_text(parameter)));
}

template <class File, class Model>
void describe_penalty(File& file, Model& model) {
  static const Words bias_words{"free", "penalised"};
  static const Words scale_words{"plain", "standardised"};
  static const Words group_words{"single", "grouped"};
  const auto next = [&](std::string_view key, auto& value) {
    file.keyword(key);
    file.value(value, "a number, 0 or more");
  };
  next("bias", model.bias);
  file.choice(model.penalise_bias, bias_words);
  file.end_line();
  if (model.glm) {
    describe_glm(file, model);
    return optional_numbers(file, "class-weights", model.class_weights, model.class_names.size());
  }
  if (model.net) {
    next("alpha", model.net->alpha);
    next("l1-ratio", model.net->l1_ratio);
    file.choice(model.net->standardised, scale_words);
    if (net_loss(model) == Loss::cox) {
      file.end_line();
      file.keyword("ties");
      file.choice(model.net->ties, tie_words);
    }
    if (const auto& parameter = info(net_loss(model)).parameter; !parameter.name.empty()) {
      file.end_line();
      describe_loss(file, parameter, model.net->parameter);
    }
    file.end_line();
    bool grouped = model.net->grouped;
    if constexpr (File::reading) grouped = file.peek() == "penalties";
    if (grouped) choice_line(file, "penalties", model.net->grouped, group_words);
    bool relaxed = model.net->relax < 1;
    if constexpr (File::reading) relaxed = file.peek() == "relax";
    if (relaxed) {
      next("relax", model.net->relax);
      if constexpr (File::reading)
        if (!(model.net->relax < 1)) file.fail_here("the share of the penalised model is below 1");
      file.end_line();
    }
  } else {
    next("cost", model.cost);
    file.end_line();
    next("epsilon", model.epsilon);
    file.end_line();
  }
  optional_numbers(file, "class-weights", model.class_weights, model.class_names.size());
}

/// Whether a training converged, and its counts and figures: each with its name, counts behind and figures before it.
template <class File, class Fit>
void describe_fit(File& file, Fit& fit, auto& first, std::string_view first_name, auto& second,
                  std::string_view second_name, auto& measure, std::string_view measure_name) {
  static const Words words{"unfinished", "converged"};
  file.choice(fit.converged, words);
  file.value(first, "a count");
  file.keyword(first_name);
  file.value(second, "a count");
  file.keyword(second_name);
  const auto next = [&](std::string_view key, auto& value) {
    file.keyword(key);
    file.value(value, "a number, 0 or more");
  };
  file.keyword("objective");
  file.value(fit.objective, "a number", any_number);
  next(measure_name, measure);
  next("tolerance", fit.tolerance);
  file.end_line();
}

template <class File, class Fits, class Describe>
void describe_fits(File& file, Fits& fits, std::int32_t columns, const Describe& describe) {
  auto count = static_cast<std::int64_t>(fits.size());
  file.count("training", count, [&](std::int64_t found) {
    if (found == 0 || found == columns) return std::string();
    return fmt::format("expected 0 or {}, one for each decision value, not {}", columns, found);
  });
  if constexpr (File::reading) fits.resize(static_cast<std::size_t>(count));
  for (auto& fit : fits) describe(fit);
}

template <class File, class Model>
void describe_training(File& file, Model& model) {
  if (model.glm) {
    auto& fit = model.glm->fit;
    file.keyword("training");
    describe_fit(file, fit, fit.iterations, "steps", fit.products, "products", fit.gradient_norm, "gradient");
  } else if (model.net)
    describe_fits(file, model.net->fits, model.columns, [&](auto& fit) {
      auto gap = std::clamp(fit.gap, 0.0, std::numeric_limits<double>::max());
      describe_fit(file, fit, fit.epochs, "epochs", fit.nonzeros, "nonzeros", gap, "gap");
      if constexpr (File::reading) fit.gap = gap;
    });
  else
    describe_fits(file, model.fits, model.columns, [&](auto& fit) {
      describe_fit(file, fit, fit.iterations, "steps", fit.products, "products", fit.gradient_norm, "gradient");
    });
}

/// The weights of one feature, or of the bias.
template <class File, class Model>
void describe_row(File& file, Model& model, std::int64_t row) {
  const auto columns = static_cast<std::size_t>(model.columns);
  for (auto& weight : std::span(model.weights).subspan(static_cast<std::size_t>(row) * columns, columns))
    file.value(weight, "a weight, a number", any_number);
}

void write_weights(ModelWriter& file, const LinearModel& model, bool named) {
  const auto columns = static_cast<std::ptrdiff_t>(model.columns);
  std::vector<std::pair<std::int64_t, bool>> lines;  // which features, and whether they have weights
  for (std::int64_t j = 0; j < model.features; ++j) {
    const auto begin = model.weights.begin() + j * columns;
    const bool used = std::any_of(begin, begin + columns, [](double weight) { return weight != 0; });
    if (used || (named && !model.net)) lines.emplace_back(j, used);
  }
  file.count("weights", static_cast<std::int64_t>(lines.size()), any_count);
  for (const auto& [j, used] : lines) {
    file.value(j + 1, {});
    if (used)
      describe_row(file, model, j);
    else
      file.keyword("-");
    if (named) file.name(model.feature_names[static_cast<std::size_t>(j)], {});
    file.end_line();
  }
}

/// Positions ascend, so that no feature has two lines.
void read_feature(ModelReader& file, LinearModel& model, bool named, std::int64_t& last) {
  const bool all = named && !model.net;
  const auto before = file;
  const auto position = file.count("the position of a feature", 1);
  if (position <= last || position > model.features || (all && position != last + 1))
    before.fail_here(fmt::format("expected feature {}{}, not {}", last + 1, all ? "" : " or a later one", position));
  last = position;
  file.skip_blanks();
  if (file.peek() == "-")
    file.take("-");
  else
    describe_row(file, model, position - 1);
  if (named) file.name(model.feature_names[static_cast<std::size_t>(position - 1)], "the name of the feature");
  file.end_line();
}

void read_weights(ModelReader& file, LinearModel& model, bool named) {
  std::int64_t lines = 0;
  file.count("weights", lines, [&](std::int64_t found) {
    if (found <= model.features && (!named || model.net || found == model.features)) return std::string();
    return fmt::format("found {} for {}", counted(found, "line"), counted(model.features, "feature"));
  });
  std::int64_t last = 0;
  for (std::int64_t k = 0; k < lines; ++k) read_feature(file, model, named, last);
}

template <class File, class Model>
void describe(File& file, Model& model) {
  describe_classes_and_features(file, model);
  describe_solver(file, model);
  describe_targets(file, model);
  bool named = !model.feature_names.empty();
  choice_line(file, "names", named, Words{"no", model.net ? "used" : "yes"});
  describe_penalty(file, model);
  describe_training(file, model);
  if constexpr (File::reading) {
    file.check_features(model.rows() * model.columns);
    if (named && !model.net) file.check_room(model.features);
    model.weights.assign(static_cast<std::size_t>(model.rows() * model.columns), 0.0);
    if (named) model.feature_names.resize(static_cast<std::size_t>(model.features));
  }
  if (model.bias > 0) {
    file.keyword("bias-weights");
    describe_row(file, model, model.features);
    file.end_line();
  }
  if constexpr (File::reading)
    read_weights(file, model, named);
  else
    write_weights(file, model, named);
}

}  // namespace

LinearModel read_sheaf_model(ModelReader& reader, std::string_view family) {
  LinearModel model;
  if (family == "elastic-net") model.net.emplace();
  if (family == "glm") model.glm.emplace();
  describe(reader, model);
  return model;
}

void write_sheaf_model(ModelWriter& file, const LinearModel& model) { describe(file, model); }

}  // namespace sheaf::linear

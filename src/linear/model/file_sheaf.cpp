// Sheaf's own model file: readable, exact, with names.
//
//     sheaf-linear-model 1
//     solver L2R_LR
//     classes 3
//     class setosa
//     class versicolor
//     class virginica
//     features 4
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
// Features without weights have a line only where there are names. Numbers are the shortest that read back the same;
// names have \\ \n \r for backslash and line ends. class-weights, bias-weights and names stand only where there are
// some.
//
// An elastic net has "names used", lines for features with weights alone, and in place of cost and epsilon
//
//     alpha 0.02 l1-ratio 0.5 plain
//
// ("standardised": features were penalised as if their standard deviation was 1), and its training reads
//
//     converged 42 epochs 17 nonzeros objective 0.31 gap 0.00001 tolerance 0.0001
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <sheaf/io.hpp>
#include <sheaf/linear_model.hpp>

#include "data/read/text_source.hpp"
#include "data/text/escape.hpp"
#include "linear/model/formats.hpp"

namespace sheaf {
namespace linear {
namespace {

constexpr int version = 1;

std::string joined(std::span<const double> numbers) {
  std::string text;
  for (const double number : numbers) text += fmt::format(" {}", number);
  return text;
}

std::span<const double> weights_of(const LinearModel& model, std::int64_t row) {
  const auto columns = static_cast<std::size_t>(model.columns);
  return std::span(model.weights).subspan(static_cast<std::size_t>(row) * columns, columns);
}

bool all_zero(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double number) { return number == 0; });
}

/// Which features are named.
enum class Named : std::uint8_t { none, all, used };

std::string_view to_word(Named named) { return named == Named::none ? "no" : named == Named::all ? "yes" : "used"; }

Named names_of(const LinearModel& model) {
  if (model.feature_names.empty()) return Named::none;
  return model.net ? Named::used : Named::all;
}

std::string heading_text(const LinearModel& model) {
  std::string text =
      fmt::format("{} {}\nsolver {}\nclasses {}\n", model_magic, version, model.solver, model.class_names.size());
  for (const auto& name : model.class_names) text += "class " + escape_line(name) + '\n';
  text += fmt::format("features {}\nnames {}\n", model.features, to_word(names_of(model)));
  text += fmt::format("bias {} {}\n", model.bias, model.penalise_bias ? "penalised" : "free");
  if (model.net)
    text += fmt::format("alpha {} l1-ratio {} {}\n", model.net->alpha, model.net->l1_ratio,
                        model.net->standardised ? "standardised" : "plain");
  else
    text += fmt::format("cost {}\nepsilon {}\n", model.cost, model.epsilon);
  if (!model.class_weights.empty()) text += "class-weights" + joined(model.class_weights) + '\n';
  return text;
}

std::string net_training_text(const NetTraining& net) {
  std::string text = fmt::format("training {}\n", net.fits.size());
  for (const auto& fit : net.fits)
    text += fmt::format("{} {} epochs {} nonzeros objective {} gap {} tolerance {}\n",
                        fit.converged ? "converged" : "unfinished", fit.epochs, fit.nonzeros, fit.objective,
                        std::clamp(fit.gap, 0.0, std::numeric_limits<double>::max()), fit.tolerance);
  return text;
}

std::string training_text(const LinearModel& model) {
  if (model.net) return net_training_text(*model.net);
  std::string text = fmt::format("training {}\n", model.fits.size());
  for (const auto& fit : model.fits)
    text += fmt::format("{} {} steps {} products objective {} gradient {} tolerance {}\n",
                        fit.converged ? "converged" : "unfinished", fit.iterations, fit.products, fit.objective,
                        fit.gradient_norm, fit.tolerance);
  return text;
}

std::string weights_text(const LinearModel& model) {
  std::string text;
  std::int64_t lines = 0;
  const auto names = names_of(model);
  for (std::int64_t j = 0; j < model.features; ++j) {
    const auto weights = weights_of(model, j);
    const bool zero = all_zero(weights);
    if (zero && names != Named::all) continue;
    text += std::to_string(j + 1) + (zero ? " -" : joined(weights));
    if (names != Named::none) text += ' ' + escape_line(model.feature_names[static_cast<std::size_t>(j)]);
    text += '\n';
    ++lines;
  }
  return fmt::format("weights {}\n", lines) + text;
}

bool is_net(std::string_view name) {
  const auto all = linear_solvers();
  return std::any_of(all.begin(), all.end(), [&](const auto& solver) { return solver.name == name && solver.net(); });
}

std::string read_solver(ModelReader& reader) {
  reader.keyword("solver");
  reader.skip_blanks();
  std::string name(reader.peek());
  const auto all = linear_solvers();
  if (std::none_of(all.begin(), all.end(), [&](const auto& solver) { return solver.name == name; }))
    reader.fail_expected("the name of a solver");
  reader.take(name);
  reader.end_line();
  return name;
}

void read_classes(ModelReader& reader, LinearModel& model) {
  reader.keyword("classes");
  const auto before = reader;
  const auto count = reader.count("the number of classes", 0);
  if ((count == 0) != model.is_regression())
    before.fail_here(fmt::format("{} classes do not suit the solver {}", count, model.solver));
  reader.end_line();
  for (std::int64_t c = 0; c < count; ++c) {
    reader.keyword("class");
    model.class_names.push_back(reader.escaped_rest("the name of a class"));
    reader.end_line();
  }
  const bool one_value = count == 0 || (count == 2 && model.solver != "MCSVM_CS");
  model.columns = one_value ? 1 : static_cast<std::int32_t>(count);
}

/// One of two words; whether it was the first.
bool read_choice(ModelReader& reader, std::string_view yes, std::string_view no) {
  reader.skip_blanks();
  const auto word = reader.peek();
  if (word != yes && word != no) reader.fail_expected(fmt::format("{} or {}", yes, no));
  reader.take(word);
  return word == yes;
}

Named read_names(ModelReader& reader, bool net) {
  reader.keyword("names");
  reader.skip_blanks();
  const auto word = reader.peek();
  for (const auto named : {Named::none, net ? Named::used : Named::all})
    if (word == to_word(named)) {
      reader.take(word);
      reader.end_line();
      return named;
    }
  reader.fail_expected(net ? "used or no" : "yes or no");
}

double read_amount(ModelReader& reader, std::string_view keyword) {
  reader.keyword(keyword);
  reader.skip_blanks();
  const auto before = reader;
  const auto value = reader.number<double>("a number, 0 or more");
  if (value < 0) before.fail_expected("a number, 0 or more");
  return value;
}

void read_penalty(ModelReader& reader, LinearModel& model) {
  if (!model.net) {
    model.cost = read_amount(reader, "cost");
    reader.end_line();
    model.epsilon = read_amount(reader, "epsilon");
  } else {
    model.net->alpha = read_amount(reader, "alpha");
    model.net->l1_ratio = read_amount(reader, "l1-ratio");
    model.net->standardised = read_choice(reader, "standardised", "plain");
  }
  reader.end_line();
}

void read_parameters(ModelReader& reader, LinearModel& model) {
  model.bias = read_amount(reader, "bias");
  model.penalise_bias = read_choice(reader, "penalised", "free");
  reader.end_line();
  read_penalty(reader, model);
  if (reader.peek() != "class-weights") return;
  reader.keyword("class-weights");
  for (std::size_t c = 0; c < model.class_names.size(); ++c)
    model.class_weights.push_back(reader.number<double>("the weight of a class"));
  reader.end_line();
}

TaskFit read_fit(ModelReader& reader) {
  TaskFit fit;
  fit.converged = read_choice(reader, "converged", "unfinished");
  fit.iterations = reader.number<int>("the number of steps");
  reader.keyword("steps");
  fit.products = reader.number<int>("the number of products");
  reader.keyword("products");
  fit.objective = read_amount(reader, "objective");
  fit.gradient_norm = read_amount(reader, "gradient");
  fit.tolerance = read_amount(reader, "tolerance");
  reader.end_line();
  return fit;
}

NetFit read_net_fit(ModelReader& reader) {
  NetFit fit;
  fit.converged = read_choice(reader, "converged", "unfinished");
  fit.epochs = reader.number<std::int32_t>("the number of epochs");
  reader.keyword("epochs");
  fit.nonzeros = reader.number<std::int32_t>("the number of nonzeros");
  reader.keyword("nonzeros");
  fit.objective = read_amount(reader, "objective");
  fit.gap = read_amount(reader, "gap");
  fit.tolerance = read_amount(reader, "tolerance");
  reader.end_line();
  return fit;
}

void read_training(ModelReader& reader, LinearModel& model) {
  reader.keyword("training");
  const auto before = reader;
  const auto count = reader.count("how many fits follow", 0);
  if (count != 0 && count != model.columns)
    before.fail_here(fmt::format("expected 0 or {}, one for each decision value, not {}", model.columns, count));
  reader.end_line();
  for (std::int64_t c = 0; c < count; ++c)
    if (model.net)
      model.net->fits.push_back(read_net_fit(reader));
    else
      model.fits.push_back(read_fit(reader));
}

void read_row(ModelReader& reader, std::int64_t row, LinearModel& model) {
  for (std::int32_t c = 0; c < model.columns; ++c)
    model.weights[static_cast<std::size_t>(row * model.columns + c)] = reader.number<double>("a weight, a number");
}

/// Positions ascend, so that no feature has two lines.
void read_feature(ModelReader& reader, Named named, std::int64_t& last, LinearModel& model) {
  const auto before = reader;
  const auto position = reader.count("the position of a feature", 1);
  const bool all = named == Named::all;
  if (position <= last || position > model.features || (all && position != last + 1))
    before.fail_here(fmt::format("expected feature {}{}, not {}", last + 1, all ? "" : " or a later one", position));
  last = position;
  reader.skip_blanks();
  if (reader.peek() == "-")
    reader.take("-");
  else
    read_row(reader, position - 1, model);
  if (named != Named::none)
    model.feature_names[static_cast<std::size_t>(position - 1)] = reader.escaped_rest("the name of the feature");
  reader.end_line();
}

void read_weights(ModelReader& reader, Named named, LinearModel& model) {
  if (named != Named::none) model.feature_names.resize(static_cast<std::size_t>(model.features));
  if (model.bias > 0) {
    reader.keyword("bias-weights");
    read_row(reader, model.features, model);
    reader.end_line();
  }
  reader.keyword("weights");
  const auto before = reader;
  const auto lines = reader.count("the number of lines that follow", 0);
  if (lines > model.features || (named == Named::all && lines != model.features))
    before.fail_here(fmt::format("{} lines do not suit {} features", lines, model.features));
  reader.end_line();
  std::int64_t last = 0;
  for (std::int64_t k = 0; k < lines; ++k) read_feature(reader, named, last, model);
}

}  // namespace

LinearModel parse_sheaf_model(ModelReader& reader) {
  LinearModel model;
  reader.heading(model_magic, version);
  model.solver = read_solver(reader);
  if (is_net(model.solver)) model.net.emplace();
  read_classes(reader, model);
  reader.keyword("features");
  model.features = reader.count("the number of features", 0);
  reader.end_line();
  const auto named = read_names(reader, model.net.has_value());
  read_parameters(reader, model);
  read_training(reader, model);
  model.weights.assign(static_cast<std::size_t>(model.rows() * model.columns), 0.0);
  read_weights(reader, named, model);
  if (!reader.at_end()) reader.fail_expected("the end of the file");
  return model;
}

std::string format_sheaf_model(const LinearModel& model) {
  std::string text = heading_text(model) + training_text(model);
  if (model.bias > 0) text += "bias-weights" + joined(weights_of(model, model.features)) + '\n';
  return text + weights_text(model);
}

}  // namespace linear

std::string format_model(const LinearModel& model, ModelFormat format) {
  return format == ModelFormat::sheaf ? linear::format_sheaf_model(model) : linear::format_liblinear_model(model);
}

void save_model(const LinearModel& model, const std::string& path, ModelFormat format) {
  write_text_file(path, format_model(model, format));
}

LinearModel parse_model(std::string_view text, const std::string& name) {
  ModelReader reader(name, text);
  if (text.starts_with(linear::model_magic)) return linear::parse_sheaf_model(reader);
  reader.skip_space();
  if (reader.peek() != "solver_type")
    reader.fail_here(fmt::format("this is no model: it begins neither with {} nor, as LIBLINEAR's do, with solver_type",
                                 linear::model_magic));
  return linear::parse_liblinear_model(reader);
}

LinearModel load_model(const std::string& path) {
  const TextSource source(path, silent_progress());
  return parse_model(source.text(), path);
}

}  // namespace sheaf

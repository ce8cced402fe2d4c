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
#include <algorithm>

#include <sheaf/io.hpp>
#include <sheaf/linear_model.hpp>

#include "core/escape.hpp"
#include "data/text_source.hpp"
#include "linear/model_reader.hpp"

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

std::string heading_text(const LinearModel& model) {
  std::string text =
      fmt::format("{} {}\nsolver {}\nclasses {}\n", model_magic, version, model.solver, model.class_names.size());
  for (const auto& name : model.class_names) text += "class " + escape_line(name) + '\n';
  text += fmt::format("features {}\nnames {}\n", model.features, model.feature_names.empty() ? "no" : "yes");
  text += fmt::format("bias {} {}\n", model.bias, model.penalise_bias ? "penalised" : "free");
  text += fmt::format("cost {}\nepsilon {}\n", model.cost, model.epsilon);
  if (!model.class_weights.empty()) text += "class-weights" + joined(model.class_weights) + '\n';
  return text;
}

std::string training_text(const LinearModel& model) {
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
  const bool named = !model.feature_names.empty();
  for (std::int64_t j = 0; j < model.features; ++j) {
    const auto weights = weights_of(model, j);
    const bool zero = all_zero(weights);
    if (zero && !named) continue;
    text += std::to_string(j + 1) + (zero ? " -" : joined(weights));
    if (named) text += ' ' + escape_line(model.feature_names[static_cast<std::size_t>(j)]);
    text += '\n';
    ++lines;
  }
  return fmt::format("weights {}\n", lines) + text;
}

void read_version(ModelReader& reader) {
  reader.keyword(model_magic);
  reader.skip_blanks();
  const auto before = reader;
  const int found = reader.number<int>("the version of the file");
  if (found != version)
    before.fail_here(fmt::format("version {} of the file is not known to this program, only {}", found, version));
  reader.end_line();
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

double read_amount(ModelReader& reader, std::string_view keyword) {
  reader.keyword(keyword);
  reader.skip_blanks();
  const auto before = reader;
  const auto value = reader.number<double>("a number, 0 or more");
  if (value < 0) before.fail_expected("a number, 0 or more");
  return value;
}

void read_parameters(ModelReader& reader, LinearModel& model) {
  model.bias = read_amount(reader, "bias");
  model.penalise_bias = read_choice(reader, "penalised", "free");
  reader.end_line();
  model.cost = read_amount(reader, "cost");
  reader.end_line();
  model.epsilon = read_amount(reader, "epsilon");
  reader.end_line();
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

void read_training(ModelReader& reader, LinearModel& model) {
  reader.keyword("training");
  const auto before = reader;
  const auto count = reader.count("how many fits are told", 0);
  if (count != 0 && count != model.columns)
    before.fail_here(fmt::format("expected 0 or {}, one for each decision value, not {}", model.columns, count));
  reader.end_line();
  for (std::int64_t c = 0; c < count; ++c) model.fits.push_back(read_fit(reader));
}

void read_row(ModelReader& reader, std::int64_t row, LinearModel& model) {
  for (std::int32_t c = 0; c < model.columns; ++c)
    model.weights[static_cast<std::size_t>(row * model.columns + c)] = reader.number<double>("a weight, a number");
}

/// Positions ascend, so that no feature has two lines.
void read_feature(ModelReader& reader, bool named, std::int64_t& last, LinearModel& model) {
  const auto before = reader;
  const auto position = reader.count("the position of a feature", 1);
  if (position <= last || position > model.features || (named && position != last + 1))
    before.fail_here(fmt::format("expected feature {}{}, not {}", last + 1, named ? "" : " or a later one", position));
  last = position;
  reader.skip_blanks();
  if (reader.peek() == "-")
    reader.take("-");
  else
    read_row(reader, position - 1, model);
  if (named) model.feature_names.push_back(reader.escaped_rest("the name of the feature"));
  reader.end_line();
}

void read_weights(ModelReader& reader, bool named, LinearModel& model) {
  if (model.bias > 0) {
    reader.keyword("bias-weights");
    read_row(reader, model.features, model);
    reader.end_line();
  }
  reader.keyword("weights");
  const auto before = reader;
  const auto lines = reader.count("the number of lines that follow", 0);
  if (lines > model.features || (named && lines != model.features))
    before.fail_here(fmt::format("{} lines do not suit {} features", lines, model.features));
  reader.end_line();
  std::int64_t last = 0;
  for (std::int64_t k = 0; k < lines; ++k) read_feature(reader, named, last, model);
}

}  // namespace

LinearModel parse_sheaf_model(ModelReader& reader) {
  LinearModel model;
  read_version(reader);
  model.solver = read_solver(reader);
  read_classes(reader, model);
  reader.keyword("features");
  model.features = reader.count("the number of features", 0);
  reader.end_line();
  reader.keyword("names");
  const bool named = read_choice(reader, "yes", "no");
  reader.end_line();
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
  linear::ModelReader reader(name, text);
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

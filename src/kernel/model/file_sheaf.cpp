// Sheaf's own file of SVMs: readable, exact, with names.
//
//     sheaf-svm-model 1
//     type c_svc
//     kernel rbf
//     degree 3
//     gamma 0.25
//     coef0 0
//     classes 3
//     class setosa
//     class versicolor
//     class virginica
//     multi-class one-vs-one
//     decide automatic
//     features 4
//     names yes
//     feature sepal length
//     ...
//     cost 1
//     nu 0.5
//     epsilon 0.1
//     class-weights 1 1 2
//     machines 3
//     rho 0.0397 converged 42 steps objective -2.4 violation 0.0004 margin 1 bounded 2 rows 100
//     ...
//     sigmoid-a -3.5 -3.7 -3.2
//     sigmoid-b 0.04 0.08 0.05
//     support 45
//     1 2 0 0.44 1 0.95 1:5.7 2:4.4 3:1.5 4:0.4
//
// A line of support holds the class (from 1; 0: no classes), the number of binary SVMs ("machines") it is a support
// vector of, each of them (from 0) with its coefficient, and the features, or 0:ROW for a precomputed kernel. Numbers
// have as few digits as read back the same number; names have \\ \n \r for backslash and line ends. class-weights,
// feature, sigmoid and density-marks lines may be missing; an SVM whose training is not known has its rho alone.
#include <algorithm>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/text/escape.hpp"
#include "kernel/model/file_text.hpp"
#include "kernel/model/plan.hpp"

namespace sheaf::kernel {
namespace {

constexpr int version = 1;

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& function : kernel_functions()) names.emplace_back(function.name);
  return names;
}
const std::vector<std::string>& multi_class_names() {
  static const std::vector<std::string> names{"one-vs-one", "one-vs-rest"};
  return names;
}
const std::vector<std::string>& rule_names() {
  static const std::vector<std::string> names{"automatic", "votes", "winner"};
  return names;
}

std::string numbers_line(std::string_view key, std::span<const double> numbers) {
  if (numbers.empty()) return {};
  std::string text(key);
  for (const double number : numbers) text += fmt::format(" {}", number);
  return text + '\n';
}

std::string heading_text(const SvmModel& model) {
  auto text = fmt::format("{} {}\ntype {}\nkernel {}\ndegree {}\ngamma {}\ncoef0 {}\nclasses {}\n", svm_magic, version,
                          to_string(model.kind), to_string(model.kernel.type), model.kernel.degree, model.kernel.gamma,
                          model.kernel.coef0, model.class_names.size());
  for (const auto& name : model.class_names) text += "class " + escape_line(name) + '\n';
  text += fmt::format("multi-class {}\ndecide {}\nfeatures {}\nnames {}\n",
                      multi_class_names()[static_cast<std::size_t>(model.multi_class)],
                      rule_names()[static_cast<std::size_t>(model.rule)], model.features,
                      model.feature_names.empty() ? "no" : "yes");
  for (const auto& name : model.feature_names) text += "feature " + escape_line(name) + '\n';
  text += fmt::format("cost {}\nnu {}\nepsilon {}\n", model.cost, model.nu, model.epsilon);
  return text + numbers_line("class-weights", model.class_weights);
}

std::string svms_text(const SvmModel& model) {
  auto text = fmt::format("machines {}\n", model.svms.size());
  for (std::size_t m = 0; m < model.svms.size(); ++m) {
    text += fmt::format("rho {}", model.svms[m].rho);
    if (!model.fits.empty()) {
      const auto& fit = model.fits[m];
      text += fmt::format(" {} {} steps objective {} violation {} margin {} bounded {} rows {}",
                          fit.converged ? "converged" : "unfinished", fit.iterations, fit.objective, fit.violation,
                          fit.margin, fit.bounded, fit.rows);
    }
    text += '\n';
  }
  return text + numbers_line("sigmoid-a", model.sigmoid_a) + numbers_line("sigmoid-b", model.sigmoid_b) +
         numbers_line("density-marks", model.density_marks);
}

std::string support_text(const SvmModel& model) {
  std::vector<std::vector<std::pair<std::size_t, double>>> terms(static_cast<std::size_t>(model.support_vectors()));
  for (std::size_t m = 0; m < model.svms.size(); ++m)
    for (std::size_t k = 0; k < model.svms[m].rows.size(); ++k)
      terms[static_cast<std::size_t>(model.svms[m].rows[k])].emplace_back(m, model.svms[m].coefficients[k]);
  auto text = fmt::format("support {}\n", terms.size());
  for (std::size_t s = 0; s < terms.size(); ++s) {
    text += fmt::format("{} {} ", model.support_classes.empty() ? 0 : model.support_classes[s] + 1, terms[s].size());
    for (const auto& [svm, coefficient] : terms[s]) text += fmt::format("{} {} ", svm, coefficient);
    append_features(model, static_cast<std::int64_t>(s), text);
    text.back() = '\n';
  }
  return text;
}

std::size_t read_choice(ModelReader& reader, std::string_view key, std::span<const std::string> names) {
  reader.keyword(key);
  reader.skip_blanks();
  const auto word = reader.peek();
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) reader.fail_expected(join_names(names, "or"));
  reader.take(word);
  reader.end_line();
  return static_cast<std::size_t>(found - names.begin());
}

double read_number(ModelReader& reader, std::string_view key) {
  reader.keyword(key);
  const auto value = reader.number<double>("a number");
  reader.end_line();
  return value;
}

std::int64_t read_count(ModelReader& reader, std::string_view key) {
  reader.keyword(key);
  const auto value = reader.count(fmt::format("the number of {}", key), 0);
  reader.end_line();
  return value;
}

std::vector<std::string> read_names(ModelReader& reader, std::string_view key, std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t k = 0; k < count; ++k) {
    reader.keyword(key);
    names.push_back(reader.escaped_rest("a name"));
    reader.end_line();
  }
  return names;
}

/// A line that may be missing.
std::vector<double> read_numbers(ModelReader& reader, std::string_view key, std::size_t count) {
  std::vector<double> numbers;
  if (reader.peek() != key) return numbers;
  reader.take(key);
  for (std::size_t k = 0; k < count; ++k) numbers.push_back(reader.number<double>("a number"));
  reader.end_line();
  return numbers;
}

void read_heading(ModelReader& reader, SvmModel& model) {
  reader.heading(svm_magic, version);
  model.kind = static_cast<SvmKind>(read_choice(reader, "type", kind_names()));
  model.kernel.type = kernel_functions()[read_choice(reader, "kernel", kernel_names())].type;
  reader.keyword("degree");
  model.kernel.degree = static_cast<int>(reader.count("the degree", 0));
  reader.end_line();
  model.kernel.gamma = read_number(reader, "gamma");
  model.kernel.coef0 = read_number(reader, "coef0");
  model.class_names = read_names(reader, "class", read_count(reader, "classes"));
  model.multi_class = static_cast<MultiClass>(read_choice(reader, "multi-class", multi_class_names()));
  model.rule = static_cast<ClassRule>(read_choice(reader, "decide", rule_names()));
  model.features = read_count(reader, "features");
  static const std::vector<std::string> yes_or_no{"yes", "no"};
  if (read_choice(reader, "names", yes_or_no) == 0) model.feature_names = read_names(reader, "feature", model.features);
  model.cost = read_number(reader, "cost");
  model.nu = read_number(reader, "nu");
  model.epsilon = read_number(reader, "epsilon");
  model.class_weights = read_numbers(reader, "class-weights", model.class_names.size());
}

SvmTraining read_training(ModelReader& reader) {
  SvmTraining fit;
  const auto word = reader.peek();
  if (word != "converged" && word != "unfinished") reader.fail_expected("converged or unfinished");
  fit.converged = word == "converged";
  reader.take(word);
  fit.iterations = reader.number<std::int64_t>("the number of steps");
  reader.keyword("steps");
  const auto next = [&](std::string_view key, double& value) {
    reader.keyword(key);
    value = reader.number<double>("a number");
  };
  next("objective", fit.objective);
  next("violation", fit.violation);
  next("margin", fit.margin);
  reader.keyword("bounded");
  fit.bounded = static_cast<std::int32_t>(reader.count("the number of vectors at their bound", 0));
  reader.keyword("rows");
  fit.rows = reader.count("the number of rows", 0);
  return fit;
}

void read_svms(ModelReader& reader, SvmModel& model) {
  const auto wanted = sides_of(model.kind, model.class_names.size(), model.multi_class).size();
  reader.skip_blanks();
  const auto before = reader;
  const auto count = static_cast<std::size_t>(read_count(reader, "machines"));
  if (count != wanted) before.fail_here(fmt::format("such a model has {} SVMs, not {}", wanted, count));
  for (std::size_t m = 0; m < count; ++m) {
    reader.keyword("rho");
    model.svms.push_back({{}, {}, reader.number<double>("rho, a number")});
    reader.skip_blanks();
    if (!reader.at_line_end()) model.fits.push_back(read_training(reader));
    reader.end_line();
  }
  if (!model.fits.empty() && model.fits.size() != count)
    reader.fail_here("the training of all SVMs must be given, or of none");
  model.sigmoid_a = read_numbers(reader, "sigmoid-a", count);
  model.sigmoid_b = read_numbers(reader, "sigmoid-b", model.has_classes() ? count : 0);
  model.density_marks = read_numbers(reader, "density-marks", density_mark_count);
  if (model.has_classes() && model.sigmoid_a.size() != model.sigmoid_b.size())
    reader.fail_here("sigmoid-a and sigmoid-b must stand together");
}

/// The class of the next support vector; classes ascend.
void read_class(ModelReader& reader, SvmModel& model) {
  reader.skip_blanks();
  const auto before = reader;
  const auto number = static_cast<std::int32_t>(reader.count("a class, a number", 0));
  const auto classes = static_cast<std::int32_t>(model.class_names.size());
  if (!model.has_classes()) return;
  if (number < 1 || number > classes)
    before.fail_here(fmt::format("expected a class, 1 to {}, not {}", classes, number));
  if (!model.support_classes.empty() && number - 1 < model.support_classes.back())
    before.fail_here("support vectors must stand class after class");
  model.support_classes.push_back(number - 1);
}

void read_support(ModelReader& reader, SvmModel& model) {
  const auto count = read_count(reader, "support");
  SupportReader support(model);
  for (std::int64_t s = 0; s < count; ++s) {
    read_class(reader, model);
    const auto terms = reader.count("the number of SVMs", 0);
    for (std::int64_t k = 0; k < terms; ++k) {
      reader.skip_blanks();
      const auto before = reader;
      const auto m = static_cast<std::size_t>(reader.count("an SVM, a number", 0));
      if (m >= model.svms.size())
        before.fail_here(fmt::format("there are {} SVMs, counted from 0, and none of number {}", model.svms.size(), m));
      model.svms[m].rows.push_back(static_cast<std::int32_t>(s));
      model.svms[m].coefficients.push_back(reader.number<double>("a coefficient, a number"));
    }
    support.read_features(reader);
  }
  support.finish();
}

}  // namespace

SvmModel parse_sheaf_svm(ModelReader& reader) {
  SvmModel model;
  read_heading(reader, model);
  read_svms(reader, model);
  read_support(reader, model);
  for (std::size_t m = 0; m < model.fits.size(); ++m)
    model.fits[m].support = static_cast<std::int32_t>(model.svms[m].rows.size());
  if (!reader.at_end()) reader.fail_expected("the end of the file");
  return model;
}

std::string format_sheaf_svm(const SvmModel& model) {
  return heading_text(model) + svms_text(model) + support_text(model);
}

}  // namespace sheaf::kernel

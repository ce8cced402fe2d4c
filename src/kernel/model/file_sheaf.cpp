// Lines of SVMs in Sheaf's own model files, after the lines that all families begin with:
//
//     type c_svc
//     kernel rbf
//     degree 3
//     gamma 0.25
//     coef0 0
//     multi-class one-vs-one
//     decide automatic
//     names yes
//     feature sepal length
//     ...
//     cost 1
//     nu 0.5
//     epsilon 0.1
//     class-weights 1 1 2
//     svms 3
//     rho 0.0397 converged 42 steps objective -2.4 violation 0.0004 margin 1 bounded 2 rows 100
//     ...
//     sigmoid-a -3.5 -3.7 -3.2
//     sigmoid-b 0.04 0.08 0.05
//     support 45
//     1 2 0 0.44 1 0.95 1:5.7 2:4.4 3:1.5 4:0.4
//
// A line of support holds the class (from 1; 0: no classes), the number of binary SVMs it is a support vector of, each
// of them (from 0) with its coefficient, and the features, or 0:ROW for a precomputed kernel. Lines of class-weights,
// feature, sigmoid and density-marks may be missing; an SVM whose training is not known has its rho alone.
#include <array>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/text/model_file.hpp"
#include "kernel/model/file_text.hpp"
#include "kernel/model/plan.hpp"

namespace sheaf::kernel {
namespace {

constexpr double any_number = std::numeric_limits<double>::lowest();

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& function : kernel_functions()) names.emplace_back(function.name);
  return names;
}

template <class File, class Model>
void describe_heading(File& file, Model& model) {
  static const std::array<std::string, 2> multi_class_names{"one-vs-one", "one-vs-rest"};
  static const std::array<std::string, 3> rule_names{"automatic", "votes", "winner"};
  static const std::array<std::string, 2> no_or_yes{"no", "yes"};
  describe_classes_and_features(file, model);
  choice_line(file, "type", model.kind, kind_names());
  const auto kernels = kernel_names();
  auto kernel = std::find(kernels.begin(), kernels.end(), to_string(model.kernel.type)) - kernels.begin();
  choice_line(file, "kernel", kernel, kernels);
  if constexpr (File::reading) model.kernel.type = kernel_functions()[static_cast<std::size_t>(kernel)].type;
  number_line(file, "degree", model.kernel.degree, 0);
  number_line(file, "gamma", model.kernel.gamma);
  number_line(file, "coef0", model.kernel.coef0);
  choice_line(file, "multi-class", model.multi_class, multi_class_names);
  choice_line(file, "decide", model.rule, rule_names);
  bool named = !model.feature_names.empty();
  choice_line(file, "names", named, no_or_yes);
  if (named) name_lines(file, "feature", model.feature_names, model.features);
  number_line(file, "cost", model.cost);
  number_line(file, "nu", model.nu);
  number_line(file, "epsilon", model.epsilon);
  optional_numbers(file, "class-weights", model.class_weights, model.class_names.size());
}

template <class File, class Training>
void describe_training(File& file, Training& fit) {
  static const std::array<std::string, 2> words{"unfinished", "converged"};
  const auto next = [&](std::string_view key, auto& value, double least) {
    file.keyword(key);
    file.value(value, "a number", least);
  };
  file.choice(fit.converged, words);
  file.value(fit.iterations, "the number of steps");
  file.keyword("steps");
  next("objective", fit.objective, any_number);
  next("violation", fit.violation, any_number);
  next("margin", fit.margin, any_number);
  next("bounded", fit.bounded, 0);
  next("rows", fit.rows, 0);
}

template <class File, class Model>
void describe_svms(File& file, Model& model) {
  auto count = static_cast<std::int64_t>(model.svms.size());
  file.count("svms", count, [&](std::int64_t found) {
    const auto wanted = svms_of(model.kind, model.class_names.size(), model.multi_class);
    if (static_cast<std::size_t>(found) == wanted) return std::string();
    return fmt::format("such a model has {} SVMs, not {}", wanted, found);
  });
  if constexpr (File::reading) {
    if (model.has_classes() == model.class_names.empty())
      file.fail_here(
          fmt::format("{} does not suit {}", to_string(model.kind), counted(model.class_names.size(), "class")));
    file.check_room(count);
    model.svms.resize(static_cast<std::size_t>(count));
  }
  for (std::size_t m = 0; m < model.svms.size(); ++m) {
    file.keyword("rho");
    file.value(model.svms[m].rho, "rho, a number", any_number);
    if constexpr (File::reading) {
      file.skip_blanks();
      if (!file.at_line_end()) model.fits.resize(m + 1);
      if (!model.fits.empty() && model.fits.size() != m + 1)
        file.fail_here("the training of all SVMs must be given, or of none");
    }
    if (m < model.fits.size()) describe_training(file, model.fits[m]);
    file.end_line();
  }
  optional_numbers(file, "sigmoid-a", model.sigmoid_a, model.svms.size());
  optional_numbers(file, "sigmoid-b", model.sigmoid_b, model.has_classes() ? model.svms.size() : 0);
  optional_numbers(file, "density-marks", model.density_marks, density_mark_count);
  if constexpr (File::reading)
    if (model.has_classes() && model.sigmoid_a.size() != model.sigmoid_b.size())
      file.fail_here("sigmoid-a and sigmoid-b must stand together");
}

void write_support(ModelWriter& file, const SvmModel& model) {
  std::vector<std::vector<std::pair<std::size_t, double>>> terms(static_cast<std::size_t>(model.support_vectors()));
  for (std::size_t m = 0; m < model.svms.size(); ++m)
    for (std::size_t k = 0; k < model.svms[m].rows.size(); ++k)
      terms[static_cast<std::size_t>(model.svms[m].rows[k])].emplace_back(m, model.svms[m].coefficients[k]);
  file.count("support", std::ssize(terms), any_count);
  for (std::size_t s = 0; s < terms.size(); ++s) {
    auto& text = file.text();
    text += fmt::format("{} {} ", model.support_classes.empty() ? 0 : model.support_classes[s] + 1, terms[s].size());
    for (const auto& [svm, coefficient] : terms[s]) {
      require_finite(coefficient);
      text += fmt::format("{} {} ", svm, coefficient);
    }
    append_features(model, static_cast<std::int64_t>(s), text);
    text.pop_back();
    file.end_line();
  }
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
  std::int64_t count = 0;
  reader.count("support", count, any_count);
  SupportReader support(reader, model, count, model.features);
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

SvmModel read_sheaf_svm(ModelReader& reader) {
  SvmModel model;
  describe_heading(reader, model);
  describe_svms(reader, model);
  read_support(reader, model);
  for (std::size_t m = 0; m < model.fits.size(); ++m)
    model.fits[m].support = static_cast<std::int32_t>(model.svms[m].rows.size());
  return model;
}

void write_sheaf_svm(ModelWriter& file, const SvmModel& model) {
  describe_heading(file, model);
  describe_svms(file, model);
  write_support(file, model);
}

}  // namespace sheaf::kernel

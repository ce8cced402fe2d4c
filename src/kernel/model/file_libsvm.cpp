// LIBSVM's model file: one keyword a line, then "SV" and one line for each support vector.
//
//     svm_type c_svc
//     kernel_type rbf
//     gamma 0.25
//     nr_class 3
//     total_sv 45
//     rho 0.0397 0.1677 0.1437
//     label 1 2 3
//     probA ...            if probabilities were trained
//     probB ...
//     nr_sv 7 19 19
//     SV
//     0.44 0.95 1:5.7 2:4.4 3:1.5 4:0.4
//
// SVMs are those of all pairs of classes. A support vector of class c has a coefficient for each other class: that of
// the pair with class j stands at place j - 1 if c < j, and at place j if j < c. Kinds without classes have nr_class 2,
// no label and nr_sv, and one coefficient. Precomputed kernels have 0:serial for features.
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/text.hpp"
#include "data/labels.hpp"
#include "data/text/model_file.hpp"
#include "kernel/model/file_text.hpp"
#include "kernel/model/plan.hpp"

namespace sheaf::kernel {
namespace {

struct Heading {
  bool has_kind = false, has_kernel = false;
  std::int64_t classes = -1, vectors = -1;
  std::vector<double> rho;
  std::vector<std::int64_t> counts;  // support vectors by class
};

/// The word here must be one of `names`; returns its place.
std::size_t read_name(ModelReader& reader, std::span<const std::string> names, std::string_view what) {
  reader.skip_blanks();
  const auto word = reader.peek();
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) reader.fail_expected(fmt::format("{}, one of {}", what, join_names(names, "or")));
  reader.take(word);
  return static_cast<std::size_t>(found - names.begin());
}

KernelType read_kernel(ModelReader& reader) {
  std::vector<std::string> names;
  std::vector<KernelType> types;
  for (const auto& function : kernel_functions())
    if (function.libsvm >= 0) {
      names.emplace_back(function.name);
      types.push_back(function.type);
    }
  return types[read_name(reader, names, "a kernel")];
}

std::vector<double> read_numbers(ModelReader& reader, std::size_t count, std::string_view what) {
  std::vector<double> numbers;
  for (std::size_t k = 0; k < count; ++k) numbers.push_back(reader.number<double>(what));
  return numbers;
}

std::size_t svms_in(const ModelReader& reader, const Heading& heading, const SvmModel& model) {
  if (!heading.has_kind || heading.classes < 0) reader.fail_here("expected svm_type and nr_class before this line");
  if (!model.has_classes()) return 1;
  return static_cast<std::size_t>(heading.classes * (heading.classes - 1) / 2);
}

void read_labels(ModelReader& reader, const Heading& heading, SvmModel& model) {
  if (heading.classes < 0) reader.fail_here("expected nr_class before the labels");
  for (std::int64_t c = 0; c < heading.classes; ++c)
    model.class_names.push_back(std::to_string(reader.number<std::int64_t>("a label, a whole number")));
}

void read_counts(ModelReader& reader, Heading& heading) {
  if (heading.classes < 0) reader.fail_here("expected nr_class before nr_sv");
  for (std::int64_t c = 0; c < heading.classes; ++c)
    heading.counts.push_back(reader.count("the number of a class's support vectors", 0));
}

void read_entry(ModelReader& reader, Heading& heading, SvmModel& model) {
  const auto word = reader.peek();
  const std::string key(word);
  static const std::vector<std::string> known{
      "svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class",          "total_sv",
      "rho",      "label",       "probA",  "probB", "nr_sv", "prob_density_marks"};
  if (std::find(known.begin(), known.end(), key) == known.end())
    reader.fail_expected(join_names(known, "or") + " or SV");
  reader.take(word);
  if (key == "svm_type") {
    model.kind = static_cast<SvmKind>(read_name(reader, kind_names(), "a type"));
    heading.has_kind = true;
  } else if (key == "kernel_type") {
    model.kernel.type = read_kernel(reader);
    heading.has_kernel = true;
  } else if (key == "degree") {
    model.kernel.degree = static_cast<int>(reader.count("the degree", 0));
  } else if (key == "gamma") {
    model.kernel.gamma = reader.number<double>("gamma, a number");
  } else if (key == "coef0") {
    model.kernel.coef0 = reader.number<double>("coef0, a number");
  } else if (key == "nr_class") {
    heading.classes = reader.count("the number of classes", 1);
  } else if (key == "total_sv") {
    heading.vectors = reader.count("the number of support vectors", 0);
  } else if (key == "rho") {
    heading.rho = read_numbers(reader, svms_in(reader, heading, model), "rho, a number");
  } else if (key == "label") {
    read_labels(reader, heading, model);
  } else if (key == "probA") {
    model.sigmoid_a = read_numbers(reader, svms_in(reader, heading, model), "probA, a number");
  } else if (key == "probB") {
    model.sigmoid_b = read_numbers(reader, svms_in(reader, heading, model), "probB, a number");
  } else if (key == "nr_sv") {
    read_counts(reader, heading);
  } else {
    model.density_marks = read_numbers(reader, density_mark_count, "a mark, a number");
  }
  reader.end_line();
}

void check_heading(const ModelReader& reader, const Heading& heading, const SvmModel& model) {
  if (!heading.has_kind) reader.fail_here("no svm_type stands before the support vectors");
  if (!heading.has_kernel) reader.fail_here("no kernel_type stands before the support vectors");
  if (heading.classes < 0) reader.fail_here("no nr_class stands before the support vectors");
  if (heading.vectors < 0) reader.fail_here("no total_sv stands before the support vectors");
  if (heading.rho.size() != svms_in(reader, heading, model))
    reader.fail_here("no rho stands before the support vectors");
  const auto svms = heading.rho.size();
  if ((!model.sigmoid_a.empty() && model.sigmoid_a.size() != svms) ||
      (!model.sigmoid_b.empty() && model.sigmoid_b.size() != svms))
    reader.fail_here(fmt::format("probA and probB must hold {}, one for each rho", counted(svms, "number")));
  if (!model.has_classes()) {
    if (!model.class_names.empty()) reader.fail_here(fmt::format("{} has no label", to_string(model.kind)));
    return;
  }
  if (model.class_names.empty()) reader.fail_here("no label stands before the support vectors");
  if (heading.counts.empty()) reader.fail_here("no nr_sv stands before the support vectors");
  if (std::ssize(model.class_names) != heading.classes || std::ssize(heading.counts) != heading.classes)
    reader.fail_here(fmt::format("{} and {} of nr_sv do not suit {}", counted(model.class_names.size(), "label"),
                                 counted(heading.counts.size(), "number"), counted(heading.classes, "class")));
  reader.check_room(heading.vectors);
  const auto sum = std::accumulate(heading.counts.begin(), heading.counts.end(), std::int64_t{0});
  if (sum != heading.vectors)
    reader.fail_here(fmt::format("nr_sv counts {} support vectors, total_sv {}", sum, heading.vectors));
  if (model.sigmoid_a.size() != model.sigmoid_b.size()) reader.fail_here("probA and probB must stand together");
}

void make_svms(const Heading& heading, SvmModel& model) {
  const auto sides = sides_of(model.kind, model.class_names.size(), MultiClass::one_vs_one);
  for (std::size_t m = 0; m < sides.size(); ++m) model.svms.push_back({{}, {}, heading.rho[m]});
  for (std::size_t c = 0; c < heading.counts.size() && model.has_classes(); ++c)
    model.support_classes.insert(model.support_classes.end(), static_cast<std::size_t>(heading.counts[c]),
                                 static_cast<std::int32_t>(c));
}

/// The place of a pair's coefficient among those of a support vector of class `of`.
std::size_t place_of(Sides sides, std::int32_t of) {
  return static_cast<std::size_t>(of == sides.positive ? sides.negative - 1 : sides.positive);
}

void give_coefficients(std::span<const double> coefficients, std::span<const Sides> sides, std::int32_t vector,
                       SvmModel& model) {
  for (std::size_t m = 0; m < sides.size(); ++m) {
    double value = coefficients[0];
    if (model.has_classes()) {
      const auto of = model.support_classes[static_cast<std::size_t>(vector)];
      if (of != sides[m].positive && of != sides[m].negative) continue;
      value = coefficients[place_of(sides[m], of)];
    }
    if (value == 0) continue;
    model.svms[m].rows.push_back(vector);
    model.svms[m].coefficients.push_back(value);
  }
}

std::string joined(std::span<const double> numbers) {
  std::string text;
  for (const double number : numbers) {
    require_finite(number);
    text += fmt::format(" {:.17g}", number);
  }
  return text;
}

std::string heading_text(const SvmModel& model) {
  std::string text = fmt::format("svm_type {}\nkernel_type {}\n", to_string(model.kind), to_string(model.kernel.type));
  const auto& function = kernel_function(model.kernel.type);
  if (function.has_degree) text += fmt::format("degree {}\n", model.kernel.degree);
  if (function.has_gamma) text += fmt::format("gamma {:.17g}\n", model.kernel.gamma);
  if (function.has_coef0) text += fmt::format("coef0 {:.17g}\n", model.kernel.coef0);
  text += fmt::format("nr_class {}\ntotal_sv {}\nrho", model.has_classes() ? model.class_names.size() : 2,
                      model.support_vectors());
  for (const auto& svm : model.svms) text += joined({&svm.rho, 1});
  text += '\n';
  if (model.has_classes()) {
    text += "label";
    for (const auto& name : model.class_names) text += ' ' + integer_label(name, "LIBSVM");
    text += '\n';
  }
  if (!model.sigmoid_a.empty()) text += "probA" + joined(model.sigmoid_a) + '\n';
  if (!model.sigmoid_b.empty()) text += "probB" + joined(model.sigmoid_b) + '\n';
  if (!model.density_marks.empty()) text += "prob_density_marks" + joined(model.density_marks) + '\n';
  if (model.has_classes()) {
    std::vector<std::int64_t> counts(model.class_names.size(), 0);
    for (const auto c : model.support_classes) ++counts[static_cast<std::size_t>(c)];
    text += "nr_sv";
    for (const auto count : counts) text += fmt::format(" {}", count);
    text += '\n';
  }
  return text + "SV\n";
}

/// Support vectors x coefficients of each.
std::vector<double> coefficient_table(const SvmModel& model, std::size_t width) {
  std::vector<double> table(static_cast<std::size_t>(model.support_vectors()) * width, 0.0);
  const auto sides = sides_of(model.kind, model.class_names.size(), MultiClass::one_vs_one);
  for (std::size_t m = 0; m < model.svms.size(); ++m)
    for (std::size_t k = 0; k < model.svms[m].rows.size(); ++k) {
      const auto vector = static_cast<std::size_t>(model.svms[m].rows[k]);
      const std::size_t place = model.has_classes() ? place_of(sides[m], model.support_classes[vector]) : 0;
      table[vector * width + place] = model.svms[m].coefficients[k];
    }
  return table;
}

}  // namespace

void check_libsvm_kernel(KernelType type) {
  if (kernel_function(type).libsvm < 0)
    fail("LIBSVM has no {} kernel, so its model files cannot hold one; use Sheaf's own format", to_string(type));
}

SvmModel read_libsvm_model(ModelReader& reader) {
  SvmModel model;
  Heading heading;
  for (reader.skip_space(); reader.peek() != "SV"; reader.skip_space()) read_entry(reader, heading, model);
  check_heading(reader, heading, model);
  reader.take("SV");
  reader.end_line();
  make_svms(heading, model);
  const std::size_t width = model.has_classes() ? static_cast<std::size_t>(heading.classes - 1) : 1;
  const auto sides = sides_of(model.kind, model.class_names.size(), MultiClass::one_vs_one);
  SupportReader support(reader, model, heading.vectors, std::nullopt);
  for (std::int64_t s = 0; s < heading.vectors; ++s) {
    reader.skip_space();
    const auto coefficients = read_numbers(reader, width, "a coefficient, a number");
    give_coefficients(coefficients, sides, static_cast<std::int32_t>(s), model);
    support.read_features(reader);
  }
  support.finish();
  reader.check_features(model.features);
  reader.skip_space();
  if (!reader.at_end()) reader.fail_expected("the end of the file");
  return model;
}

std::string format_libsvm_model(const SvmModel& model) {
  if (model.multi_class == MultiClass::one_vs_rest && model.class_names.size() > 2)
    fail("LIBSVM's model files hold pairs of classes, not each class against the rest; use Sheaf's own format");
  check_libsvm_kernel(model.kernel.type);
  std::string text = heading_text(model);
  const std::size_t width = model.has_classes() ? model.class_names.size() - 1 : 1;
  const auto table = coefficient_table(model, width);
  for (std::int64_t s = 0; s < model.support_vectors(); ++s) {
    for (std::size_t k = 0; k < width; ++k) {
      const double coefficient = table[static_cast<std::size_t>(s) * width + k];
      require_finite(coefficient);
      text += fmt::format("{:.17g} ", coefficient);
    }
    append_features(model, s, text);
    text += '\n';
  }
  return text;
}

}  // namespace sheaf::kernel

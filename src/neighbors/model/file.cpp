// Lines of models of neighbours in Sheaf's own model files, after the lines that all families begin with:
//
//     names yes
//     feature sepal length
//     ...
//     rule votes
//     k 5
//     vote uniform
//     metric euclidean
//     power 3
//     weighting none
//     lambda 1
//     weights 0.5 1.5 1 1
//     rows 150
//     1 1 1:5.1 2:3.5 3:1.4 4:0.2
//
// The line of weights is missing if features have none. If the rule trains SVMs, lines of kernel, cost, gamma and
// tolerance follow that of lambda. A row holds its class (from 1) or, in a regression, its number; the factor of its
// vote; for the rule falk-svm, the row (from 1) around which its SVM is trained; and its values that are not 0.
#include "neighbors/model/file.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/row_subset.hpp"
#include "data/text/feature_entries.hpp"
#include "data/text/model_file.hpp"
#include "neighbors/model/names.hpp"

namespace sheaf::neighbors {
namespace {

/// Above 0.
constexpr double smallest = std::numeric_limits<double>::min();

template <class Value>
std::vector<std::string> names_of(const Choices<Value>& choices) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.first);
  return names;
}

/// A choice by its name, whatever its number.
template <class File, class Value>
void named_line(File& file, std::string_view key, Value& value, const auto& choices) {
  const auto known = [&](const auto& choice) { return choice.second == value; };
  auto at = std::find_if(choices.begin(), choices.end(), known) - choices.begin();
  choice_line(file, key, at, names_of(choices));
  if constexpr (File::reading) value = choices[static_cast<std::size_t>(at)].second;
}

template <class File, class Model>
void describe(File& file, Model& model) {
  static const std::array<std::string, 2> no_or_yes{"no", "yes"};
  describe_classes_and_features(file, model);
  bool named = !model.feature_names.empty();
  choice_line(file, "names", named, no_or_yes);
  if (named) name_lines(file, "feature", model.feature_names, model.features);
  named_line(file, "rule", model.rule, rule_names());
  number_line(file, "k", model.k, 1);
  named_line(file, "vote", model.vote, vote_names());
  named_line(file, "metric", model.distance.metric, metric_names());
  number_line(file, "power", model.distance.power, 1);
  named_line(file, "weighting", model.weighting, weighting_names());
  number_line(file, "lambda", model.lambda, 0);
  if (trains_svms(model.rule)) {
    named_line(file, "kernel", model.kernel, kernel_names());
    number_line(file, "cost", model.cost, smallest);
    number_line(file, "gamma", model.gamma, smallest);
    number_line(file, "tolerance", model.tolerance, smallest);
  }
  optional_numbers(file, "weights", model.distance.weights, static_cast<std::size_t>(model.features));
}

void write_rows(ModelWriter& file, const KnnModel& model) {
  file.count("rows", model.rows(), any_count);
  for (std::int64_t i = 0; i < model.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    auto& text = file.text();
    const double label = model.is_regression() ? model.values[at] : model.classes[at] + 1.0;
    text += fmt::format("{} {} ", label, model.row_weights.empty() ? 1.0F : model.row_weights[at]);
    if (model.rule == LocalRule::falk_svm) text += fmt::format("{} ", model.centres[at] + 1);
    for_row_entries(model.x, i, [&](std::int64_t j, double value) { append_entry(j, value, text); });
    text.pop_back();
    file.end_line();
  }
}

void read_label(ModelReader& reader, KnnModel& model) {
  reader.skip_blanks();
  const auto before = reader;
  if (model.is_regression()) {
    model.values.push_back(reader.number<double>("the number of a row"));
    return;
  }
  const auto number = reader.count("the class of a row", 1);
  if (number > std::ssize(model.class_names))
    before.fail_expected(fmt::format("a class, 1 to {}", model.class_names.size()));
  model.classes.push_back(static_cast<std::int32_t>(number) - 1);
}

void read_centre(ModelReader& reader, std::int64_t rows, KnnModel& model) {
  reader.skip_blanks();
  const auto before = reader;
  const auto number = reader.count("the centre of a row", 1);
  if (number > rows) before.fail_expected(fmt::format("a row, 1 to {}", rows));
  model.centres.push_back(static_cast<std::int32_t>(number) - 1);
}

void read_rows(ModelReader& reader, KnnModel& model) {
  std::int64_t count = 0;
  reader.count("rows", count, [&](std::int64_t found) {
    const auto least = model.rule == LocalRule::votes ? model.k : 1;
    return found >= least ? std::string() : fmt::format("expected {} or more, not {}", counted(least, "row"), found);
  });
  EntryRows rows(reader, count, model.features);
  for (std::int64_t i = 0; i < count; ++i) {
    read_label(reader, model);
    float weight = 0;
    reader.value(weight, "the weight of a row, 0 or more");
    model.row_weights.push_back(weight);
    if (model.rule == LocalRule::falk_svm) read_centre(reader, count, model);
    std::int32_t last = 0;
    for (reader.skip_blanks(); !reader.at_line_end(); reader.skip_blanks()) {
      const auto before = reader;
      const auto [index, value] = read_entry(reader, last);
      if (index > model.features)
        before.fail_here(fmt::format("the index {} is beyond the {}", index, counted(model.features, "feature")));
      last = index;
      rows.add(index - 1, value);
    }
    rows.end_row();
    reader.next_line();
  }
  model.x = rows.take();
  const auto is_one = [](float weight) { return weight == 1; };
  if (std::all_of(model.row_weights.begin(), model.row_weights.end(), is_one)) model.row_weights.clear();
}

}  // namespace

KnnModel read_sheaf_knn(ModelReader& reader) {
  KnnModel model;
  describe(reader, model);
  read_rows(reader, model);
  return model;
}

void write_sheaf_knn(ModelWriter& file, const KnnModel& model) {
  describe(file, model);
  write_rows(file, model);
}

}  // namespace sheaf::neighbors

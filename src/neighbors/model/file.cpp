// Sheaf's own file of models of neighbours: readable, exact, with names.
//
//     sheaf-knn-model 1
//     rule votes
//     k 5
//     vote uniform
//     metric euclidean
//     power 3
//     weighting none
//     lambda 1
//     classes 3
//     class setosa
//     ...
//     features 4
//     names yes
//     feature sepal length
//     ...
//     weights 0
//     rows 150
//     1 1 1:5.1 2:3.5 3:1.4 4:0.2
//
// `weights` is followed by their number (0: none) and, on the same line, the weights of all features. A row holds its
// class (from 1) or, of a regression, its number; what its vote is multiplied with; and its values that are not 0.
#include <sheaf/neighbors_model.hpp>

#include <charconv>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/text/escape.hpp"
#include "data/text/model_reader.hpp"
#include "neighbors/model/names.hpp"

namespace sheaf {
namespace {

constexpr std::string_view magic = "sheaf-knn-model";
constexpr int version = 1;
constexpr double dense_share = 0.5;  // stored entries above which dense takes no more memory

void append_entry(std::int64_t feature, double value, std::string& text) {
  if (value != 0) fmt::format_to(std::back_inserter(text), " {}:{}", feature + 1, value);
}

void append_row(const KnnModel& model, std::int64_t i, std::string& text) {
  const auto at = static_cast<std::size_t>(i);
  const double weight = model.row_weights.empty() ? 1.0 : static_cast<double>(model.row_weights[at]);
  if (model.is_regression())
    fmt::format_to(std::back_inserter(text), "{} {}", model.values[at], weight);
  else
    fmt::format_to(std::back_inserter(text), "{} {}", model.classes[at] + 1, weight);
  if (const auto* dense = std::get_if<DenseMatrix<double>>(&model.x))
    for (std::int64_t j = 0; j < dense->columns; ++j) append_entry(j, dense->values[i * dense->columns + j], text);
  else if (const auto* sparse = std::get_if<SparseMatrix<double>>(&model.x))
    for (auto k = sparse->offsets[i]; k < sparse->offsets[i + 1]; ++k)
      append_entry(sparse->indices[k], sparse->values[k], text);
  text += '\n';
}

/// A line of a keyword and one of the names of `choices`.
template <class Value>
Value read_choice(ModelReader& reader, std::string_view key, const Choices<Value>& choices) {
  reader.keyword(key);
  reader.skip_blanks();
  const auto word = reader.peek();
  std::vector<std::string> known;
  for (const auto& [name, value] : choices) {
    if (name == word) {
      reader.take(word);
      reader.end_line();
      return value;
    }
    known.push_back(name);
  }
  reader.fail_expected(join_names(known, "or"));
}

std::int64_t read_count(ModelReader& reader, std::string_view key, std::int64_t least) {
  reader.keyword(key);
  const auto count = reader.count(fmt::format("the number of {}", key), least);
  reader.end_line();
  return count;
}

double read_number(ModelReader& reader, std::string_view key) {
  reader.keyword(key);
  const auto number = reader.number<double>("a number");
  reader.end_line();
  return number;
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

void read_weights(ModelReader& reader, KnnModel& model) {
  reader.keyword("weights");
  reader.skip_blanks();
  const auto before = reader;
  const auto count = reader.count("the number of weights", 0);
  if (count != 0 && count != model.features)
    before.fail_here(fmt::format("expected 0 weights, or one for each of {} features", model.features));
  for (std::int64_t j = 0; j < count; ++j) {
    reader.skip_blanks();
    const auto here = reader;
    model.distance.weights.push_back(reader.number<double>("the weight of a feature"));
    if (model.distance.weights.back() < 0) here.fail_expected("a weight of 0 or more");
  }
  reader.end_line();
}

/// The rows of a model, as they are read.
class RowsReader {
 public:
  explicit RowsReader(KnnModel& model) : model_(model) {}

  void read(ModelReader& reader) {
    reader.skip_blanks();
    const auto before = reader;
    if (model_.is_regression()) {
      model_.values.push_back(reader.number<double>("the number of a row"));
    } else {
      const auto number = reader.count("the class of a row", 1);
      if (number > std::ssize(model_.class_names))
        before.fail_expected(fmt::format("a class, 1 to {}", model_.class_names.size()));
      model_.classes.push_back(static_cast<std::int32_t>(number) - 1);
    }
    reader.skip_blanks();
    const auto weight = reader;
    model_.row_weights.push_back(reader.number<float>("the weight of a row"));
    if (!(model_.row_weights.back() > 0)) weight.fail_expected("a weight above 0");
    std::int64_t last = 0;
    for (reader.skip_blanks(); !reader.at_line_end(); reader.skip_blanks()) last = read_entry(reader, last);
    offsets_.push_back(std::ssize(indices_));
    reader.next_line();
  }

  void finish() {
    const auto rows = std::ssize(offsets_) - 1;
    SparseMatrix<double> sparse{rows, model_.features, Array<std::int64_t>::copy_of(offsets_),
                                Array<std::int32_t>::copy_of(indices_), Array<double>::copy_of(values_)};
    const double cells = static_cast<double>(rows) * static_cast<double>(model_.features);
    if (static_cast<double>(values_.size()) > dense_share * cells)
      model_.x = to_dense(sparse, 1);
    else
      model_.x = std::move(sparse);
    const auto is_one = [](float weight) { return weight == 1; };
    if (std::all_of(model_.row_weights.begin(), model_.row_weights.end(), is_one)) model_.row_weights.clear();
  }

 private:
  std::int64_t read_entry(ModelReader& reader, std::int64_t last) {
    const auto word = reader.peek();
    const auto colon = word.find(':');
    std::int64_t index = 0;
    double value = 0;
    const auto whole = [](std::string_view text, auto& number) {
      const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
      return result.ec == std::errc() && result.ptr == text.data() + text.size();
    };
    if (colon == std::string_view::npos || !whole(word.substr(0, colon), index) ||
        !whole(word.substr(colon + 1), value) || !std::isfinite(value))
      reader.fail_expected("a feature as INDEX:VALUE");
    if (index <= last || index > model_.features)
      reader.fail_here(fmt::format("expected an index above {} and up to {}, not {}", last, model_.features, index));
    reader.take(word);
    indices_.push_back(static_cast<std::int32_t>(index) - 1);
    values_.push_back(value);
    return index;
  }

  KnnModel& model_;
  std::vector<std::int64_t> offsets_{0};
  std::vector<std::int32_t> indices_;
  std::vector<double> values_;
};

}  // namespace

std::string format_knn(const KnnModel& model) {
  auto text = fmt::format("{} {}\nrule {}\nk {}\nvote {}\nmetric {}\npower {}\nweighting {}\nlambda {}\nclasses {}\n",
                          magic, version, to_string(model.rule), model.k, to_string(model.vote),
                          to_string(model.distance.metric), model.distance.power, to_string(model.weighting),
                          model.lambda, model.class_names.size());
  for (const auto& name : model.class_names) text += "class " + escape_line(name) + '\n';
  text += fmt::format("features {}\nnames {}\n", model.features, model.feature_names.empty() ? "no" : "yes");
  for (const auto& name : model.feature_names) text += "feature " + escape_line(name) + '\n';
  text += fmt::format("weights {}", model.distance.weights.size());
  for (const double weight : model.distance.weights) text += fmt::format(" {}", weight);
  text += fmt::format("\nrows {}\n", model.rows());
  for (std::int64_t i = 0; i < model.rows(); ++i) append_row(model, i, text);
  return text;
}

KnnModel parse_knn(std::string_view text, const std::string& name) {
  ModelReader reader(name, text);
  reader.heading(magic, version);
  KnnModel model;
  model.rule = read_choice(reader, "rule", neighbors::rule_names());
  model.k = read_count(reader, "k", 1);
  model.vote = read_choice(reader, "vote", neighbors::vote_names());
  model.distance.metric = read_choice(reader, "metric", neighbors::metric_names());
  model.distance.power = read_number(reader, "power");
  model.weighting = read_choice(reader, "weighting", neighbors::weighting_names());
  model.lambda = read_number(reader, "lambda");
  model.class_names = read_names(reader, "class", read_count(reader, "classes", 0));
  model.features = read_count(reader, "features", 0);
  const Choices<bool> yes_or_no{{"yes", true}, {"no", false}};
  if (read_choice(reader, "names", yes_or_no)) model.feature_names = read_names(reader, "feature", model.features);
  read_weights(reader, model);
  reader.skip_blanks();
  const auto before = reader;
  const auto rows = read_count(reader, "rows", 1);
  if (model.rule == LocalRule::votes && rows < model.k)
    before.fail_here(fmt::format("{} neighbours are to decide, but there are {} rows", model.k, rows));
  RowsReader reading(model);
  for (std::int64_t i = 0; i < rows; ++i) reading.read(reader);
  reading.finish();
  if (!reader.at_end()) reader.fail_expected("the end of the file");
  return model;
}

bool describes_knn(std::string_view text, const std::string& name) {
  ModelReader reader(name, text);
  reader.skip_space();
  return reader.peek() == magic;
}

}  // namespace sheaf

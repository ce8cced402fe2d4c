// Models of all families, in Sheaf's format and those of LIBLINEAR and LIBSVM, and what is done with them.
#include <cstring>

#include <sheaf/model.hpp>

#include "fuzz/reader_check.hpp"
#include "fuzz/targets.hpp"

namespace sheaf::fuzz {
namespace {

constexpr std::string_view some_rows = "0 1:1 2:-0.5\n0 2:3\n0 1:-2 3:0.25 4:1\n";

void predict(const Context& context, const Model& model) {
  ReadOptions options;
  options.format = "libsvm";
  options.known = model.known_columns();
  const auto dataset = parse_dataset<double>(context, some_rows, "rows", options);
  for (const bool probabilities : {false, true}) {
    if (probabilities && !model.has_probabilities()) continue;
    const auto predictions = model.predict(context, dataset, probabilities);
    expect(predictions.rows == dataset.rows(), "every row has a prediction");
    for (std::size_t i = 0; i < static_cast<std::size_t>(predictions.rows); ++i) model.prediction_text(predictions, i);
    if (model.class_names().empty()) continue;  // a regression, or 1 and -1 of one class
    for (const auto c : predictions.classes)
      expect(c >= 0 && static_cast<std::size_t>(c) < model.class_names().size(), "a predicted class is one");
  }
}

}  // namespace

void check_model(std::string_view input) {
  const Array<char> exact = Array<char>::copy_of(input);
  const Context context = context_of(1);
  try {
    const auto model = Model::parse({exact.data(), static_cast<std::size_t>(exact.size())}, "input");
    const auto text = model.text();
    expect(Model::parse(text, "again").text() == text, "a model that was written reads back the same");
    predict(context, model);
  } catch (const Error&) {
  }
}

}  // namespace sheaf::fuzz

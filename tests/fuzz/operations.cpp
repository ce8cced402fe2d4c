// Fit, save, load, predict: a small dataset, a kind of model and a pipeline, all decoded from the input. The loaded
// model predicts what the first did, whatever the threads.
#include <cstring>

#include <sheaf/model.hpp>
#include <sheaf/pipeline.hpp>
#include <sheaf/solvers/elastic_net.hpp>

#include "fuzz/reader_check.hpp"
#include "fuzz/targets.hpp"

namespace sheaf::fuzz {
namespace {

/// Bytes of the input one after the other; behind its end those of the number 0.
class Bytes {
 public:
  explicit Bytes(std::string_view input) : input_(input) {}
  unsigned next() { return at_ < input_.size() ? static_cast<unsigned char>(input_[at_++]) : 128U; }
  unsigned below(unsigned bound) { return next() % bound; }
  /// Mostly small and with many ties; now and then extreme.
  std::string number() {
    static const std::vector<std::string> odd{"1e155", "-1e308", "5e-324", "1e-300", "3.4e38", "9007199254740993"};
    const unsigned byte = next();
    if (byte < odd.size()) return odd[byte];
    return std::to_string((static_cast<int>(byte) - 128) / 8) + (byte % 3 == 0 ? ".5" : "");
  }

 private:
  std::string_view input_;
  std::size_t at_ = 0;
};

std::string table(Bytes& bytes) {
  const unsigned rows = 1 + bytes.below(24);
  const unsigned columns = 1 + bytes.below(5);
  const unsigned kind = bytes.below(4);  // of the label: two classes, several, small counts, numbers
  std::string text;
  for (unsigned j = 0; j < columns; ++j) text += "x" + std::to_string(j) + ",";
  text += "label\n";
  for (unsigned i = 0; i < rows; ++i) {
    for (unsigned j = 0; j < columns; ++j)
      text += (j == 4 ? std::string(1, static_cast<char>('a' + bytes.below(3))) : bytes.number()) + ",";
    text += kind == 0   ? (bytes.below(2) == 0 ? "no" : "yes")
            : kind == 1 ? "c" + std::to_string(bytes.below(5))
            : kind == 2 ? std::to_string(bytes.below(7))
                        : bytes.number();
    text += "\n";
  }
  return text;
}

/// Few steps, whatever the family calls them.
void limit_work(ModelOptions& options) {
  for (const auto& row : parameters_of(options)) {
    if (row.name == "max-iterations") row.set(options, "50");
    if (row.name == "max-epochs") row.set(options, "100");
  }
  if (auto* net = options.get_if<NetOptions>()) net->alpha = 0.1;
}

bool same(const Predictions& a, const Predictions& b) {
  const auto equal = [](const std::vector<double>& x, const std::vector<double>& y) {
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0);
  };
  return a.classes == b.classes && equal(a.decisions, b.decisions) && equal(a.probabilities, b.probabilities);
}

}  // namespace

void check_operations(std::string_view input) {
  Bytes bytes(input);
  const auto& kinds = model_kinds();
  auto options = kinds[bytes.below(static_cast<unsigned>(kinds.size()))].options;
  limit_work(options);
  PipelineOptions pipeline;
  const auto& steps = parameters<PipelineOptions>();
  const auto& step = steps[bytes.below(static_cast<unsigned>(steps.size()))];
  ReadOptions reading;
  reading.format = "csv";
  try {
    if (!step.choices.empty())
      step.set(pipeline, step.choices[bytes.below(static_cast<unsigned>(step.choices.size()))]);
    const auto text = table(bytes);
    const auto dataset = parse_dataset<double>(context_of(1), text, "table", reading);
    const auto model = fit(context_of(1), dataset, options, {}, pipeline);
    const auto saved = model.text();
    Model loaded;
    try {
      loaded = Model::parse(saved, "saved");
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      expect(false, "a model that was saved is read");
    }
    expect(loaded.text() == saved, "a model that was read is saved the same");
    const bool probabilities = model.has_probabilities();
    const auto first = model.predict(context_of(1), dataset, probabilities);
    expect(same(first, loaded.predict(context_of(2), dataset, probabilities)), "the loaded model predicts the same");
  } catch (const Error&) {
  }
}

}  // namespace sheaf::fuzz

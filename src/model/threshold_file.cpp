#include "model/threshold_file.hpp"

namespace sheaf {
namespace {

/// "threshold 0.25 youden sensitivity 0.9 specificity 0.8": its value, its rule, and its rates on the rows that it was
/// chosen on.
template <class File, class Any>
void describe(File& file, Any& threshold) {
  file.keyword("threshold");
  file.value(threshold.value, "a number, the threshold", std::numeric_limits<double>::lowest());
  if constexpr (File::reading) {
    file.skip_blanks();
    const auto rule = file.peek();
    try {
      threshold.options = parse_threshold(rule);
    } catch (const UsageError& error) {
      file.fail_here(error.what());
    }
    file.take(rule);
  } else {
    file.keyword(to_string(threshold.options));
  }
  file.keyword("sensitivity");
  file.value(threshold.sensitivity, "a share");
  file.keyword("specificity");
  file.value(threshold.specificity, "a share");
  file.end_line();
}

}  // namespace

void write_threshold(ModelWriter& file, const std::optional<Threshold>& threshold) {
  if (threshold) describe(file, *threshold);
}

std::optional<Threshold> read_threshold(ModelReader& reader) {
  if (reader.peek() != "threshold") return std::nullopt;
  Threshold threshold;
  describe(reader, threshold);
  return threshold;
}

}  // namespace sheaf

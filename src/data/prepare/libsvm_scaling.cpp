// The range file:
//
//     y               only if labels are scaled
//     -1 1            the new range
//     3 40            the old range
//     x
//     -1 1
//     1 0.5 7         feature, low, high; constant features have no line
#include "data/prepare/libsvm_scaling.hpp"

#include <algorithm>

#include <sheaf/io.hpp>

#include "core/fail.hpp"
#include "data/bytes/text_source.hpp"
#include "data/row_subset.hpp"
#include "data/text/line_reader.hpp"

namespace sheaf {
namespace {

constexpr std::size_t piece = std::size_t{1} << 20U;
constexpr std::int32_t most_features = std::int32_t{1} << 27;  // as of model files: a range is kept for each

std::vector<LibsvmRange> ranges_of(const Dataset<double>& dataset) {
  const auto features = static_cast<std::size_t>(dataset.features());
  std::vector<LibsvmRange> ranges(features);
  std::vector<std::int64_t> seen(features, 0);
  const auto see = [&](std::int64_t column, double value) {
    const auto j = static_cast<std::size_t>(column);
    ranges[j].low = seen[j] == 0 ? value : std::min(ranges[j].low, value);
    ranges[j].high = seen[j] == 0 ? value : std::max(ranges[j].high, value);
    ++seen[j];
  };
  for (std::int64_t i = 0; i < dataset.rows(); ++i) for_row_entries(dataset.x, i, see);
  for (std::size_t j = 0; j < features; ++j) {
    if (seen[j] == dataset.rows()) continue;
    ranges[j].low = std::min(ranges[j].low, 0.0);
    ranges[j].high = std::max(ranges[j].high, 0.0);
  }
  return ranges;
}

void check_labels(const Dataset<double>& dataset) {
  if (dataset.target.values.empty() && dataset.rows() > 0) fail("{}: some labels are not numbers", dataset.source);
}

/// One number and the text behind it.
double next_number(LineReader& reader, std::string_view expected, bool last) {
  const double value = reader.finite(expected);
  reader.skip(reader.word());
  if (last)
    reader.end_line();
  else
    reader.space("another number");
  return value;
}

std::pair<double, double> read_pair(LineReader& reader, std::string_view what) {
  reader.next_line(what);
  const double first = next_number(reader, "a number, the lower one", false);
  return {first, next_number(reader, "a number, the upper one", true)};
}

void read_key(LineReader& reader, std::string_view key) {
  if (reader.word() != key) reader.fail_here(fmt::format("expected '{}', not '{}'", key, reader.word()));
  reader.skip(key);
  reader.end_line();
}

void read_feature(LineReader& reader, LibsvmScaling& scaling) {
  reader.next_line("a feature");
  const auto index = reader.number<std::int32_t>("a feature's index");
  if (index < 1 || index > most_features)
    reader.fail_here(fmt::format("expected a feature's index from 1 to {}, not {}", most_features, index));
  reader.skip(reader.word());
  reader.space("the lowest value");
  const double low = next_number(reader, "a number, the lowest value", false);
  const double high = next_number(reader, "a number, the highest value", true);
  if (static_cast<std::size_t>(index) > scaling.features.size())
    scaling.features.resize(static_cast<std::size_t>(index));
  scaling.features[static_cast<std::size_t>(index) - 1] = {low, high};
}

/// Collects text and hands it out in pieces.
class Lines {
 public:
  explicit Lines(const std::function<void(std::string_view)>& take) : take_(take) {}
  void label(double value) { fmt::format_to(std::back_inserter(text_), "{:.17g} ", value); }
  void entry(std::int64_t feature, double value) {
    if (value == 0) return;
    fmt::format_to(std::back_inserter(text_), "{}:{:g} ", feature + 1, value);
    ++entries_;
  }
  void end_line() {
    text_ += '\n';
    if (text_.size() > piece) flush();
  }
  void flush() {
    take_(text_);
    text_.clear();
  }
  std::int64_t entries() const { return entries_; }

 private:
  const std::function<void(std::string_view)>& take_;
  std::string text_;
  std::int64_t entries_ = 0;
};

/// The features whose zeros become something else: most datasets have none or all.
std::vector<std::int64_t> moved_zeros(const LibsvmScaling& scaling) {
  std::vector<std::int64_t> list;
  for (std::size_t j = 0; j < scaling.features.size(); ++j) {
    const auto& range = scaling.features[j];
    if (!range.constant() && range.to(0, scaling.lower, scaling.upper) != 0)
      list.push_back(static_cast<std::int64_t>(j));
  }
  return list;
}

class ScaledRows {
 public:
  ScaledRows(const LibsvmScaling& scaling, Lines& lines)
      : scaling_(scaling), lines_(lines), zeros_(moved_zeros(scaling)) {}

  void begin() { next_zero_ = 0; }
  /// Columns ascend within a row.
  void entry(std::int64_t column, double value) {
    zeros_before(column);
    if (next_zero_ < zeros_.size() && zeros_[next_zero_] == column) ++next_zero_;
    put(column, value);
  }
  void end() { zeros_before(static_cast<std::int64_t>(scaling_.features.size())); }

 private:
  void zeros_before(std::int64_t column) {
    for (; next_zero_ < zeros_.size() && zeros_[next_zero_] < column; ++next_zero_) put(zeros_[next_zero_], 0);
  }
  void put(std::int64_t column, double value) {
    if (column >= static_cast<std::int64_t>(scaling_.features.size())) return;
    const auto& range = scaling_.features[static_cast<std::size_t>(column)];
    if (!range.constant()) lines_.entry(column, range.to(value, scaling_.lower, scaling_.upper));
  }

  const LibsvmScaling& scaling_;
  Lines& lines_;
  std::vector<std::int64_t> zeros_;
  std::size_t next_zero_ = 0;
};

}  // namespace

double LibsvmRange::to(double value, double lower, double upper) const {
  if (value == low) return lower;
  if (value == high) return upper;
  return lower + (upper - lower) * (value - low) / (high - low);
}

LibsvmScaling learn_libsvm_scaling(const Dataset<double>& dataset, double lower, double upper) {
  check_labels(dataset);
  return {lower, upper, ranges_of(dataset), std::nullopt};
}

void learn_label_scaling(const Dataset<double>& dataset, double lower, double upper, LibsvmScaling& scaling) {
  check_labels(dataset);
  const auto& values = dataset.target.values;
  LibsvmLabelScaling label{lower, upper, {}};
  if (!values.empty())
    label.range = {*std::min_element(values.begin(), values.end()), *std::max_element(values.begin(), values.end())};
  scaling.label = label;
}

void save_libsvm_scaling(const LibsvmScaling& scaling, const std::string& path) {
  std::string text;
  if (scaling.label)
    text += fmt::format("y\n{:.17g} {:.17g}\n{:.17g} {:.17g}\n", scaling.label->lower, scaling.label->upper,
                        scaling.label->range.low, scaling.label->range.high);
  text += fmt::format("x\n{:.17g} {:.17g}\n", scaling.lower, scaling.upper);
  for (std::size_t j = 0; j < scaling.features.size(); ++j)
    if (!scaling.features[j].constant())
      text += fmt::format("{} {:.17g} {:.17g}\n", j + 1, scaling.features[j].low, scaling.features[j].high);
  write_text_file(path, text);
}

LibsvmScaling load_libsvm_scaling(const std::string& path) {
  const TextSource source(path, silent_progress());
  LineReader reader(path, source.text());
  LibsvmScaling scaling;
  reader.next_line("'x' or 'y'");
  if (reader.word() == "y") {
    read_key(reader, "y");
    const auto [lower, upper] = read_pair(reader, "what labels are scaled to");
    const auto [low, high] = read_pair(reader, "what labels are scaled from");
    scaling.label = LibsvmLabelScaling{lower, upper, {low, high}};
    reader.next_line("'x'");
  }
  read_key(reader, "x");
  std::tie(scaling.lower, scaling.upper) = read_pair(reader, "what features are scaled to");
  while (!reader.at_end()) read_feature(reader, scaling);
  return scaling;
}

std::int64_t write_scaled(const Dataset<double>& dataset, const LibsvmScaling& scaling,
                          const std::function<void(std::string_view)>& take) {
  check_labels(dataset);
  Lines lines(take);
  ScaledRows scaled(scaling, lines);
  for (std::int64_t row = 0; row < dataset.rows(); ++row) {
    const double label = dataset.target.values[static_cast<std::size_t>(row)];
    const auto& scale = scaling.label;
    lines.label(scale && !scale->range.constant() ? scale->range.to(label, scale->lower, scale->upper) : label);
    scaled.begin();
    for_row_entries(dataset.x, row, [&](std::int64_t column, double value) { scaled.entry(column, value); });
    scaled.end();
    lines.end_line();
  }
  lines.flush();
  return lines.entries();
}

std::vector<std::int64_t> without_range(const Dataset<double>& dataset, const LibsvmScaling& scaling) {
  std::vector<std::int64_t> list;
  const auto ranges = ranges_of(dataset);
  for (std::size_t j = 0; j < ranges.size(); ++j) {
    const bool known = j < scaling.features.size() && !scaling.features[j].constant();
    if (!known && !ranges[j].constant()) list.push_back(static_cast<std::int64_t>(j));
  }
  return list;
}

}  // namespace sheaf

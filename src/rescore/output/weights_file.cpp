// Percolator's weights file: comments; for each fold a line of names, one of weights on normalised features and one of
// weights on features as they are.
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include <sheaf/rescore.hpp>

#include "core/fail.hpp"
#include "data/bytes/sink.hpp"
#include "data/bytes/text_source.hpp"
#include "data/read/reading.hpp"
#include "data/text/number.hpp"
#include "rescore/input/pin_header.hpp"

namespace sheaf {
namespace {

constexpr const char* comments =
    "# This file contains the weights from each cross validation bin from percolator training\n"
    "# First line is the feature names, followed by normalized weights, and the raw weights of bin 1\n"
    "# This is repeated for the other bins\n";

/// Percolator's digits: four decimals, but for the first value of a line of normalised weights, which has three
/// significant digits in the first fold and three decimals in others.
std::string line_of(const std::vector<double>& w, bool all_digits, const char* first_format) {
  std::string text;
  for (std::size_t j = 0; j < w.size(); ++j) {
    if (j > 0) text += '\t';
    if (all_digits)
      text += fmt::format("{}", w[j]);
    else
      text += j == 0 ? fmt::format(fmt::runtime(first_format), w[j]) : fmt::format("{:.4f}", w[j]);
  }
  return text + "\n";
}

}  // namespace

void write_weights(const RescoreModel& model, const std::string& path, bool all_digits) {
  const auto sink = open_sink(path);
  sink->write(comments);
  std::string names;
  for (const auto& name : model.feature_names) names += name + "\t";
  names += "m0\n";
  for (std::size_t f = 0; f < model.raw.size(); ++f)
    sink->write(names + line_of(model.normalised[f], all_digits, f == 0 ? "{:.3g}" : "{:.3f}") +
                line_of(model.raw[f], all_digits, "{:.4f}"));
  sink->finish();
}

RescoreModel read_weights(const std::string& path) {
  const TextSource source(path, silent_progress());
  const Context context(Context::Options{.threads = 1});
  const ReadOptions options;
  const Reading reading{context, source.text(), path, options};
  RescoreModel model;
  std::size_t lines = 0;  // of the present fold
  for (const char* at = reading.text.data(); at < reading.limit();) {
    const char* end = line_end(at, reading.limit());
    const auto line = rescore::trimmed_line(at, end);
    at = end + 1;
    if (line.empty() || line[0] == '#') continue;
    const auto fields = rescore::split_fields(line);
    double value = 0;
    const bool numbers = parse_whole_number(fields[0], value) == NumberStatus::ok;
    if (!numbers) {
      if (lines % 3 != 0) fail_at(reading, line.data(), "a line of weights expected, found names");
      if (model.feature_names.empty())
        for (std::size_t j = 0; j + 1 < fields.size(); ++j) model.feature_names.emplace_back(fields[j]);
      if (fields.size() != model.feature_names.size() + 1)
        fail_at(reading, line.data(), "other features than those of the first fold");
      ++lines;
      continue;
    }
    if (lines % 3 == 0) fail_at(reading, line.data(), "the names of the features expected, found weights");
    std::vector<double> weights;
    for (const auto field : fields) {
      if (parse_whole_number(field, value) != NumberStatus::ok)
        fail_at(reading, field.data(), fmt::format("a weight expected, found {}", shown(field)));
      weights.push_back(value);
    }
    if (weights.size() != model.feature_names.size() + 1)
      fail_at(reading, line.data(),
              fmt::format("{} weights expected, one for each feature and the bias; found {}",
                          model.feature_names.size() + 1, weights.size()));
    (lines % 3 == 1 ? model.normalised : model.raw).push_back(std::move(weights));
    ++lines;
  }
  if (lines == 0 || lines % 3 != 0) fail("{}: ends within the weights of a fold", path);
  return model;
}

}  // namespace sheaf

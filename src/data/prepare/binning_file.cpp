// The file of cuts: a version line, four lines of heading, then one line for each feature.
//
//     sheaf-cuts 1
//     method equal-width
//     missing error
//     features 4
//     names yes
//     width 64 0 10.5 height             states, lowest and highest value
//     cuts 2 0.5 1.75 width of the leaf  how many, and where
//     integers -3 12 petals              smallest and largest
//     levels 2 colour                    how many; each on a line of its own behind two spaces
//       red
//       pale blue
//
// Numbers are the shortest that read back the same. A name is the rest of its line after one space, with \\ \n \r for
// backslash and line ends.
#include "data/prepare/binning_file.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include <sheaf/io.hpp>

#include "core/text.hpp"
#include "data/bytes/text_source.hpp"
#include "data/prepare/binning.hpp"
#include "data/text/escape.hpp"
#include "data/text/line_reader.hpp"

namespace sheaf {
namespace {

constexpr std::string_view magic = "sheaf-cuts";
constexpr int version = 1;
constexpr std::array<std::string_view, 4> kinds{"width", "cuts", "integers", "levels"};

std::string rule_text(const BinRule& rule) {
  auto text = std::string(kinds[static_cast<std::size_t>(rule.kind)]);
  switch (rule.kind) {
    case BinRule::Kind::width:
      return text + fmt::format(" {} {} {}", rule.states, rule.low, rule.high);
    case BinRule::Kind::cuts:
      text += fmt::format(" {}", rule.cuts.size());
      for (const double cut : rule.cuts) text += fmt::format(" {}", cut);
      return text;
    case BinRule::Kind::integers:
      return text + fmt::format(" {} {}", rule.low, rule.high);
    case BinRule::Kind::levels:
      return text + fmt::format(" {}", rule.levels.size());
  }
  throw InternalError("a rule of binning has no form in files");
}

/// Behind the space: a whole number of `low` .. most_bins.
std::int32_t read_count(LineReader& reader, std::string_view expected, std::int32_t low) {
  reader.space(expected);
  const auto count = reader.number<std::int32_t>(expected);
  if (count < low || count > BinningOptions::most_bins)
    reader.fail_here(fmt::format("expected {}, {} to {}, not {}", expected, low, BinningOptions::most_bins, count));
  reader.skip(reader.word());
  return count;
}

double read_value(LineReader& reader, std::string_view expected) {
  reader.space(expected);
  return reader.finite(expected);
}

void read_width(LineReader& reader, BinRule& rule) {
  rule.states = read_count(reader, "the number of states", 1);
  rule.low = read_value(reader, "the lowest value");
  reader.skip(reader.word());
  rule.high = read_value(reader, "the highest value");
  const bool good = rule.states == 1 ? rule.low == rule.high : rule.low < rule.high;
  if (!good || !std::isfinite(rule.high - rule.low))
    reader.fail_here(fmt::format("the highest value {} does not go with the lowest {} and {}", rule.high, rule.low,
                                 counted(rule.states, "state")));
  reader.skip(reader.word());
}

void read_cuts(LineReader& reader, BinRule& rule) {
  const auto count = read_count(reader, "the number of cuts", 0);
  if (count == BinningOptions::most_bins) reader.fail_here(fmt::format("{} cuts are too many", count));
  rule.states = count + 1;
  for (std::int32_t k = 0; k < count; ++k) {
    const double cut = read_value(reader, "a number, the next cut");
    if (k > 0 && !(cut > rule.cuts.back()))
      reader.fail_here(fmt::format("the cut {} follows {}; cuts must ascend", cut, rule.cuts.back()));
    rule.cuts.push_back(cut);
    reader.skip(reader.word());
  }
}

void read_integers(LineReader& reader, BinRule& rule) {
  rule.low = read_value(reader, "the smallest number");
  if (rule.low != std::floor(rule.low)) reader.fail_here(fmt::format("{} is no whole number", rule.low));
  reader.skip(reader.word());
  rule.high = read_value(reader, "the largest number");
  const double states = rule.high - rule.low + 1;
  if (rule.high != std::floor(rule.high) || states < 1 || states > BinningOptions::most_bins)
    reader.fail_here(fmt::format("expected a whole number from {} to {}, not {}", rule.low,
                                 rule.low + BinningOptions::most_bins - 1, reader.word()));
  rule.states = static_cast<std::int32_t>(states);
  reader.skip(reader.word());
}

void read_levels(LineReader& reader, BinRule& rule) {
  for (std::int32_t k = 0; k < rule.states; ++k) {
    reader.next_line(fmt::format("level {}", k + 1));
    reader.space("a level");
    reader.space("a level");
    rule.levels.push_back(reader.escaped_rest());
    reader.end_line();
  }
}

BinRule::Kind read_kind(LineReader& reader) {
  const auto word = reader.word();
  for (std::size_t k = 0; k < kinds.size(); ++k)
    if (word == kinds[k]) {
      reader.skip(word);
      return static_cast<BinRule::Kind>(k);
    }
  reader.fail_here(fmt::format("expected width, cuts, integers or levels, not '{}'", word));
}

void read_feature(LineReader& reader, bool named, Binning& binning) {
  reader.next_line(fmt::format("feature {}", binning.features() + 1));
  BinRule rule;
  rule.kind = read_kind(reader);
  if (rule.kind == BinRule::Kind::width) read_width(reader, rule);
  if (rule.kind == BinRule::Kind::cuts) read_cuts(reader, rule);
  if (rule.kind == BinRule::Kind::integers) read_integers(reader, rule);
  if (rule.kind == BinRule::Kind::levels) rule.states = read_count(reader, "the number of levels", 1);
  if (named) {
    reader.space("the name");
    binning.feature_names.push_back(reader.escaped_rest());
  }
  reader.end_line();
  if (rule.kind == BinRule::Kind::levels) read_levels(reader, rule);
  binning.rules.push_back(std::move(rule));
}

BinMethod read_method(LineReader& reader) {
  reader.key("method");
  try {
    const auto method = parse_bin_method(reader.word());
    reader.skip(reader.word());
    reader.end_line();
    return method;
  } catch (const UsageError& error) {
    reader.fail_here(error.what());
  }
}

MissingState read_missing(LineReader& reader) {
  reader.key("missing");
  const bool own = reader.word() == "bin";
  if (!own && reader.word() != "error") reader.fail_here(fmt::format("expected error or bin, not '{}'", reader.word()));
  reader.skip(reader.word());
  reader.end_line();
  return own ? MissingState::own : MissingState::error;
}

}  // namespace

std::string binning_text(const Binning& binning) {
  const bool named = !binning.feature_names.empty();
  std::string text =
      fmt::format("{} {}\nmethod {}\nmissing {}\nfeatures {}\nnames {}\n", magic, version, to_string(binning.method),
                  binning.missing == MissingState::own ? "bin" : "error", binning.features(), named ? "yes" : "no");
  for (std::size_t j = 0; j < binning.rules.size(); ++j) {
    text += rule_text(binning.rules[j]);
    if (named) text += ' ' + escape_line(binning.feature_names[j]);
    text += '\n';
    for (const auto& level : binning.rules[j].levels) text += "  " + escape_line(level) + '\n';
  }
  return text;
}

void save_binning(const Binning& binning, const std::string& path) { write_text_file(path, binning_text(binning)); }

Binning load_binning(const std::string& path) {
  const TextSource source(path, silent_progress());
  return parse_binning(source.text(), path);
}

Binning parse_binning(std::string_view text, const std::string& path) {
  LineReader reader(path, text);
  Binning binning;
  reader.version("cuts", magic, version);
  binning.method = read_method(reader);
  binning.missing = read_missing(reader);
  const auto count = reader.count("features");
  const bool named = reader.yes_or_no("names");
  while (binning.features() < count) read_feature(reader, named, binning);
  reader.end_file(count);
  return binning;
}

}  // namespace sheaf

// The file of a scaling: a version line, three lines of heading, then one line for each feature.
//
//     sheaf-scaling 1
//     method 01
//     features 2
//     names yes
//     0 0.5 height
//     -1.5 2 width of the leaf
//
// Numbers are the shortest that read back the same. A name is the rest of its line after one space, with \\ \n \r for
// backslash and line ends.
#include <fmt/format.h>
#include <sheaf/io.hpp>

#include <sheaf/solvers/scaling.hpp>

#include "data/bytes/text_source.hpp"
#include "data/text/escape.hpp"
#include "data/text/line_reader.hpp"

namespace sheaf {
namespace {

constexpr std::string_view magic = "sheaf-scaling";
constexpr int version = 1;

ScaleMethod read_method(LineReader& reader) {
  reader.key("method");
  try {
    const auto method = parse_scale_method(reader.word());
    reader.skip(reader.word());
    reader.end_line();
    return method;
  } catch (const UsageError& error) {
    reader.fail_here(error.what());
  }
}

void read_feature(LineReader& reader, bool named, Scaling& scaling) {
  reader.next_line(fmt::format("feature {}", scaling.features() + 1));
  scaling.shift.push_back(reader.finite("a number, the shift"));
  reader.skip(reader.word());
  reader.space("the factor");
  scaling.factor.push_back(reader.finite("a number, the factor"));
  if (scaling.factor.back() == 0) reader.fail_here("a factor of 0 would lose the feature");
  reader.skip(reader.word());
  if (named) {
    reader.space("the name");
    scaling.feature_names.push_back(reader.escaped_rest());
  }
  reader.end_line();
}

}  // namespace

void save_scaling(const Scaling& scaling, const std::string& path) {
  const bool named = !scaling.feature_names.empty();
  std::string text = fmt::format("{} {}\nmethod {}\nfeatures {}\nnames {}\n", magic, version, to_string(scaling.method),
                                 scaling.features(), named ? "yes" : "no");
  for (std::size_t j = 0; j < scaling.shift.size(); ++j) {
    text += fmt::format("{} {}", scaling.shift[j], scaling.factor[j]);
    if (named) text += ' ' + escape_line(scaling.feature_names[j]);
    text += '\n';
  }
  write_text_file(path, text);
}

Scaling load_scaling(const std::string& path) {
  const TextSource source(path, silent_progress());
  LineReader reader(path, source.text());
  Scaling scaling;
  reader.version("scaling", magic, version);
  scaling.method = read_method(reader);
  const auto count = reader.count("features");
  const bool named = reader.yes_or_no("names");
  while (scaling.features() < count) read_feature(reader, named, scaling);
  reader.end_file(count);
  return scaling;
}

}  // namespace sheaf

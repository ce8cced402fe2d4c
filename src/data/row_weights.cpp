#include <sheaf/row_weights.hpp>

#include <limits>

#include "data/line_reader.hpp"
#include "data/text_source.hpp"

namespace sheaf {

std::vector<float> read_row_weights(const std::string& path, std::int64_t rows) {
  const TextSource source(path, silent_progress());
  LineReader reader(path, source.text());
  std::vector<float> weights;
  weights.reserve(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    reader.next_line(fmt::format("the weight of row {} of {}", i + 1, rows));
    const double weight = reader.finite("a weight");
    if (weight < 0 || weight > static_cast<double>(std::numeric_limits<float>::max()))
      reader.fail_here(fmt::format("a weight is 0 or more, not {}", reader.word()));
    weights.push_back(static_cast<float>(weight));
    reader.skip(reader.word());
    reader.end_line();
  }
  if (!reader.at_end()) {
    reader.next_line("nothing");
    reader.fail_here(fmt::format("expected the end of the file after the weights of {} rows", rows));
  }
  return weights;
}

}  // namespace sheaf

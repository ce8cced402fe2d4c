#include "data/matrices/annotations.hpp"

#include <algorithm>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/matrices/id_table.hpp"
#include "data/read/columns.hpp"

namespace sheaf {

template <class T>
void annotate(const Reading& reading, const std::string& name, std::vector<std::string> values, Dataset<T>& dataset) {
  if (std::ssize(values) != dataset.features())
    fail("{}: '{}' has {}, and there are {} features", reading.name, name, counted(values.size(), "entry"),
         dataset.features());
  for (std::size_t j = 0; j < values.size(); ++j)
    if (!is_utf8(values[j]))
      fail("{}: entry {} of '{}' is not UTF-8 text; convert the file", reading.name, j + 1, name);
  std::erase_if(dataset.annotations, [&](const auto& one) { return one.name == name; });
  const bool varies =
      std::any_of(values.begin(), values.end(), [&](const auto& value) { return value != values.front(); });
  if ((varies || values.size() == 1) && values != dataset.feature_names)
    dataset.annotations.push_back({name, std::move(values)});
}

template <class T>
void join_annotations(const Reading& reading, Dataset<T>& dataset) {
  const auto& path = reading.options.annotations;
  if (path.empty()) return;
  const IdTable table(reading, path, {});
  std::vector<std::int64_t> lines;
  std::vector<std::string> alone;
  for (std::int64_t j = 0; j < dataset.features(); ++j) {
    lines.push_back(table.line_of(dataset.feature_name(j)));
    if (lines.back() < 0) alone.push_back(dataset.feature_name(j));
  }
  if (std::ssize(alone) == dataset.features())
    fail("{}: none of its ids ({}: {}) is the name of a feature of {} ({}); its first column must hold them", path,
         table.names().front(), some_names(table.cells(0)), reading.name, some_names(alone));
  if (!alone.empty())
    dataset.notes.push_back(fmt::format("{}: {} of {} features have no annotation in {}: {}", reading.name,
                                        alone.size(), dataset.features(), path, some_names(alone)));
  for (std::size_t c = 1; c < table.names().size(); ++c) {
    std::vector<std::string> values;
    for (const auto line : lines)
      values.push_back(line < 0 ? std::string() : table.cells(c)[static_cast<std::size_t>(line)]);
    annotate(reading, table.names()[c], std::move(values), dataset);
  }
}

template void annotate(const Reading&, const std::string&, std::vector<std::string>, Dataset<float>&);
template void annotate(const Reading&, const std::string&, std::vector<std::string>, Dataset<double>&);
template void join_annotations(const Reading&, Dataset<float>&);
template void join_annotations(const Reading&, Dataset<double>&);

}  // namespace sheaf

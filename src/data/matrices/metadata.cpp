#include "data/matrices/metadata.hpp"

#include <algorithm>
#include <memory>

#include "core/fail.hpp"
#include "data/matrices/id_table.hpp"
#include "data/read/columns.hpp"

namespace sheaf {

std::vector<std::string> metadata_names(const Reading& reading) {
  const IdTable metadata(reading, reading.options.metadata, reading.options.id);
  auto names = metadata.names();
  names.erase(names.begin() + static_cast<std::ptrdiff_t>(metadata.id()));
  return names;
}

std::string id_column(const Reading& reading) {
  const IdTable metadata(reading, reading.options.metadata, reading.options.id);
  const auto& name = metadata.names()[metadata.id()];
  return name.starts_with('#') ? name.substr(1) : name;  // the first column of QIIME's files is called #SampleID
}

template <class T>
std::vector<bool> join_metadata(const Reading& reading, Dataset<T>& dataset, RowTable& table) {
  const auto& path = reading.options.metadata;
  if (path.empty()) return {};
  if (dataset.row_names.empty())
    fail_usage("{}: its rows have no ids, so that {} cannot be joined (--metadata)", reading.name, path);
  const auto metadata = std::make_shared<IdTable>(reading, path, reading.options.id);
  std::vector<std::int64_t> lines;
  std::vector<bool> unmatched;
  std::vector<std::string> alone;
  std::vector<bool> used(metadata->cells(metadata->id()).size(), false);
  for (const auto& name : dataset.row_names) {
    lines.push_back(metadata->line_of(name));
    unmatched.push_back(lines.back() < 0);
    if (lines.back() < 0)
      alone.push_back(name);
    else
      used[static_cast<std::size_t>(lines.back())] = true;
  }
  std::vector<std::string> unused;
  for (std::size_t k = 0; k < used.size(); ++k)
    if (!used[k]) unused.push_back(metadata->cells(metadata->id())[k]);
  if (alone.size() == unmatched.size())
    fail("{}: none of its ids ({}: {}) is one of the ids of {} ({}); --id names another column", path,
         metadata->names()[metadata->id()], some_names(unused), reading.name, some_names(alone));
  if (!alone.empty())
    dataset.notes.push_back(fmt::format("{}: {} of {} rows have no line in {}{}: {}", reading.name, alone.size(),
                                        unmatched.size(), path, reading.options.known ? "" : " and are left out",
                                        some_names(alone)));
  if (!unused.empty())
    dataset.notes.push_back(fmt::format("{}: {} of {} ids name no row of {}: {}", path, unused.size(), used.size(),
                                        reading.name, some_names(unused)));
  for (std::size_t j = 0; j < metadata->names().size(); ++j) {
    if (j == metadata->id()) continue;
    const auto& name = metadata->names()[j];
    std::erase_if(table.columns, [&](const auto& one) { return one.name == name; });
    table.columns.push_back({name, [metadata, lines, j] {
                               std::vector<std::string> cells;
                               cells.reserve(lines.size());
                               for (const auto line : lines)
                                 cells.push_back(line < 0 ? std::string()
                                                          : metadata->cells(j)[static_cast<std::size_t>(line)]);
                               return cells;
                             }});
  }
  return unmatched;
}

template std::vector<bool> join_metadata(const Reading&, Dataset<float>&, RowTable&);
template std::vector<bool> join_metadata(const Reading&, Dataset<double>&, RowTable&);

}  // namespace sheaf

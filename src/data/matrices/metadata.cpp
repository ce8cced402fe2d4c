#include "data/matrices/metadata.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/budget.hpp"
#include "data/bytes/text_source.hpp"
#include "data/read/columns.hpp"
#include "data/read/csv_fields.hpp"
#include "data/read/csv_layout.hpp"

namespace sheaf {
namespace {

/// The first column of QIIME's files is called #SampleID.
std::string_view without_hash(std::string_view name) { return name.starts_with('#') ? name.substr(1) : name; }

class Metadata {
 public:
  explicit Metadata(const Reading& reading)
      : name_(reading.options.metadata),
        source_(name_, reading.context.progress(), reading.context.stop(), cpu_budget(reading.context)) {
    ReadOptions options;
    options.label = "none";
    const Reading own{reading.context, without_mark(source_.text()), name_, options};
    if (own.text.empty()) fail("{}: is empty", name_);
    check_is_text(own);
    const auto layout = find_layout(own);
    if (!layout.header) fail("{}: the first line must name the columns, such as sample, age, disease", name_);
    names_ = layout.names;
    id_ = find_id(reading.options.id);
    read_rows(own, layout);
  }

  const std::vector<std::string>& names() const { return names_; }
  std::size_t id() const { return id_; }
  /// The line of an id; -1: it has none.
  std::int64_t line_of(const std::string& id) const {
    const auto found = lines_.find(id);
    return found == lines_.end() ? -1 : found->second;
  }
  const std::vector<std::string>& cells(std::size_t column) const { return cells_[column]; }

 private:
  static std::string_view without_mark(std::string_view text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return text.starts_with(mark) ? text.substr(mark.size()) : text;
  }

  std::size_t find_id(const std::string& wanted) const {
    if (wanted.empty()) return 0;
    for (std::size_t j = 0; j < names_.size(); ++j)
      if (names_[j] == wanted || without_hash(names_[j]) == without_hash(wanted)) return j;
    const auto nearest = nearest_name(wanted, names_);
    fail_usage("{}: there is no column {} (--id); its columns are {}{}", name_, shown(wanted), some_names(names_),
               nearest.empty() ? "" : fmt::format("; did you mean {}?", shown(nearest)));
  }

  void read_rows(const Reading& own, const CsvLayout& layout) {
    constexpr std::string_view types_of_qiime = "#q2:";
    cells_.resize(names_.size());
    const char* end = own.limit();
    for (const char* at = layout.body; (at = skip_empty_lines(at, end)) < end;) {
      const char* begin = at;
      const auto fields = next_record(own, layout.delimiter, at, end);
      if (fields.front().text.starts_with(types_of_qiime)) continue;
      if (fields.size() != names_.size())
        fail_at(own, begin,
                fmt::format("the row has {} fields; {} are expected, as in the header", fields.size(), names_.size()));
      const auto& id = fields[id_];
      const auto line = static_cast<std::int64_t>(cells_.front().size());
      if (!lines_.try_emplace(id.plain(), line).second)
        fail_at(own, id.at, fmt::format("the id {} stands twice; each sample has one line", shown(id.plain())));
      for (std::size_t j = 0; j < fields.size(); ++j)
        cells_[j].push_back(checked_name(own, fields[j].plain(), fields[j].at));
    }
  }

  std::string name_;
  TextSource source_;
  std::vector<std::string> names_;
  std::size_t id_ = 0;
  std::vector<std::vector<std::string>> cells_;  // of each column
  std::unordered_map<std::string, std::int64_t> lines_;
};

}  // namespace

std::vector<std::string> metadata_names(const Reading& reading) {
  const Metadata metadata(reading);
  auto names = metadata.names();
  names.erase(names.begin() + static_cast<std::ptrdiff_t>(metadata.id()));
  return names;
}

std::string id_column(const Reading& reading) {
  const Metadata metadata(reading);
  return std::string(without_hash(metadata.names()[metadata.id()]));
}

template <class T>
std::vector<bool> join_metadata(const Reading& reading, Dataset<T>& dataset, RowTable& table) {
  const auto& path = reading.options.metadata;
  if (path.empty()) return {};
  if (dataset.row_names.empty())
    fail_usage("{}: its rows have no ids, so that {} cannot be joined (--metadata)", reading.name, path);
  const auto metadata = std::make_shared<Metadata>(reading);
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

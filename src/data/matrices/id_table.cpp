#include "data/matrices/id_table.hpp"

#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/bytes/text_source.hpp"
#include "data/bytes/zip.hpp"
#include "data/read/columns.hpp"
#include "data/read/csv_fields.hpp"
#include "data/read/csv_layout.hpp"

namespace sheaf {
namespace {

/// The first column of QIIME's files is called #SampleID.
std::string_view without_hash(std::string_view name) { return name.starts_with('#') ? name.substr(1) : name; }

/// The table of QIIME 2's artifact: its only .tsv file below data/.
ZipArchive::Content read_artifact(const Reading& reading, std::string_view bytes, const std::string& name) {
  const ZipArchive archive(bytes, name);
  for (const auto& member : archive.members())
    if (member.name.find("/data/") != std::string::npos && member.name.ends_with(".tsv"))
      return archive.read(member, cpu_budget(reading.context));
  fail("{}: is an archive without a table (data/*.tsv); export the artifact, or give a CSV or TSV file", name);
}

}  // namespace

IdTable::IdTable(const Reading& reading, const std::string& path, const std::string& wanted_id) : name_(path) {
  const TextSource source(name_, reading.context.progress(), reading.context.stop(), cpu_budget(reading.context));
  ZipArchive::Content unpacked;
  auto text = source.text();
  if (is_zip(text)) {
    unpacked = read_artifact(reading, text, name_);
    text = unpacked.bytes;
  }
  ReadOptions options;
  options.label = "none";
  options.header = Header::yes;
  const Reading own{reading.context, without_mark(text), name_, options};
  if (own.text.empty()) fail("{}: is empty", name_);
  check_is_text(own);
  const auto layout = find_layout(own);
  names_ = layout.names;
  id_ = find_id(wanted_id);
  read_rows(own, layout.delimiter, layout.body);
}

std::size_t IdTable::find_id(const std::string& wanted) const {
  if (wanted.empty()) return 0;
  for (std::size_t j = 0; j < names_.size(); ++j)
    if (names_[j] == wanted || without_hash(names_[j]) == without_hash(wanted)) return j;
  const auto nearest = nearest_name(wanted, names_);
  fail_usage("{}: there is no column {} (--id); its columns are {}{}", name_, shown(wanted), some_names(names_),
             nearest.empty() ? "" : fmt::format("; did you mean {}?", shown(nearest)));
}

void IdTable::read_rows(const Reading& own, char delimiter, const char* body) {
  constexpr std::string_view types_of_qiime = "#q2:";
  cells_.resize(names_.size());
  const char* end = own.limit();
  for (const char* at = body; (at = skip_empty_lines(at, end)) < end;) {
    const char* begin = at;
    const auto fields = next_record(own, delimiter, at, end);
    if (fields.front().text.starts_with(types_of_qiime)) continue;
    if (fields.size() != names_.size())
      fail_at(own, begin,
              fmt::format("the row has {}; {} are expected, as in the header", counted(fields.size(), "field"),
                          names_.size()));
    const auto& id = fields[id_];
    if (!lines_.try_emplace(id.plain(), lines()).second)
      fail_at(own, id.at, fmt::format("the id {} stands twice; each has one line", shown(id.plain())));
    for (std::size_t j = 0; j < fields.size(); ++j)
      cells_[j].push_back(checked_name(own, fields[j].plain(), fields[j].at));
  }
}

}  // namespace sheaf

// Writes a dataset as a .sheaf file: all sections are known, with their hashes, before the first byte is written.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>

#include "data/bytes/mapped_file.hpp"
#include "data/bytes/sink.hpp"
#include "data/sheaf_file/about.hpp"
#include "data/sheaf_file/hash.hpp"
#include "data/sheaf_file/summary.hpp"
#include "data/sheaf_file/write.hpp"

namespace sheaf {
namespace sheaf_file {
namespace {

struct WrittenSection {
  SectionKind kind;
  std::string_view bytes;
};

class Sections {
 public:
  /// Memory that lives as long as the sections.
  template <class Element>
  void add(SectionKind kind, std::span<const Element> elements) {
    list_.push_back({kind, {reinterpret_cast<const char*>(elements.data()), elements.size_bytes()}});
  }
  template <class Element>
  void add_some(SectionKind kind, const std::vector<Element>& elements) {
    if (!elements.empty()) add(kind, std::span<const Element>(elements));
  }
  void add_own(SectionKind kind, std::string bytes) {
    own_.push_back(std::move(bytes));
    list_.push_back({kind, own_.back()});
  }
  void add_texts(SectionKind kind, const std::vector<std::string>& texts) {
    std::vector<std::uint64_t> ends{texts.size()};
    for (const auto& text : texts) ends.push_back((ends.size() > 1 ? ends.back() : 0) + text.size());
    std::string bytes(reinterpret_cast<const char*>(ends.data()), ends.size() * sizeof(std::uint64_t));
    for (const auto& text : texts) bytes += text;
    add_own(kind, std::move(bytes));
  }
  void add_some_texts(SectionKind kind, const std::vector<std::string>& texts) {
    if (!texts.empty()) add_texts(kind, texts);
  }
  const std::vector<WrittenSection>& list() const { return list_; }

 private:
  std::vector<WrittenSection> list_;
  std::deque<std::string> own_;
};

void add_target(const Target& target, Sections& sections) {
  sections.add_some_texts(SectionKind::class_names, target.class_names);
  sections.add_some(SectionKind::classes, target.classes);
  sections.add_some(SectionKind::label_values, target.values);
  sections.add_some(SectionKind::events, target.events);
  sections.add_some(SectionKind::entries, target.entries);
  sections.add_some(SectionKind::strata, target.strata);
  if (!target.several()) return;
  std::string bytes;
  for (const auto& one : target.further)
    bytes.append(reinterpret_cast<const char*>(one.values.data()), one.values.size() * sizeof(double));
  sections.add_own(SectionKind::further_labels, std::move(bytes));
}

void add_levels(const std::vector<std::vector<std::string>>& levels, Sections& sections) {
  if (levels.empty()) return;
  std::vector<std::int32_t> counts;
  std::vector<std::string> names;
  for (const auto& of_feature : levels) {
    counts.push_back(static_cast<std::int32_t>(of_feature.size()));
    names.insert(names.end(), of_feature.begin(), of_feature.end());
  }
  sections.add_own(SectionKind::level_counts,
                   {reinterpret_cast<const char*>(counts.data()), counts.size() * sizeof(std::int32_t)});
  sections.add_texts(SectionKind::levels, names);
}

template <class T>
Sections sections_of(const Dataset<T>& dataset, const About& about, const StoredSummary& summary) {
  Sections sections;
  sections.add_own(SectionKind::about, encode_about(about));
  sections.add_own(SectionKind::summary, encode_summary(summary));
  sections.add_some_texts(SectionKind::feature_names, dataset.feature_names);
  sections.add_some_texts(SectionKind::row_names, dataset.row_names);
  add_levels(dataset.levels, sections);
  add_target(dataset.target, sections);
  sections.add_some(SectionKind::groups, dataset.groups);
  sections.add_some_texts(SectionKind::group_names, dataset.group_names);
  sections.add_some(SectionKind::weights, dataset.row_columns.weights);
  sections.add_some(SectionKind::times, dataset.row_columns.times);
  sections.add_some(SectionKind::folds, dataset.row_columns.folds);
  for (const auto& kept : dataset.kept) sections.add_texts(SectionKind::kept_column, kept.values);
  for (const auto& column : dataset.annotations) sections.add_texts(SectionKind::annotation, column.values);
  std::visit([&](const auto& x) { sections.add(SectionKind::values, x.values.span()); }, dataset.x);
  if (const auto* sparse = std::get_if<SparseMatrix<T>>(&dataset.x)) {
    sections.add(SectionKind::indices, sparse->indices.span());
    sections.add(SectionKind::offsets, sparse->offsets.span());
  }
  return sections;
}

template <class T>
Header header_of(const Dataset<T>& dataset, const StoredSummary& summary) {
  Header header{};
  std::copy(sheaf_magic.begin(), sheaf_magic.end(), header.magic.begin());
  header.version = layout_version;
  header.rows = dataset.rows();
  header.features = dataset.features();
  header.stored = stored(dataset.x);
  header.element_bytes = sizeof(T);
  header.compressed_rows = is_sparse(dataset.x) ? 1 : 0;
  header.missing = summary.missing.empty() ? 0 : 1;
  return header;
}

std::uint64_t rounded(std::uint64_t at, std::int64_t unit) {
  const auto step = static_cast<std::uint64_t>(unit);
  return (at + step - 1) / step * step;
}

/// Header and table, as they stand in the file.
std::string begin_of_file(const Context& context, Header header, const std::vector<WrittenSection>& sections) {
  header.sections = static_cast<std::uint32_t>(sections.size());
  header.header_bytes = sizeof(Header) + sections.size() * sizeof(SectionEntry);
  std::string bytes(header.header_bytes, '\0');
  std::uint64_t end = header.header_bytes;
  for (std::size_t k = 0; k < sections.size(); ++k) {
    const auto& section = sections[k];
    SectionEntry entry{};
    entry.kind = static_cast<std::uint32_t>(section.kind);
    entry.offset = rounded(end, is_matrix(section.kind) ? page : alignment);
    entry.bytes = section.bytes.size();
    entry.hash = hash_section(context, section.bytes);
    end = entry.offset + entry.bytes;
    std::memcpy(bytes.data() + sizeof(Header) + k * sizeof(SectionEntry), &entry, sizeof entry);
  }
  header.file_bytes = end;
  std::memcpy(bytes.data(), &header, sizeof header);
  header.hash = hash_header(bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

void write_all(const Context& context, Sink& sink, const std::string& table,
               const std::vector<WrittenSection>& sections) {
  constexpr std::size_t at_once = std::size_t{64} << 20U;
  sink.write(table);
  std::uint64_t end = table.size();
  for (const auto& section : sections) {
    const auto begin = rounded(end, is_matrix(section.kind) ? page : alignment);
    sink.write(std::string(begin - end, '\0'));
    for (std::size_t at = 0; at < section.bytes.size(); at += at_once) {
      context.check_stop();
      sink.write(section.bytes.substr(at, at_once));
    }
    end = begin + section.bytes.size();
  }
}

template <class T>
void check_finite(const Dataset<T>& dataset, const StoredSummary& summary) {
  const auto& features = summary.matrix.per_feature;
  for (std::size_t j = 0; j < features.size(); ++j)
    if (std::isinf(features[j].minimum) || std::isinf(features[j].maximum))
      fail("{}: feature '{}' has an infinite value; a finite number is expected", dataset.source,
           dataset.feature_name(static_cast<std::int64_t>(j)));
}

}  // namespace

template <class T>
void write_dataset_file(const Context& context, const Dataset<T>& dataset, const std::string& path,
                        const About& about) {
  const auto summary = summarize_to_store(context, dataset);
  check_finite(dataset, summary);
  const auto sections = sections_of(dataset, about, summary);
  const auto table = begin_of_file(context, header_of(dataset, summary), sections.list());
  const auto sink = open_sink(path);
  write_all(context, *sink, table, sections.list());
  sink->finish();
}

template void write_dataset_file(const Context&, const Dataset<float>&, const std::string&, const About&);
template void write_dataset_file(const Context&, const Dataset<double>&, const std::string&, const About&);

}  // namespace sheaf_file

template <class T>
void write_sheaf_file(const Writing<T>& writing) {
  if (writing.options.digits > 0)
    fail_usage("{}: holds numbers in binary form, which have no number of digits (--digits)", writing.path);
  sheaf_file::write_dataset_file(writing.context, writing.dataset, writing.path, sheaf_file::about(writing.dataset));
}

template void write_sheaf_file(const Writing<float>&);
template void write_sheaf_file(const Writing<double>&);

}  // namespace sheaf

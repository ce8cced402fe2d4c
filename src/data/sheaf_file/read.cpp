// A dataset of a .sheaf file. Its matrix stays where the file is mapped if it has the precision that is asked for.
#include <sheaf/io.hpp>

#include <algorithm>
#include <array>
#include <memory>

#include "core/fail.hpp"
#include "data/bytes/mapped_file.hpp"
#include "data/matrices/matrix_file.hpp"
#include "data/name_source.hpp"
#include "data/read/impute.hpp"
#include "data/read/storage.hpp"
#include "data/sheaf_file/check.hpp"
#include "data/sheaf_file/columns.hpp"
#include "data/sheaf_file/summary.hpp"

namespace sheaf {
namespace sheaf_file {
namespace {

/// Over the bytes of the file.
template <class Element>
Matrix<Element> matrix_over(const File& file) {
  const auto& h = file.header();
  const auto array = [&]<class E>(SectionKind kind, std::int64_t count, std::type_identity<E>) {
    return Array<E>::over(file.elements<E>(kind, count, "numbers").data(), count);
  };
  auto values = array(SectionKind::values, h.stored, std::type_identity<Element>{});
  if (h.compressed_rows == 0) return DenseMatrix<Element>{h.rows, h.features, std::move(values)};
  return SparseMatrix<Element>{
      h.rows, h.features, array(SectionKind::offsets, h.rows + 1, std::type_identity<std::int64_t>{}),
      array(SectionKind::indices, h.stored, std::type_identity<std::int32_t>{}), std::move(values)};
}

template <class T>
double bytes_in_memory(const Header& h) {
  return h.compressed_rows == 1 ? sparse_bytes<T>(h.rows, h.stored)
                                : static_cast<double>(h.stored) * static_cast<double>(sizeof(T));
}

template <class T>
void check_copy(const Reading& reading, const File& file) {
  check_memory(reading, bytes_in_memory<T>(file.header()),
               fmt::format("{} rows of {} features in another precision or storage", file.header().rows,
                           file.header().features));
}

template <class T, class Element>
Matrix<T> matrix_as(const Reading& reading, const File& file) {
  auto x = matrix_over<Element>(file);
  if constexpr (std::is_same_v<T, Element>) {
    if (reading.owner) return x;
    check_copy<T>(reading, file);
    return std::visit([](const auto& matrix) { return Matrix<T>(matrix.to(Device::cpu())); }, x);
  } else {
    check_copy<T>(reading, file);
    return name_source(reading.name, [&] { return convert_precision<T, Element>(x, reading.context.threads()); });
  }
}

/// Whether the dataset is wanted with the columns that the file has.
bool wants_all(const ReadOptions& o) {
  const bool roles = !o.label.empty() || !o.event.empty() || !o.entry.empty() || !o.strata.empty() ||
                     !o.group.empty() || !o.order.empty() || !o.weight_column.empty() || !o.split_column.empty();
  const bool labels = o.task != LabelKind::automatic || !o.positive.empty() || o.class_order != ClassOrder::sorted;
  return !roles && !labels && o.metadata.empty() && o.ignore.empty() && o.nominal.empty() && o.keep.empty() && !o.known;
}

constexpr const char* unnamed_label = "label";

/// Labels, groups and kept columns as columns about the rows, which options may give other roles.
template <class T>
RowTable table_of(const std::shared_ptr<const File>& file, const About& about, const Dataset<T>& dataset) {
  RowTable table;
  for (std::size_t k = 0; k < about.kept.size(); ++k)
    table.columns.push_back({about.kept[k], [file, about, k] { return read_kept(*file, about, k); }});
  const auto add = [&](const std::string& name, auto&& texts) {
    if (!name.empty() && table.find(name) == nullptr) table.columns.push_back({name, texts});
  };
  const auto numbers = [&](const std::string& name, const std::vector<double>& values) {
    add(name, [values] {
      std::vector<std::string> texts;
      for (const double value : values) texts.push_back(fmt::format("{}", value));
      return texts;
    });
  };
  const auto named = [&](const std::string& name, const std::vector<std::int32_t>& ids,
                         const std::vector<std::string>& names) {
    add(name, [ids, names] {
      std::vector<std::string> texts;
      for (const auto id : ids) texts.push_back(id < 0 ? std::string() : names[static_cast<std::size_t>(id)]);
      return texts;
    });
  };
  const auto& target = dataset.target;
  const auto label = about.label.empty() ? std::string(unnamed_label) : about.label;
  if (!target.classes.empty()) named(label, target.classes, target.class_names);
  if (!target.values.empty()) numbers(label, target.values);
  for (const auto& one : target.further) numbers(one.name, one.values);
  const auto& rows = dataset.row_columns;
  if (target.survival()) numbers("event", {target.events.begin(), target.events.end()});
  if (!target.entries.empty()) numbers("entry", target.entries);
  if (!target.strata.empty()) numbers("stratum", {target.strata.begin(), target.strata.end()});
  if (!dataset.groups.empty()) named("group", dataset.groups, dataset.group_names);
  if (!rows.weights.empty()) numbers("weight", {rows.weights.begin(), rows.weights.end()});
  if (!rows.times.empty())
    numbers(rows.time_name.empty() ? "time" : rows.time_name, {rows.times.begin(), rows.times.end()});
  if (!rows.folds.empty()) named("fold", rows.folds, rows.fold_names);
  return table;
}

/// Whether the stored label is the one that is meant.
bool keeps_label(const ReadOptions& o, const About& about) {
  if (!o.label.empty() || o.task != LabelKind::automatic || !o.positive.empty() || o.class_order != ClassOrder::sorted)
    return false;
  return !o.known || o.known->label.empty() ||
         (o.known->label == about.label && o.known->further_labels == about.further_labels);
}

/// Options for finish_dataset(): roles that were not asked for stay as the file has them.
template <class T>
ReadOptions options_for(const ReadOptions& given, const About& about, Dataset<T>& dataset) {
  auto options = given;
  options.keep_left_out = false;  // kept columns are there
  if (!given.group.empty()) {
    dataset.groups.clear();
    dataset.group_names.clear();
    if (given.group == "none") options.group.clear();
  }
  if (dataset.target.empty()) return options;
  if (keeps_label(given, about)) {
    options.label = "none";
    return options;
  }
  const bool plain = !dataset.target.several() && !dataset.target.survival();
  if (given.label.empty() && !given.known && plain) options.label = about.label.empty() ? unnamed_label : about.label;
  dataset.target = {};
  return options;
}

/// Columns that are carried along, but for those that have a role now.
template <class T>
void keep_columns(const ReadOptions& options, const File& file, const About& about, Dataset<T>& dataset) {
  if (!options.keep_left_out) return;
  const std::array taken{options.label, options.event, options.entry,         options.strata,
                         options.group, options.order, options.weight_column, options.split_column};
  for (std::size_t k = 0; k < about.kept.size(); ++k)
    if (about.kept[k].empty() || std::find(taken.begin(), taken.end(), about.kept[k]) == taken.end())
      dataset.kept.push_back({about.kept[k], read_kept(file, about, k)});
}

template <class T>
void fill_gaps(const Reading& reading, const File& file, Dataset<T>& dataset) {
  if (reading.options.missing == Missing::keep || reading.options.missing == Missing::error) return;
  if (reading.owner) check_copy<T>(reading, file);
  dataset.change_x();
  impute(reading, dataset);
}

/// Columns as the file has them.
template <class T>
Dataset<T> with_all(const Reading& reading, const File& file, Dataset<T> dataset) {
  const bool changed = reading.options.storage == (is_sparse(dataset.x) ? Storage::dense : Storage::sparse);
  const bool gaps =
      reading.options.verify == Verify::none ? file.header().missing == 1 : check_matrix(reading, dataset);
  if (gaps && reading.options.missing == Missing::error) check_matrix(reading, dataset);  // says where
  if (file.find(SectionKind::summary) != nullptr && sizeof(T) == file.header().element_bytes)
    keep_stored_summary(decode_summary(file), dataset);
  if (gaps) fill_gaps(reading, file, dataset);
  if (!changed) return dataset;
  check_copy<T>(reading, file);
  dataset.replace_x(std::visit([&](auto& x) { return stored_as(reading, std::move(x)); }, dataset.x));
  return dataset;
}

/// Columns as the options ask.
template <class T>
Dataset<T> with_roles(const Reading& reading, const std::shared_ptr<const File>& file, const About& about,
                      Dataset<T> dataset) {
  auto lenient = reading.options;
  lenient.missing = Missing::keep;  // a column that is left out may have gaps
  const Reading all{reading.context, reading.text, reading.name, lenient, reading.chunk_bytes, reading.mapped};
  if (check_matrix(all, dataset)) fill_gaps(reading, *file, dataset);
  auto table = table_of(file, about, dataset);
  const auto options = options_for(reading.options, about, dataset);
  const Reading roles{reading.context, reading.text, reading.name, options, reading.chunk_bytes, reading.mapped};
  auto result = finish_dataset(roles, MatrixFile<T>{std::move(dataset), std::move(table)});
  result.owner = reading.owner;
  return result;
}

}  // namespace
}  // namespace sheaf_file

bool is_sheaf_file(std::string_view bytes) { return bytes.starts_with(sheaf_magic); }

template <class T>
Dataset<T> read_sheaf_file(const Reading& reading) {
  using namespace sheaf_file;
  if (reinterpret_cast<std::uintptr_t>(reading.text.data()) % alignment != 0) {  // memory of somebody else
    check_memory(reading, static_cast<double>(reading.text.size()), "a copy of the file");
    const auto copy = Array<char>::copy_of(reading.text);
    return read_sheaf_file<T>({reading.context, {copy.data(), reading.text.size()}, reading.name, reading.options});
  }
  const auto file = std::make_shared<const File>(reading.name, reading.text);
  file->check_hashes(reading.context, reading.options.verify == Verify::checksums);
  const auto about = decode_about(*file);
  Dataset<T> dataset;
  dataset.x = file->header().element_bytes == sizeof(float) ? matrix_as<T, float>(reading, *file)
                                                            : matrix_as<T, double>(reading, *file);
  dataset.owner = reading.owner;
  if (file->header().element_bytes < sizeof(T))
    dataset.notes.push_back(
        fmt::format("{}: holds values in single precision, which --precision double does not make more exact; convert "
                    "the original file with --precision double",
                    reading.name));
  read_columns(*file, about, dataset);
  keep_columns(reading.options, *file, about, dataset);
  if (wants_all(reading.options)) return with_all(reading, *file, std::move(dataset));
  return with_roles(reading, file, about, std::move(dataset));
}

template Dataset<float> read_sheaf_file(const Reading&);
template Dataset<double> read_sheaf_file(const Reading&);

}  // namespace sheaf

// Datasets over memory of a language: targets, precision; and the devices of this machine.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <sheaf/bindings/value.hpp>
#include <sheaf/sheaf.hpp>

namespace sheaf::bindings {

/// A dataset in one of the two precisions.
using AnyDataset = std::variant<Dataset<float>, Dataset<double>>;

inline AnyDataset make_dataset(const Context& context, bool single, const MatrixInput& input,
                               const DatasetOptions& options) {
  if (single) return sheaf::make_dataset<float>(context, input, {}, options);
  return sheaf::make_dataset<double>(context, input, {}, options);
}

/// Classes by number, in the order of the names, which models keep.
inline Target target_of_classes(std::vector<std::int32_t> classes, std::vector<std::string> names) {
  for (const auto number : classes)
    if (number < 0 || number >= std::ssize(names)) throw UsageError("a class has no name");
  Target target;
  target.kind = LabelKind::classes;
  target.classes = std::move(classes);
  target.class_names = std::move(names);
  target.fixed_order = true;
  return target;
}
/// Numbers or, with events (1: it came then, 0: the row is censored), times, with entries and strata if there are some.
inline Target target_of_numbers(std::vector<double> numbers, std::vector<std::uint8_t> events = {},
                                std::vector<double> entries = {}, std::vector<std::int32_t> strata = {}) {
  Target target;
  target.kind = LabelKind::numbers;
  target.values = std::move(numbers);
  target.events = std::move(events);
  target.entries = std::move(entries);
  target.strata = std::move(strata);
  return target;
}

/// Dense values as a matrix; others compressed by rows, or by columns, as `values`, `indices` and `offsets`.
inline Value matrix_of(const Context& context, Dataset<double>& dataset, bool by_columns) {
  if (const auto* dense = std::get_if<DenseMatrix<double>>(&dataset.x))
    return Matrix{{dense->values.begin(), dense->values.end()}, dense->rows, dense->columns};
  const auto parts = [](const auto& matrix) {
    return List()
        .add("values", std::vector<double>(matrix.values.begin(), matrix.values.end()))
        .add("indices", std::vector<std::int32_t>(matrix.indices.begin(), matrix.indices.end()))
        .add("offsets", std::vector<std::int64_t>(matrix.offsets.begin(), matrix.offsets.end()));
  };
  if (by_columns) return parts(dataset.by_columns(Device::cpu(), context.threads()));
  return parts(std::get<SparseMatrix<double>>(dataset.x));
}

/// All that a dataset says of rows and columns but their values. What it does not have is not in the list.
template <class T>
List describe(const Dataset<T>& dataset) {
  List list;
  list.add("rows", dataset.rows()).add("columns", dataset.features()).add("format", dataset.format);
  list.add("names", dataset.feature_names).add("notes", dataset.notes);
  if (!dataset.row_names.empty()) list.add("row_names", dataset.row_names);
  if (!dataset.levels.empty()) list.add("nominal", dataset.levels);
  if (!dataset.annotations.empty()) {
    List columns;
    columns.is_table = true;
    for (const auto& column : dataset.annotations) columns.add(column.name, column.values);
    list.add("annotations", std::move(columns));
  }
  const auto& target = dataset.target;
  const auto& about_rows = dataset.row_columns;
  if (!target.empty() && target.looks_like_classes())
    list.add("classes", Places(target.classes)).add("levels", target.class_names);
  else if (!target.empty())
    list.add("numbers", target.values);
  if (!target.name.empty()) list.add("label", target.name);
  if (!target.events.empty()) list.add("events", std::vector<std::int32_t>(target.events.begin(), target.events.end()));
  if (!target.entries.empty()) list.add("entries", target.entries);
  if (!target.strata.empty()) list.add("strata", Places(target.strata));
  if (!target.further.empty()) {
    List further;
    further.is_table = true;
    for (const auto& column : target.further) further.add(column.name, column.values);
    list.add("further", std::move(further));
  }
  if (!dataset.groups.empty()) list.add("groups", Places(dataset.groups)).add("group_names", dataset.group_names);
  if (!about_rows.weights.empty())
    list.add("weights", std::vector<double>(about_rows.weights.begin(), about_rows.weights.end()));
  if (!about_rows.times.empty()) list.add("order", Places(about_rows.times));
  if (!about_rows.folds.empty()) list.add("folds", Places(about_rows.folds)).add("fold_names", about_rows.fold_names);
  return list;
}

/// A file of any format: its values as `x`, and its description.
inline List read(const Context& context, const std::string& file, const ReadOptions& options, bool by_columns) {
  auto dataset = read_dataset<double>(context, file, options);
  auto list = describe(dataset);
  list.add("x", matrix_of(context, dataset, by_columns));
  return list;
}

/// What may mislead in the data, as `sheaf fit` reports it.
inline Value findings_table(const Context& context, const AnyDataset& dataset) {
  const auto list = std::visit([&](const auto& one) { return data_findings(context, one); }, dataset);
  return Table(list)
      .column("level",
              [](const Finding& one) {
                return std::string_view(one.level == Finding::Level::warning ? "warning" : "note");
              })
      .column("code", &Finding::code)
      .column("message", &Finding::message);
}

inline Value devices_table() {
  const auto list = list_devices();
  return Table(list)
      .column("device", [](const auto& one) { return to_string(one.device); })
      .column("name", &DeviceInfo::name)
      .column("units", [](const auto& one) { return static_cast<std::int64_t>(one.units); })
      .column("total_bytes", [](const auto& one) { return static_cast<std::int64_t>(one.total_bytes); })
      .column("free_bytes", [](const auto& one) { return static_cast<std::int64_t>(one.free_bytes); })
      .column("usable", &DeviceInfo::usable)
      .column("why_not", &DeviceInfo::why_not)
      .column("detail", &DeviceInfo::detail);
}

}  // namespace sheaf::bindings

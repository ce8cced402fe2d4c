// Datasets over memory of a language: targets, precision; and the devices of this machine.
#pragma once

#include <string>
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
/// Numbers or, with events (1: it came then, 0: the row is censored), times.
inline Target target_of_numbers(std::vector<double> numbers, std::vector<std::uint8_t> events = {}) {
  Target target;
  target.kind = LabelKind::numbers;
  target.values = std::move(numbers);
  target.events = std::move(events);
  return target;
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

#include "model/calibration_file.hpp"

#include <array>

namespace sheaf {
namespace {

constexpr double any_number = std::numeric_limits<double>::lowest();

const std::array<std::string, 2>& method_names() {
  static const std::array<std::string, 2> names{"platt", "isotonic"};
  return names;
}

/// How many there are.
template <class File, class List>
void count_on_line(File& file, List& list, std::string_view expected, std::int64_t least) {
  if constexpr (File::reading) {
    const auto count = file.count(expected, least);
    file.check_room(count);
    list.resize(static_cast<std::size_t>(count));
  } else {
    file.value(list.size(), {});
  }
}

template <class File, class Method, class Curve>
void describe_curve(File& file, Method method, Curve& curve) {
  file.keyword("curve");
  if (method == CalibrationMethod::platt) {
    file.value(curve.slope, "a number, the slope", any_number);
    file.value(curve.offset, "a number, the offset", any_number);
    return file.end_line();
  }
  count_on_line(file, curve.at, "the number of corners", 1);
  file.end_line();
  if constexpr (File::reading) curve.values.resize(curve.at.size());
  file.keyword("at");
  for (auto& at : curve.at) file.value(at, "a number", any_number);
  file.end_line();
  file.keyword("values");
  for (auto& value : curve.values) file.value(value, "a probability", 0);
  file.end_line();
}

template <class File, class Learnt>
void describe(File& file, Learnt& calibration) {
  file.keyword("calibration");
  file.choice(calibration.method, method_names());
  count_on_line(file, calibration.curves, "the number of curves", 1);
  file.end_line();
  for (auto& curve : calibration.curves) describe_curve(file, calibration.method, curve);
}

}  // namespace

void write_calibration(ModelWriter& file, const std::optional<Calibration>& calibration) {
  if (calibration) describe(file, *calibration);
}

std::optional<Calibration> read_calibration(ModelReader& reader) {
  if (reader.peek() != "calibration") return std::nullopt;
  Calibration calibration;
  describe(reader, calibration);
  return calibration;
}

}  // namespace sheaf

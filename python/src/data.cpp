// Datasets over memory of Python: NumPy arrays, the arrays of scipy.sparse, and memory on a GPU.
#include "core.hpp"

namespace sheaf::python {
namespace {

/// All elements that strides can reach from the first one.
template <class T>
std::span<const T> reach(const T* data, const std::vector<std::int64_t>& shape,
                         const std::vector<std::int64_t>& strides) {
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return {};
    last += (shape[axis] - 1) * strides[axis];
  }
  return {data, static_cast<std::size_t>(last + 1)};
}

FloatSpan floats_of(const py::array& array) {
  const auto size = static_cast<std::size_t>(array.size());
  if (py::isinstance<py::array_t<float>>(array)) return std::span(static_cast<const float*>(array.data()), size);
  if (py::isinstance<py::array_t<double>>(array)) return std::span(static_cast<const double*>(array.data()), size);
  throw UsageError("values must be of type float32 or float64");
}
IndexSpan indices_of(const py::array& array) {
  const auto size = static_cast<std::size_t>(array.size());
  if (py::isinstance<py::array_t<std::int32_t>>(array))
    return std::span(static_cast<const std::int32_t*>(array.data()), size);
  if (py::isinstance<py::array_t<std::int64_t>>(array))
    return std::span(static_cast<const std::int64_t*>(array.data()), size);
  throw UsageError("indices must be of type int32 or int64");
}

constexpr std::size_t few_values = std::size_t{1} << 20;

std::size_t values_in(const MatrixInput& input) {
  return std::visit(
      [](const auto& one) { return std::visit([](const auto& values) { return values.size(); }, one.values); }, input);
}

AnyDataset make(const Surroundings& surroundings, const MatrixInput& input, const std::string& precision,
                const std::vector<std::string>& names, bool missing, py::object memory) {
  DatasetOptions options;
  options.feature_names = names;
  if (missing) options.missing = Missing::keep;
  AnyDataset result;
  result.memory = std::move(memory);
  const bool single = bindings::is_single({"precision", precision});
  const auto work = [&](const Context& context) {
    result.any = bindings::make_dataset(context, single, input, options);
  };
  if (values_in(input) <= few_values)
    run_briefly(surroundings, work);
  else
    run(surroundings, work);
  return result;
}

/// `shape` and `strides` in elements.
AnyDataset from_pointer(const Surroundings& surroundings, std::uintptr_t pointer, bool single,
                        const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides,
                        const std::string& device, const std::string& precision, const std::vector<std::string>& names,
                        bool missing, py::object memory) {
  if (shape.size() != 2) throw UsageError("a matrix must have two dimensions");
  const auto* data = reinterpret_cast<const void*>(pointer);  // NOLINT(performance-no-int-to-ptr): Python's numbers
  DenseInput input;
  if (single)
    input.values = reach(static_cast<const float*>(data), shape, strides);
  else
    input.values = reach(static_cast<const double*>(data), shape, strides);
  input.rows = shape[0];
  input.columns = shape[1];
  input.row_stride = strides[0];
  input.column_stride = strides[1];
  input.device = parse_device(device);
  return make(surroundings, input, precision, names, missing, std::move(memory));
}

AnyDataset from_sparse(const Surroundings& surroundings, bool by_rows, std::int64_t rows, std::int64_t columns,
                       const py::array& offsets, const py::array& indices, const py::array& values,
                       const std::string& precision, const std::vector<std::string>& names, bool missing) {
  SparseInput input;
  input.layout = by_rows ? SparseLayout::csr : SparseLayout::csc;
  input.rows = rows;
  input.columns = columns;
  input.offsets = indices_of(offsets);
  input.indices = indices_of(indices);
  input.values = floats_of(values);
  return make(surroundings, input, precision, names, missing, py::make_tuple(offsets, indices, values));
}

void check_count(const AnyDataset& dataset, py::ssize_t count) {
  if (count != dataset.rows())
    throw UsageError("there are " + std::to_string(count) + " labels for " + std::to_string(dataset.rows()) + " rows");
}

void set_target(AnyDataset& dataset, py::ssize_t count, Target target) {
  check_count(dataset, count);
  std::visit([&](auto& one) { one.target = std::move(target); }, dataset.any);
}

template <class T>
std::vector<T> values_of(const py::array_t<T, py::array::c_style>& array) {
  return {array.data(), array.data() + array.size()};
}

/// Classes are numbered as in `names`, an order that models keep.
void set_classes(AnyDataset& dataset, const py::array_t<std::int32_t, py::array::c_style>& classes,
                 std::vector<std::string> names) {
  set_target(dataset, classes.size(), bindings::target_of_classes(values_of(classes), std::move(names)));
}

void set_numbers(AnyDataset& dataset, const py::array_t<double, py::array::c_style>& numbers) {
  set_target(dataset, numbers.size(), bindings::target_of_numbers(values_of(numbers)));
}

/// The group of each row, from 0: splits keep the rows of a group together.
void set_groups(AnyDataset& dataset, const py::array_t<std::int32_t, py::array::c_style>& groups) {
  check_count(dataset, groups.size());
  std::visit([&](auto& one) { one.groups = values_of(groups); }, dataset.any);
}

/// Rows x targets, each target under its name.
void set_targets(AnyDataset& dataset, const py::array_t<double, py::array::c_style>& numbers,
                 const std::vector<std::string>& names) {
  Target target;
  for (py::ssize_t c = 0; c < numbers.shape(1); ++c) {
    std::vector<double> values;
    for (py::ssize_t i = 0; i < numbers.shape(0); ++i) values.push_back(numbers.at(i, c));
    const auto& name = names.at(static_cast<std::size_t>(c));
    if (c > 0) {
      target.further.push_back({name, std::move(values)});
      continue;
    }
    target = bindings::target_of_numbers(std::move(values));
    target.name = name;
  }
  set_target(dataset, numbers.shape(0), std::move(target));
}

using Numbers = py::array_t<double, py::array::c_style>;
using Flags = py::array_t<std::uint8_t, py::array::c_style>;
using Places = py::array_t<std::int32_t, py::array::c_style>;

/// Times, and 1 if the event came at that time, 0 if it did not. `entries`, `strata`: as in RiskTimes.
void set_survival(AnyDataset& dataset, const Numbers& times, const Flags& events, const Numbers& entries,
                  const Places& strata) {
  check_count(dataset, events.size());
  set_target(dataset, times.size(),
             bindings::target_of_numbers(values_of(times), values_of(events), values_of(entries), values_of(strata)));
}

double concordance_of(const Numbers& values, const Numbers& times, const Flags& events, const Numbers& entries,
                      const Places& strata, const Numbers& weights) {
  const auto other = [&](py::ssize_t count) { return count != values.size(); };
  const auto wrong = [&](py::ssize_t count) { return count > 0 && other(count); };
  if (other(times.size()) || other(events.size()) || wrong(entries.size()) || wrong(strata.size()) ||
      wrong(weights.size()))
    throw UsageError("values, times and events must be of the same rows");
  return concordance(values_of(values), RiskTimes{values_of(times), values_of(entries), values_of(strata)},
                     values_of(events), values_of(weights));
}

/// Whether values are used where they lie.
bool is_borrowed(const AnyDataset& dataset) {
  return std::visit(
      [](const auto& one) { return !std::visit([](const auto& x) { return x.values.is_owned(); }, one.x); },
      dataset.any);
}

}  // namespace

std::vector<float> row_weights_of(const py::object& weights, std::int64_t rows) {
  if (weights.is_none()) return {};
  const auto array = weights.cast<py::array_t<double, py::array::c_style | py::array::forcecast>>();
  return make_row_weights(std::span(array.data(), static_cast<std::size_t>(array.size())), rows);
}

void add_data(py::module_& module) {
  py::class_<Surroundings>(module, "Context")
      .def(py::init([](const Texts& settings, py::object progress) {
             Surroundings result{{}, std::move(progress)};
             bindings::set_options(result.options, settings_of(settings));
             return result;
           }),
           py::arg("settings") = Texts{}, py::arg("progress") = py::none());
  py::class_<AnyDataset>(module, "Dataset")
      .def_static("from_pointer", &from_pointer)
      .def_static("from_sparse", &from_sparse)
      .def("set_classes", &set_classes)
      .def("set_numbers", &set_numbers)
      .def("set_targets", &set_targets)
      .def("set_groups", &set_groups)
      .def("set_survival", &set_survival)
      .def_property_readonly("rows", &AnyDataset::rows)
      .def_property_readonly("features",
                             [](const AnyDataset& dataset) {
                               return std::visit([](const auto& one) { return one.features(); }, dataset.any);
                             })
      .def_property_readonly("is_borrowed", &is_borrowed);
  module.def("devices", [] { return records_of(bindings::devices_table()); });
  module.def("concordance", &concordance_of);
}

}  // namespace sheaf::python

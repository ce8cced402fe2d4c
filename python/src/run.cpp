// Work that signals can interrupt, and values as objects of Python.
#include <sheaf/bindings/run.hpp>

#include <cmath>
#include <limits>

#include "core.hpp"

namespace sheaf::python {
namespace {

template <class T>
py::object array_from(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

struct Converter {
  py::object operator()(std::monostate) const { return py::none(); }
  py::object operator()(const bindings::Place& place) const { return py::int_(place.value); }
  py::object operator()(const bindings::Places& places) const { return array_from(places.values); }
  py::object operator()(const bindings::Matrix& x) const { return array_of(x.values, x.rows, x.columns); }
  py::object operator()(const std::vector<std::int32_t>& values) const { return array_from(values); }
  py::object operator()(const std::vector<std::int64_t>& values) const { return array_from(values); }
  py::object operator()(const std::vector<double>& values) const { return array_from(values); }
  py::object operator()(const std::vector<std::optional<double>>& values) const {
    std::vector<double> numbers;
    for (const auto& value : values) numbers.push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
    return array_from(numbers);
  }
  py::object operator()(const std::vector<bool>& values) const {
    return array_from(std::vector<std::uint8_t>(values.begin(), values.end())).attr("astype")("bool");
  }
  py::object operator()(const bindings::List& list) const {
    py::dict dict;
    for (std::size_t k = 0; k < list.names.size(); ++k) dict[py::str(list.names[k])] = to_python(list.values[k]);
    return dict;
  }
  template <class Other>
  py::object operator()(const Other& other) const {
    return py::cast(other);
  }
};

}  // namespace

void run(const Surroundings& surroundings, const std::function<void(const Context&)>& work) {
  const auto look_around = [&](const bindings::Progressed& state) {
    const py::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!surroundings.progress.is_none()) surroundings.progress(state.stage, state.done, state.total);
  };
  std::exception_ptr error;
  {
    const py::gil_scoped_release released;
    error = bindings::run_apart(surroundings.options, work, look_around);
  }
  if (error) std::rethrow_exception(error);
}

void run_briefly(const Surroundings& surroundings, const std::function<void(const Context&)>& work) {
  const py::gil_scoped_release released;
  work(Context(surroundings.options));
}

py::object to_python(const bindings::Value& value) {
  return std::visit(Converter{}, static_cast<const bindings::AnyValue&>(value));
}

py::list records_of(const bindings::Value& table) {
  py::list records;
  const auto& list = std::get<bindings::List>(table);
  for (std::size_t c = 0; c < list.names.size(); ++c) {
    const auto column = to_python(list.values[c]);
    const py::list entries = py::hasattr(column, "tolist") ? column.attr("tolist")() : column;
    while (records.size() < entries.size()) records.append(py::dict());
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const py::object entry = entries[k];
      const bool lacks = entry.is_none() || (py::isinstance<py::float_>(entry) && std::isnan(entry.cast<double>()));
      if (!lacks) records[k][py::str(list.names[c])] = entry;
    }
  }
  return records;
}

}  // namespace sheaf::python

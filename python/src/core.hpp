// Shared by the files of the extension module. The module converts Python's arguments and the values of
// include/sheaf/bindings, and nothing else: it has no mathematics and no defaults of its own.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <sheaf/bindings/datasets.hpp>
#include <sheaf/bindings/settings.hpp>
#include <sheaf/bindings/value.hpp>
#include <sheaf/sheaf.hpp>

namespace sheaf::python {

namespace py = pybind11;

/// Texts by the names of parameters.
using Texts = std::map<std::string, std::string>;
inline bindings::Settings settings_of(const Texts& texts) {
  bindings::Settings settings;
  for (const auto& [name, text] : texts) settings.push_back({name, text});
  return settings;
}

/// The surroundings of a call. Made into a Context when work begins, so that memory is that which is free then.
struct Surroundings {
  Context::Options options;
  py::object progress = py::none();  ///< None, or called with a stage, units done and units in all (0: not known)
};

/// Does the work on a thread of its own while this one waits without the GIL. Ten times a second it takes the GIL,
/// handles signals and reports progress; an exception of either stops the work and is passed on.
void run(const Surroundings& surroundings, const std::function<void(const Context&)>& work);
/// The same on this thread, for work that takes milliseconds at most.
void run_briefly(const Surroundings& surroundings, const std::function<void(const Context&)>& work);

/// A dataset in one of the two precisions, and the Python objects whose memory it borrows.
struct AnyDataset {
  bindings::AnyDataset any;
  py::object memory;

  std::int64_t rows() const {
    return std::visit([](const auto& dataset) { return dataset.rows(); }, any);
  }
};

/// Vectors of numbers become arrays, tables and lists dicts, and entries that are missing NaN or None.
py::object to_python(const bindings::Value& value);
/// A dict for each row of a table, without entries that are missing.
py::list records_of(const bindings::Value& table);

/// A new array with a copy of the values.
template <class T>
py::array_t<T> array_of(const std::vector<T>& values, std::int64_t rows, std::int64_t columns) {
  return py::array_t<T>({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(columns)}, values.data());
}

/// Row weights, if there are any.
std::vector<float> row_weights_of(const py::object& weights, std::int64_t rows);

// Each adds the classes and functions of its file to the module.
void add_data(py::module_& module);
void add_files(py::module_& module);
void add_models(py::module_& module);
void add_search(py::module_& module);
void add_selection(py::module_& module);
void add_rescoring(py::module_& module);

}  // namespace sheaf::python

// What the files of the extension module share. The module converts arguments and results and nothing else: it has no
// mathematics and no defaults of its own. Options go by the names of the parameter table (sheaf/solvers/parameters.hpp)
// and as text, as on the command line.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <sheaf/sheaf.hpp>

namespace sheaf::python {

namespace py = pybind11;

/// Texts by the names of parameters.
using Settings = std::map<std::string, std::string>;

/// The surroundings of a call. Made into a Context when work begins, so that memory is that which is free then.
struct Surroundings {
  Context::Options options;
  py::object progress;  ///< None, or called with a stage, units done and units in all (0: not known)
};

/// Does the work on a thread of its own while this one waits without the GIL. Ten times a second it takes the GIL,
/// handles signals and reports progress; an exception of either stops the work and is passed on.
void run(const Surroundings& surroundings, const std::function<void(const Context&)>& work);
/// The same on this thread, for work that takes milliseconds at most.
void run_briefly(const Surroundings& surroundings, const std::function<void(const Context&)>& work);

/// A dataset in one of the two precisions, and the Python objects whose memory it borrows.
struct AnyDataset {
  std::variant<Dataset<float>, Dataset<double>> any;
  py::object memory;

  std::int64_t rows() const {
    return std::visit([](const auto& dataset) { return dataset.rows(); }, any);
  }
};

/// Sets options by the rows of the parameter table. Unknown names are answered with the known ones.
template <class Options>
void set_option(Options& options, const std::string& name, const std::string& text) {
  std::string known;
  for (const auto& row : parameters<Options>()) {
    if (row.name == name) return row.set(options, text);
    known += (known.empty() ? "" : ", ") + row.name;
  }
  throw UsageError("unknown parameter '" + name + "'; known are " + known);
}
template <class Options>
void set_options(Options& options, const Settings& settings) {
  for (const auto& [name, text] : settings) set_option(options, name, text);
}

/// A new array with a copy of the values.
template <class T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}
template <class T>
py::array_t<T> array_of(const std::vector<T>& values, std::int64_t rows, std::int64_t columns) {
  return py::array_t<T>({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(columns)}, values.data());
}

/// Row weights, or none where there are none.
std::vector<float> row_weights_of(const py::object& weights, std::int64_t rows);

// Each adds the classes and functions of its file to the module.
void add_data(py::module_& module);
void add_files(py::module_& module);
void add_models(py::module_& module);
void add_search(py::module_& module);
void add_selection(py::module_& module);
void add_rescoring(py::module_& module);

}  // namespace sheaf::python

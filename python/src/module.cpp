#include "core.hpp"

PYBIND11_MODULE(_core, module) {
  namespace py = pybind11;
  using namespace sheaf::python;
  module.doc() = "Sheaf's C++ library, as the estimators of this package call it.";
  module.attr("__version__") = SHEAF_VERSION;
  py::register_local_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const sheaf::Stopped& stopped) {
      PyErr_SetString(PyExc_KeyboardInterrupt, stopped.what());
    } catch (const sheaf::Error& wrong) {
      PyErr_SetString(PyExc_ValueError, wrong.what());
    }
  });
  add_data(module);
  add_files(module);
  add_models(module);
  add_search(module);
  add_selection(module);
  add_rescoring(module);
}

// Datasets from files: NumPy arrays over the memory in which the library holds them, mapped or read.
#include <memory>

#include "core.hpp"

namespace sheaf::python {
namespace {

/// An array over memory of `owner`, not to be written to.
template <class Element, class Owner>
py::array over(const Array<Element>& values, std::vector<py::ssize_t> shape, const std::shared_ptr<Owner>& owner) {
  auto* kept = new std::shared_ptr<Owner>(owner);
  const py::capsule base(kept, [](void* memory) { delete static_cast<std::shared_ptr<Owner>*>(memory); });
  py::array_t<Element> array(std::move(shape), values.data(), base);
  array.attr("flags").attr("writeable") = false;
  return array;
}

/// Its description, and `values` or, of a sparse one, `values`, `indices` and `offsets`.
template <class T>
py::object arrays_of(Dataset<T> read) {
  const auto dataset = std::make_shared<const Dataset<T>>(std::move(read));
  auto result = to_python(bindings::describe(*dataset));
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset->x)) {
    result["values"] = over(dense->values, {dense->rows, dense->columns}, dataset);
  } else {
    const auto& sparse = std::get<SparseMatrix<T>>(dataset->x);
    result["values"] = over(sparse.values, {sparse.nonzeros()}, dataset);
    result["indices"] = over(sparse.indices, {sparse.nonzeros()}, dataset);
    result["offsets"] = over(sparse.offsets, {sparse.rows + 1}, dataset);
  }
  return result;
}

/// A file of any format; missing values are NaN unless the settings say otherwise.
py::object read(const Surroundings& surroundings, const std::string& path, bool single, const Texts& settings) {
  ReadOptions options;
  options.missing = Missing::keep;
  bindings::set_options(options, settings_of(settings));
  bindings::AnyDataset dataset;
  run(surroundings, [&](const Context& context) {
    if (single)
      dataset = read_dataset<float>(context, path, options);
    else
      dataset = read_dataset<double>(context, path, options);
  });
  return std::visit([](auto& one) { return arrays_of(std::move(one)); }, dataset);
}

}  // namespace

void add_files(py::module_& module) { module.def("read", &read); }

}  // namespace sheaf::python

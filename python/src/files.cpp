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

template <class Element>
py::array_t<Element> list_of(const std::vector<Element>& values) {
  return py::array_t<Element>(static_cast<py::ssize_t>(values.size()), values.data());
}

template <class T>
py::dict arrays_of(Dataset<T> read) {
  const auto dataset = std::make_shared<const Dataset<T>>(std::move(read));
  py::dict result;
  result["shape"] = py::make_tuple(dataset->rows(), dataset->features());
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset->x)) {
    result["values"] = over(dense->values, {dense->rows, dense->columns}, dataset);
  } else {
    const auto& sparse = std::get<SparseMatrix<T>>(dataset->x);
    result["values"] = over(sparse.values, {sparse.nonzeros()}, dataset);
    result["indices"] = over(sparse.indices, {sparse.nonzeros()}, dataset);
    result["offsets"] = over(sparse.offsets, {sparse.rows + 1}, dataset);
  }
  const auto& target = dataset->target;
  result["feature_names"] = dataset->feature_names;
  result["row_names"] = dataset->row_names;
  result["target_name"] = target.name;
  result["numbers"] = list_of(target.values);
  result["classes"] = list_of(target.classes);
  result["class_names"] = target.class_names;
  result["is_classification"] = !target.empty() && target.looks_like_classes();
  result["groups"] = list_of(dataset->groups);
  result["row_weights"] = list_of(dataset->row_columns.weights);
  return result;
}

py::dict read_file(const std::string& path, bool single, const Texts& reading) {
  ReadOptions options;
  bindings::set_options(options, settings_of(reading));
  if (options.missing == Missing::error) options.missing = Missing::keep;
  std::variant<Dataset<float>, Dataset<double>> dataset;
  run({}, [&](const Context& context) {
    if (single)
      dataset = read_dataset<float>(context, path, options);
    else
      dataset = read_dataset<double>(context, path, options);
  });
  return std::visit([](auto& one) { return arrays_of(std::move(one)); }, dataset);
}

}  // namespace

void add_files(py::module_& module) { module.def("read_file", &read_file); }

}  // namespace sheaf::python

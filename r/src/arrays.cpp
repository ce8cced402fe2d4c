// Arrays that stay on a device, and snippets that work on them.
#include <algorithm>
#include <cstring>

#include "core.hpp"

using namespace sheaf::r;
using Rcpp::_;
using sheaf::DeviceArray;
using sheaf::ElementType;

namespace {

using ArrayPointer = Rcpp::XPtr<DeviceArray>;

const DeviceArray& array_of(SEXP pointer) {
  if (R_ExternalPtrAddr(pointer) == nullptr)
    throw sheaf::UsageError("the array was freed, or belongs to another session of R; make it again with as_cuda()");
  return *ArrayPointer(pointer);
}

Rcpp::List describe_array(DeviceArray array) {
  const auto type = std::string(to_string(array.type()));
  const auto device = to_string(array.device());
  const auto rows = static_cast<double>(array.rows()), columns = static_cast<double>(array.columns());
  return Rcpp::List::create(_["pointer"] = ArrayPointer(new DeviceArray(std::move(array))), _["type"] = type,
                            _["device"] = device, _["rows"] = rows, _["columns"] = columns);
}

std::vector<DeviceArray> arrays_of(const Rcpp::List& pointers) {
  std::vector<DeviceArray> arrays;
  for (const auto& pointer : pointers) arrays.push_back(array_of(pointer));
  return arrays;
}

template <class T, class From>
DeviceArray copy_as(const From& values, std::int64_t rows, std::int64_t columns, sheaf::Device device) {
  const std::vector<T> converted(values.begin(), values.end());
  return DeviceArray::copy_of<T>(converted, rows, columns, device);
}

/// Values of R as elements of a type; those that are of the type already go without a copy in between.
DeviceArray make_array(SEXP x, ElementType type, std::int64_t rows, std::int64_t columns, sheaf::Device device) {
  const auto size = static_cast<std::size_t>(Rf_xlength(x));
  switch (TYPEOF(x)) {
    case REALSXP: {
      const std::span<const double> values(REAL(x), size);
      if (type == ElementType::float64) return DeviceArray::copy_of<double>(values, rows, columns, device);
      if (type == ElementType::float32) return copy_as<float>(values, rows, columns, device);
      if (type == ElementType::int32) return copy_as<std::int32_t>(values, rows, columns, device);
      return copy_as<std::uint8_t>(values, rows, columns, device);
    }
    case RAWSXP: {
      const std::span<const std::uint8_t> values(RAW(x), size);
      if (type == ElementType::uint8) return DeviceArray::copy_of<std::uint8_t>(values, rows, columns, device);
      if (type == ElementType::int32) return copy_as<std::int32_t>(values, rows, columns, device);
      if (type == ElementType::float32) return copy_as<float>(values, rows, columns, device);
      return copy_as<double>(values, rows, columns, device);
    }
    default: {
      const std::span<const std::int32_t> values(INTEGER(x), size);  // logical values are kept as such too
      if (type == ElementType::int32) return DeviceArray::copy_of<std::int32_t>(values, rows, columns, device);
      if (type == ElementType::uint8) return copy_as<std::uint8_t>(values, rows, columns, device);
      if (type == ElementType::float32) return copy_as<float>(values, rows, columns, device);
      return copy_as<double>(values, rows, columns, device);
    }
  }
}

/// Does the work in the surroundings and describes the array that it makes.
template <class Work>
Rcpp::List made_by(const Rcpp::List& control, const Work& work) {
  DeviceArray result;
  run(surroundings_of(control), [&](const sheaf::Context& context) { result = work(context); });
  return describe_array(std::move(result));
}

sheaf::Margin margin_of(int margin) {
  if (margin == 1) return sheaf::Margin::rows;
  return margin == 2 ? sheaf::Margin::columns : sheaf::Margin::all;
}

Rcpp::DataFrame parameters_frame(const std::vector<sheaf::SnippetParameter>& parameters) {
  std::vector<std::string> names, types;
  std::vector<bool> pointers;
  for (const auto& one : parameters) {
    names.push_back(one.name);
    types.emplace_back(to_string(one.type));
    pointers.push_back(one.pointer);
  }
  return Rcpp::DataFrame::create(_["name"] = names, _["type"] = types, _["pointer"] = pointers,
                                 _["stringsAsFactors"] = false);
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_array_make(SEXP x, const std::string& type, double rows, double columns, const std::string& device) {
  return describe_array(make_array(x, sheaf::parse_element_type(type), static_cast<std::int64_t>(rows),
                                   static_cast<std::int64_t>(columns), sheaf::parse_device(device)));
}

// [[Rcpp::export(rng = false)]]
SEXP core_array_values(SEXP pointer) {
  const auto& array = array_of(pointer);
  const auto size = static_cast<R_xlen_t>(array.size());
  const auto fill = [&](void* to, const DeviceArray& from) {
    sheaf::copy_bytes(to, sheaf::Device::cpu(), from.data(), from.device(), from.bytes());
  };
  if (array.type() == ElementType::uint8) {
    Rcpp::RawVector result(size);
    fill(RAW(result), array);
    return result;
  }
  if (array.type() == ElementType::int32) {
    Rcpp::IntegerVector result(size);
    fill(INTEGER(result), array);
    return result;
  }
  Rcpp::NumericVector result(size);
  if (array.type() == ElementType::float64) {
    fill(REAL(result), array);
  } else {
    const auto values = array.values<float>();
    std::copy(values.begin(), values.end(), result.begin());
  }
  return result;
}

// [[Rcpp::export(rng = false)]]
void core_array_free(SEXP pointer) {
  if (R_ExternalPtrAddr(pointer) != nullptr) ArrayPointer(pointer).release();
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_array_apply(const Rcpp::List& control, const std::string& name, SEXP x) {
  const auto array = array_of(x);
  return made_by(control, [&](const sheaf::Context& context) {
    return sheaf::apply(context, sheaf::parse_unary_function(name), array);
  });
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_array_combine(const Rcpp::List& control, const std::string& name, SEXP x, SEXP y) {
  const auto a = array_of(x), b = array_of(y);
  return made_by(control, [&](const sheaf::Context& context) {
    return sheaf::combine(context, sheaf::parse_binary_function(name), a, b);
  });
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_array_reduce(const Rcpp::List& control, const std::string& reduction, int margin, SEXP x) {
  const auto array = array_of(x);
  return made_by(control, [&](const sheaf::Context& context) {
    return sheaf::reduce(context, sheaf::parse_reduction(reduction), margin_of(margin), array);
  });
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_array_product(const Rcpp::List& control, SEXP x, bool transpose_x, SEXP y, bool transpose_y) {
  const auto a = array_of(x), b = array_of(y);
  return made_by(control, [&](const sheaf::Context& context) {
    return sheaf::matrix_product(context, a, transpose_x, b, transpose_y);
  });
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_array_transpose(const Rcpp::List& control, SEXP x) {
  const auto array = array_of(x);
  return made_by(control, [&](const sheaf::Context& context) { return sheaf::transpose(context, array); });
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_array_convert(const Rcpp::List& control, SEXP x, const std::string& type, const std::string& device) {
  const auto array = array_of(x);
  const auto to = sheaf::parse_device(device);
  return made_by(control, [&](const sheaf::Context& context) {
    return sheaf::convert(context, array, sheaf::parse_element_type(type)).to(to);
  });
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_elementwise(const std::string& inputs, const std::string& outputs, const std::string& body,
                            const std::string& preamble, const std::string& cache) {
  Rcpp::XPtr<sheaf::ElementwiseSnippet> snippet(
      new sheaf::ElementwiseSnippet(inputs, outputs, body, {.preamble = preamble, .cache_folder = cache}));
  return Rcpp::List::create(_["pointer"] = snippet, _["inputs"] = parameters_frame(snippet->inputs()),
                            _["outputs"] = parameters_frame(snippet->outputs()));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_elementwise_run(const Rcpp::List& control, SEXP pointer, const Rcpp::List& inputs) {
  const Rcpp::XPtr<sheaf::ElementwiseSnippet> snippet(pointer);
  const sheaf::ElementwiseSnippet& known = *snippet;
  const auto arrays = arrays_of(inputs);
  std::vector<DeviceArray> results;
  run(surroundings_of(control), [&](const sheaf::Context& context) { results = known(context, arrays); });
  Rcpp::List list;
  for (auto& result : results) list.push_back(describe_array(std::move(result)));
  return list;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_reduction(const std::string& inputs, const std::string& map, const std::string& combine,
                          const std::string& identity, const std::string& type, const std::string& preamble,
                          const std::string& cache) {
  Rcpp::XPtr<sheaf::ReduceSnippet> snippet(new sheaf::ReduceSnippet(
      inputs, map, combine, identity, sheaf::parse_element_type(type), {.preamble = preamble, .cache_folder = cache}));
  return Rcpp::List::create(_["pointer"] = snippet, _["inputs"] = parameters_frame(snippet->inputs()));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_reduction_run(const Rcpp::List& control, SEXP pointer, const Rcpp::List& inputs, int margin) {
  const Rcpp::XPtr<sheaf::ReduceSnippet> snippet(pointer);
  const sheaf::ReduceSnippet& known = *snippet;
  const auto arrays = arrays_of(inputs);
  return made_by(control, [&](const sheaf::Context& context) { return known(context, arrays, margin_of(margin)); });
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_kernel(const std::string& code, const std::string& name, const std::string& preamble,
                       const std::string& cache) {
  Rcpp::XPtr<sheaf::KernelSnippet> snippet(
      new sheaf::KernelSnippet(code, name, {.preamble = preamble, .cache_folder = cache}));
  return Rcpp::List::create(_["pointer"] = snippet, _["inputs"] = parameters_frame(snippet->parameters()));
}

// [[Rcpp::export(rng = false)]]
void core_kernel_run(const Rcpp::List& control, SEXP pointer, const std::vector<double>& grid,
                     const std::vector<double>& block, double shared, const Rcpp::List& arguments) {
  const Rcpp::XPtr<sheaf::KernelSnippet> snippet(pointer);
  const sheaf::KernelSnippet& known = *snippet;
  sheaf::KernelShape shape;
  for (std::size_t k = 0; k < 3; ++k) {
    shape.grid[k] = static_cast<std::uint32_t>(grid.at(k));
    shape.block[k] = static_cast<std::uint32_t>(block.at(k));
  }
  shape.shared_bytes = static_cast<std::int64_t>(shared);
  std::vector<sheaf::KernelArgument> list;
  for (const auto& argument : arguments) {
    if (TYPEOF(argument) == EXTPTRSXP)
      list.emplace_back(array_of(argument));
    else
      list.emplace_back(Rcpp::as<double>(argument));
  }
  run(surroundings_of(control), [&](const sheaf::Context& context) { known(context, shape, list); });
}

// [[Rcpp::export(rng = false)]]
void core_snippet_compile(SEXP pointer, const std::string& kind, const std::string& architecture) {
  if (kind == "elementwise") return Rcpp::XPtr<sheaf::ElementwiseSnippet>(pointer)->compile_for(architecture);
  if (kind == "reduce") return Rcpp::XPtr<sheaf::ReduceSnippet>(pointer)->compile_for(architecture);
  Rcpp::XPtr<sheaf::KernelSnippet>(pointer)->compile_for(architecture);
}

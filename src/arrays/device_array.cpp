#include <sheaf/solvers/device_array.hpp>

#include <algorithm>
#include <array>

#include "arrays/ops.hpp"
#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/text.hpp"

namespace sheaf {
namespace {

constexpr std::array<std::string_view, 4> type_names{"double", "float", "int", "unsigned char"};
constexpr std::array<std::string_view, 25> unary_names{
    "negate", "logical_not", "abs",  "sign",  "sqrt", "floor", "ceiling", "trunc", "round",
    "exp",    "expm1",       "log",  "log1p", "log2", "log10", "sin",     "cos",   "tan",
    "asin",   "acos",        "atan", "sinh",  "cosh", "tanh",  "lgamma"};
constexpr std::array<std::string_view, 17> binary_names{
    "add",        "subtract",  "multiply", "divide",     "power",   "modulo",        "integer_divide",
    "equal",      "not_equal", "less",     "less_equal", "greater", "greater_equal", "logical_and",
    "logical_or", "minimum",   "maximum"};
constexpr std::array<std::string_view, 4> reduction_names{"sum", "mean", "least", "largest"};

/// The type that functions work in.
ElementType common_type(ElementType a, ElementType b) {
  return a == ElementType::float32 && b == ElementType::float32 ? ElementType::float32 : ElementType::float64;
}

void need_one_device(const DeviceArray& x, const DeviceArray& y) {
  if (x.device() != y.device())
    fail_usage("one array is on {} and the other on {}; bring both to one device", to_string(x.device()),
               to_string(y.device()));
}

/// The context that the work on an array is done in.
Context where(const Context& context, const DeviceArray& x) { return context.with({.device = x.device()}); }

template <class T>
std::unique_ptr<arrays::ArrayOps<T>> make_ops(const Context& context) {
  if (context.device().is_cpu()) return arrays::make_cpu_ops<T>(context);
#if SHEAF_CUDA
  return arrays::make_cuda_ops<T>(context);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

/// Calls use(ops) with the verbs of float or double.
template <class Use>
void with_ops(const Context& context, ElementType type, const Use& use) {
  if (type == ElementType::float32)
    use(*make_ops<float>(context), static_cast<float*>(nullptr));
  else
    use(*make_ops<double>(context), static_cast<double*>(nullptr));
}

template <class T>
const T* as(const DeviceArray& x) {
  return static_cast<const T*>(x.data());
}
template <class T>
T* as(DeviceArray& x) {
  return static_cast<T*>(x.data());
}

}  // namespace

std::string_view to_string(ElementType type) { return type_names[static_cast<std::size_t>(type)]; }
ElementType parse_element_type(std::string_view text) {
  return static_cast<ElementType>(find_name("type", text, type_names));
}
std::int64_t element_size(ElementType type) {
  constexpr std::array<std::int64_t, 4> sizes{8, 4, 4, 1};
  return sizes[static_cast<std::size_t>(type)];
}

UnaryFunction parse_unary_function(std::string_view name) {
  return static_cast<UnaryFunction>(find_name("function", name, unary_names));
}
BinaryFunction parse_binary_function(std::string_view name) {
  return static_cast<BinaryFunction>(find_name("function", name, binary_names));
}
Reduction parse_reduction(std::string_view name) {
  return static_cast<Reduction>(find_name("reduction", name, reduction_names));
}

DeviceArray::DeviceArray(ElementType type, std::int64_t rows, std::int64_t columns, Device device)
    : type_(type), rows_(rows), columns_(columns), device_(device) {
  require(rows >= 0 && columns >= 0, "an array with a negative shape was asked for");
  memory_ = std::make_shared<Array<std::byte>>(bytes(), device);
}

void DeviceArray::fill_from(const void* values, std::int64_t count) {
  require(count == bytes(), "an array was given another number of values than it has elements");
  copy_bytes(data(), device_, values, Device::cpu(), count);
}

DeviceArray DeviceArray::to(Device device) const {
  if (device == device_) return *this;
  DeviceArray result(type_, rows_, columns_, device);
  copy_bytes(result.data(), device, data(), device_, bytes());
  return result;
}

DeviceArray convert(const Context& context, const DeviceArray& x, ElementType type) {
  if (x.type() == type) return x;
  DeviceArray result(type, x.rows(), x.columns(), x.device());
  if (x.size() == 0) return result;
  const auto here = where(context, x);
  if (x.device().is_cpu()) arrays::convert_cpu(here, x.data(), x.type(), x.size(), result.data(), type);
#if SHEAF_CUDA
  if (x.device().is_cuda()) arrays::convert_cuda(here, x.data(), x.type(), x.size(), result.data(), type);
#endif
  return result;
}

DeviceArray apply(const Context& context, UnaryFunction function, const DeviceArray& x) {
  const auto from = convert(context, x, common_type(x.type(), x.type()));
  DeviceArray result(from.type(), x.rows(), x.columns(), x.device());
  if (x.size() == 0) return result;
  with_ops(where(context, x), from.type(),
           [&]<class T>(auto& ops, T* /*type*/) { ops.apply(function, as<T>(from), from.size(), as<T>(result)); });
  return result;
}

DeviceArray combine(const Context& context, BinaryFunction function, const DeviceArray& x, const DeviceArray& y) {
  need_one_device(x, y);
  const auto size = x.size() == 0 || y.size() == 0 ? 0 : std::max(x.size(), y.size());
  if (size > 0 && (size % x.size() != 0 || size % y.size() != 0))
    fail_usage("an array of {} elements and one of {} can't be combined: the shorter must fit a whole number of times",
               x.size(), y.size());
  const auto type = common_type(x.type(), y.type());
  const auto a = convert(context, x, type);
  const auto b = convert(context, y, type);
  // If both arrays have the same size, a matrix rather than a vector determines the shape.
  const bool of_x = x.size() == size && (y.size() != size || x.columns() != 1);
  const auto& shape = of_x ? x : y;
  DeviceArray result(type, shape.rows(), shape.columns(), x.device());
  if (size == 0) return result;
  with_ops(where(context, x), type, [&]<class T>(auto& ops, T* /*type*/) {
    ops.combine(function, as<T>(a), a.size(), as<T>(b), b.size(), size, as<T>(result));
  });
  return result;
}

DeviceArray reduce(const Context& context, Reduction reduction, Margin margin, const DeviceArray& x) {
  const auto from = convert(context, x, common_type(x.type(), x.type()));
  const auto reach = arrays::reach_of(margin, x.rows(), x.columns());
  const double factor = reduction == Reduction::mean ? 1 / static_cast<double>(reach.count) : 1;
  DeviceArray result(ElementType::float64, reach.outputs, 1, x.device());
  if (reach.outputs == 0) return result;
  with_ops(where(context, x), from.type(), [&]<class T>(auto& ops, T* /*type*/) {
    ops.reduce(reduction, reach, factor, as<T>(from), as<double>(result));
  });
  return margin == Margin::all ? result : convert(context, result, from.type());
}

DeviceArray transpose(const Context& context, const DeviceArray& x) {
  const auto from = convert(context, x, common_type(x.type(), x.type()));
  DeviceArray result(from.type(), x.columns(), x.rows(), x.device());
  if (x.size() == 0) return result;
  with_ops(where(context, x), from.type(),
           [&]<class T>(auto& ops, T* /*type*/) { ops.transpose(as<T>(from), x.rows(), x.columns(), as<T>(result)); });
  return convert(context, result, x.type());
}

DeviceArray matrix_product(const Context& context, const DeviceArray& x, bool transpose_x, const DeviceArray& y,
                           bool transpose_y) {
  need_one_device(x, y);
  arrays::ProductShape shape;
  shape.transpose_x = transpose_x;
  shape.transpose_y = transpose_y;
  shape.m = transpose_x ? x.columns() : x.rows();
  shape.k = transpose_x ? x.rows() : x.columns();
  shape.n = transpose_y ? y.rows() : y.columns();
  const auto common = transpose_y ? y.columns() : y.rows();
  if (shape.k != common)
    fail_usage("a matrix of {} can't be multiplied with one of {}", counted(shape.k, "column"), counted(common, "row"));
  shape.x_stride = std::max<std::int64_t>(x.rows(), 1);
  shape.y_stride = std::max<std::int64_t>(y.rows(), 1);
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
  if (std::max({x.rows(), x.columns(), y.rows(), y.columns()}) > most)
    fail_usage("matrices of more than {} rows or columns can't be multiplied", most);
  const auto type = common_type(x.type(), y.type());
  const auto a = convert(context, x, type);
  const auto b = convert(context, y, type);
  DeviceArray result(type, shape.m, shape.n, x.device());
  if (result.size() == 0) return result;
  if (shape.k == 0) {
    fill_bytes(result.data(), result.device(), 0, result.bytes());
    return result;
  }
  with_ops(where(context, x), type,
           [&]<class T>(auto& ops, T* /*type*/) { ops.product(shape, as<T>(a), as<T>(b), as<T>(result)); });
  return result;
}

}  // namespace sheaf

#include <sheaf/dataset.hpp>

#include <cmath>
#include <set>

namespace sheaf {

bool Target::looks_like_classes() const {
  if (classes.empty()) return false;
  if (values.empty()) return true;
  // Numbers: integers, at most 100 distinct ones, and each on average at least twice.
  constexpr std::size_t most = 100;
  if (class_names.size() > most || class_names.size() * 2 > classes.size()) return false;
  for (const double value : values)
    if (value != std::floor(value)) return false;
  return true;
}

template <class T>
Resident<T> Dataset<T>::resident(Device device, int threads) const {
  const std::lock_guard lock(copies_->mutex);
  const auto view = [&](const Copy& copy) {
    return Resident<T>{device.is_cpu() ? &x : &copy.rows_first, copy.columns_first ? &*copy.columns_first : nullptr};
  };
  for (const auto& copy : copies_->list)
    if (copy->device == device) return view(*copy);

  auto copy = std::make_unique<Copy>();
  copy->device = device;
  if (const auto* sparse = std::get_if<SparseMatrix<T>>(&x)) {
    auto columns_first = transpose(*sparse, threads);
    copy->columns_first = device.is_cpu() ? std::move(columns_first) : columns_first.to(device);
  }
  if (!device.is_cpu())
    copy->rows_first = std::visit([&](const auto& matrix) { return Matrix<T>(matrix.to(device)); }, x);
  copies_->list.push_back(std::move(copy));
  return view(*copies_->list.back());
}

template <class To, class From>
Dataset<To> convert_precision(Dataset<From> from, int threads) {
  Dataset<To> to;
  to.x = convert_precision<To, From>(from.x, threads);
  to.target = std::move(from.target);
  to.feature_names = std::move(from.feature_names);
  to.levels = std::move(from.levels);
  to.groups = std::move(from.groups);
  to.group_names = std::move(from.group_names);
  to.source = std::move(from.source);
  to.format = std::move(from.format);
  return to;
}

template class Dataset<float>;
template class Dataset<double>;
template Dataset<float> convert_precision(Dataset<double>, int);
template Dataset<double> convert_precision(Dataset<float>, int);

}  // namespace sheaf

#include <sheaf/dataset.hpp>

#include "data/borrowed.hpp"

namespace sheaf {

template <class T>
typename Dataset<T>::Copy& Dataset<T>::copy_on(Device device) const {
  for (const auto& copy : copies_->list)
    if (copy->device == device) return *copy;
  copies_->list.push_back(std::make_unique<Copy>());
  copies_->list.back()->device = device;
  return *copies_->list.back();
}

template <class T>
Matrix<T>& Dataset<T>::change_x() {
  const auto own = [](auto& array) {
    if (!array.is_owned()) array = array.to(Device::cpu());
  };
  std::visit([&](auto& matrix) { own(matrix.values); }, x);
  if (auto* sparse = std::get_if<SparseMatrix<T>>(&x)) {
    own(sparse->offsets);
    own(sparse->indices);
  }
  copies_ = std::make_shared<Copies>();
  return x;
}

template <class T>
void Dataset<T>::replace_x(Matrix<T> matrix) {
  x = std::move(matrix);
  copies_ = std::make_shared<Copies>();
}

template <class T>
Dataset<T> Dataset<T>::borrowed() const {
  Dataset result;
  result.x = sheaf::borrowed(x);
  result.target = target;
  result.feature_names = feature_names;
  result.row_names = row_names;
  result.levels = levels;
  result.annotations = annotations;
  result.groups = groups;
  result.group_names = group_names;
  result.row_columns = row_columns;
  result.source = source;
  result.format = format;
  result.notes = notes;
  result.kept = kept;
  result.owner = owner;
  result.copies_ = copies_;
  return result;
}

template <class T>
void Dataset<T>::keep_resident(Matrix<T> on_device) {
  const Device device = device_of(on_device);
  require(!device.is_cpu(), "the matrix in CPU memory is x itself");
  const std::lock_guard lock(copies_->mutex);
  copy_on(device).by_rows = std::move(on_device);
}

template <class T>
const Matrix<T>& Dataset<T>::by_rows(Device device) const {
  if (device.is_cpu()) return x;
  const std::lock_guard lock(copies_->mutex);
  auto& copy = copy_on(device);
  if (!copy.by_rows) copy.by_rows = std::visit([&](const auto& matrix) { return Matrix<T>(matrix.to(device)); }, x);
  return *copy.by_rows;
}

template <class T>
const SparseMatrix<T>& Dataset<T>::by_columns(Device device, int threads) const {
  const auto* sparse = std::get_if<SparseMatrix<T>>(&x);
  require(sparse != nullptr, "only sparse data have compressed columns");
  const std::lock_guard lock(copies_->mutex);
  auto& copy = copy_on(device);
  if (!copy.by_columns) {
    auto transposed = transpose(*sparse, threads);
    copy.by_columns = device.is_cpu() ? std::move(transposed) : transposed.to(device);
  }
  return *copy.by_columns;
}

template <class T>
std::shared_ptr<const void> Dataset<T>::cached(Device device, const std::string& name,
                                               const std::function<std::shared_ptr<const void>()>& make) const {
  const std::lock_guard lock(copies_->mutex);
  auto& place = copy_on(device).beside[name];
  if (!place) place = make();
  return place;
}

template <class To, class From>
Dataset<To> convert_precision(Dataset<From> from, int threads) {
  Dataset<To> to;
  to.x = convert_precision<To, From>(from.x, threads);
  to.target = std::move(from.target);
  to.feature_names = std::move(from.feature_names);
  to.row_names = std::move(from.row_names);
  to.levels = std::move(from.levels);
  to.annotations = std::move(from.annotations);
  to.groups = std::move(from.groups);
  to.group_names = std::move(from.group_names);
  to.row_columns = std::move(from.row_columns);
  to.source = std::move(from.source);
  to.format = std::move(from.format);
  to.notes = std::move(from.notes);
  to.kept = std::move(from.kept);
  return to;
}

template class Dataset<float>;
template class Dataset<double>;
template Dataset<float> convert_precision(Dataset<double>, int);
template Dataset<double> convert_precision(Dataset<float>, int);

}  // namespace sheaf

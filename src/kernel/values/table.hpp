// The rows that kernel values are computed from, in CPU memory: in the order of training, in the precision that inner
// products need, dense or sparse as is cheaper, with the term of each row that kernel values take (kernels.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <typeindex>
#include <vector>

#include <sheaf/solvers/matrix.hpp>
#include <sheaf/solvers/svm.hpp>

namespace sheaf::kernel {

template <class A>
struct Table {
  Matrix<A> x;
  Array<A> terms;
  bool distances = false;  ///< |x - y|^2 is summed itself, not |x|^2 + |y|^2 - 2 x'y
};

/// Rows laid out on one device for one type of kernel, kept from one training to the next over the same dataset.
class KeptRows {
 public:
  /// The rows as `Layout`, made unless they are those of the call before. `variant`: of several layouts of one type.
  template <class Layout, class Make>
  std::shared_ptr<const Layout> get(std::span<const std::int32_t> order, int variant, const Make& make) {
    const bool same = rows_ != nullptr && type_ == typeid(Layout) && variant_ == variant &&
                      std::equal(order.begin(), order.end(), order_.begin(), order_.end());
    if (!same) {
      rows_.reset();
      rows_ = std::make_shared<const Layout>(make());
      type_ = typeid(Layout);
      variant_ = variant;
      order_.assign(order.begin(), order.end());
    }
    return std::static_pointer_cast<const Layout>(rows_);
  }

 private:
  std::shared_ptr<const void> rows_;
  std::type_index type_ = typeid(void);
  int variant_ = 0;
  std::vector<std::int32_t> order_;
};

/// Rows with a larger share of stored entries are made dense.
inline constexpr double dense_share = 0.4;

/// Rows order[0], order[1] ... of x. Their terms are squared norms, for kernels that are not of the distance zeros.
template <class A, class T>
Table<A> take_rows(const Matrix<T>& x, std::span<const std::int32_t> order, const KernelParams& kernel,
                   double dense_from, int threads);

/// Leaves out the columns without entries if nearly all columns of `rows` are such, so that memory follows what is
/// stored and not the largest index. `beside`: rows to be compared with these, which keep the same columns.
template <class A>
void drop_empty_columns(Table<A>& rows, Table<A>* beside = nullptr);

/// Whether the kernel is a function of |x - y|.
bool depends_on_distance(const KernelParams& kernel);

/// Offsets to subtract from the kernel values k(x, y) of rows order[0], order[1] ... for each of the two rows: with m
/// the mean row, k(x, m) - k(m, m) / 2, so that the difference is the inner product of the images of x and y, measured
/// from that of m. The offsets do not affect SVMs whose variables have a fixed sum, and they preserve precision in
/// float: features around 3000 have inner products of 1e7 a feature, which float resolves to 1. Empty if values are not
/// much larger than those differences, and for kernels of the distance.
template <class T>
std::vector<double> kernel_offsets(const Matrix<T>& x, std::span<const std::int32_t> order, const KernelParams& kernel,
                                   int threads);

/// Whether inner products may be summed in float. |x|^2 + |y|^2 - 2 x'y cancels: its error times gamma must stay far
/// below the tolerances in use, or be none at all, as with integers. Other kernels are summed in double.
template <class T>
bool float_suffices(const Matrix<T>& x, const KernelParams& kernel, int threads);

/// Whether |x - y|^2 may be summed in float, feature by feature: nothing cancels except the rounding of x to float.
template <class T>
bool float_distances_suffice(const Matrix<T>& x, const KernelParams& kernel, int threads);

/// A precomputed kernel with rows and columns in the given order: dense, without terms.
template <class T>
Table<float> precomputed_table(const Matrix<T>& x, std::span<const std::int32_t> order, int threads);

}  // namespace sheaf::kernel

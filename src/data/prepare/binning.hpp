// Shared by the parts of discretisation: walking over columns, their extents, and the rules that need sorted values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/binning.hpp>

#include "core/parallel.hpp"

namespace sheaf::bins {

/// Statistics of each feature from one pass over the dataset; zeros that are not stored are included.
struct Extents {
  explicit Extents(std::int64_t features);

  std::vector<double> low, high;      ///< of the values that are there; low > high: none are
  std::vector<std::int64_t> missing;  ///< how many are not
  std::vector<char> fractional;       ///< whether some value is no whole number
};
template <class T>
Extents measure(const Context& context, const Dataset<T>& dataset);

/// The values of a feature: all of them (`examples` is empty), or those that are stored and the rows they are of.
template <class T>
struct Column {
  std::span<const T> values;
  std::span<const std::int32_t> examples;
  std::int64_t rows = 0;

  std::int64_t zeros() const { return rows - static_cast<std::int64_t>(values.size()); }  ///< that are not stored
};

/// Calls work(feature, column), on many threads. Dense datasets lie row by row, so some columns are gathered at a time.
template <class T, class Work>
void for_each_column(const Context& context, const Dataset<T>& dataset, Work&& work) {
  if (is_sparse(dataset.x)) {
    const auto& x = dataset.by_columns(Device::cpu(), context.threads());
    parallel_for(context, x.rows, [&](std::int64_t j) {
      const auto begin = x.offsets[j];
      const auto size = static_cast<std::size_t>(x.offsets[j + 1] - begin);
      work(j, Column<T>{{x.values.data() + begin, size}, {x.indices.data() + begin, size}, x.columns});
    });
    return;
  }
  constexpr std::int64_t together = 64 / sizeof(T);  // the values of a cache line
  const auto& x = std::get<DenseMatrix<T>>(dataset.x);
  parallel_for(context, (x.columns + together - 1) / together, [&](std::int64_t block) {
    const Range columns{block * together, std::min((block + 1) * together, x.columns)};
    const auto width = columns.end - columns.begin;
    Array<T> gathered(x.rows * width);
    for (std::int64_t i = 0; i < x.rows; ++i)
      for (std::int64_t c = 0; c < width; ++c) gathered[c * x.rows + i] = x.values[i * x.columns + columns.begin + c];
    for (std::int64_t c = 0; c < width; ++c)
      work(columns.begin + c, Column<T>{{gathered.data() + c * x.rows, static_cast<std::size_t>(x.rows)}, {}, x.rows});
  });
}

/// A cut between two neighbouring values: a <= cut < b.
double cut_between(double a, double b);

/// Cuts behind the runs of equal values where the rows seen pass 1/bins, 2/bins, ... of all.
template <class T>
std::vector<double> equal_frequency_cuts(const Column<T>& column, std::int32_t bins);

/// x log2(x) of whole numbers, from a table if they are small.
class XLogX {
 public:
  explicit XLogX(std::int64_t most);
  double operator()(std::int64_t x) const;

 private:
  std::vector<double> table_;
};

/// How many rows have each state of a rule; missing values are left out.
template <class T>
std::vector<std::int64_t> count_states(const BinRule& rule, const Column<T>& column);

/// Cuts of equal frequency for a feature that bins of equal width would crowd into a few of them; else none.
template <class T>
std::vector<double> cuts_if_skewed(const Column<T>& column, const BinRule& width);

/// Cuts that separate the classes.
template <class T>
std::vector<double> mdlp_cuts(const Column<T>& column, std::span<const std::int32_t> classes,
                              std::span<const std::int64_t> class_sizes, const XLogX& x_log_x);

/// `extents` are those of the dataset that is binned.
template <class T>
Binning learn(const Context& context, const Dataset<T>& dataset, const BinningOptions& options,
              const BinnedTarget* target, const Extents& extents);
template <class T>
BinnedTable apply(const Context& context, const Binning& binning, const Dataset<T>& dataset, const Extents& extents);

/// The rule of bins of equal width from the smallest to the largest value of a feature.
BinRule width_rule(double low, double high, std::int32_t bins);
BinRule cuts_rule(std::vector<double> cuts);

/// Whether the states of a value follow from some features of a split's training rows alone, without a copy of these.
bool need_no_copy(const BinningOptions& options);

/// The states of some features in some rows, each by the rule in the same place, without a copy of the values. Rows
/// ascend and may be given several times; none of their values is missing.
template <class T>
BinnedTable apply_to_part(const Context& context, std::span<const BinRule> rules, const Dataset<T>& dataset,
                          std::span<const std::int64_t> features, std::span<const std::int32_t> rows);

/// Errors that name the first value that is missing, and the first feature whose range no double holds.
template <class T>
void check_missing(const Dataset<T>& dataset, const Extents& extents);
template <class T>
void check_finite(const Dataset<T>& dataset, const Extents& extents);

}  // namespace sheaf::bins

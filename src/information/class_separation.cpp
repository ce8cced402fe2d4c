#include "information/class_separation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/parallel.hpp"
#include "data/nominal.hpp"

namespace sheaf::information {
namespace {

/// A value, the class of its row, and how often the row counts.
struct Entry {
  double value = 0;
  std::int32_t of_class = 0;
  std::int64_t count = 0;
  auto operator<=>(const Entry&) const = default;
};

/// Sums over rows of one class, or of all.
struct ClassSum {
  std::int64_t rows = 0;
  std::int64_t twice_ranks = 0;  // ranks of ties are halves
};

double square(std::int64_t x) { return static_cast<double>(x) * static_cast<double>(x); }

/// Kruskal and Wallis. `entries` ascend.
double share_of_ranks(std::span<const Entry> entries, std::size_t classes) {
  std::vector<ClassSum> sums(classes);
  std::int64_t before = 0;
  double ties = 0;
  for (std::size_t first = 0; first < entries.size();) {
    std::int64_t equal = 0;
    auto end = first;
    for (; end < entries.size() && entries[end].value == entries[first].value; ++end) equal += entries[end].count;
    for (; first < end; ++first) {
      auto& sum = sums[static_cast<std::size_t>(entries[first].of_class)];
      sum.rows += entries[first].count;
      sum.twice_ranks += entries[first].count * (2 * before + equal + 1);
    }
    before += equal;
    const auto t = static_cast<double>(equal);
    ties += t * (t * t - 1);
  }
  const auto n = static_cast<double>(before);
  double between = -n * (n + 1) * (n + 1);
  for (const auto& sum : sums)
    if (sum.rows > 0) between += square(sum.twice_ranks) / static_cast<double>(sum.rows);
  const double all = (n * (n * n - 1) - ties) / 3;  // four times the sum of squared distances from the mean rank
  return all > 0 ? std::clamp(between / all, 0.0, 1.0) : 0;
}

/// The correlation ratio. `entries` ascend, so that sums do not depend on the order of the rows.
double share_of_values(std::span<const Entry> entries, std::size_t classes) {
  if (entries.empty()) return 0;
  const double size = std::max(std::abs(entries.front().value), std::abs(entries.back().value));
  if (!(size > 0)) return 0;
  std::vector<double> sums(classes, 0.0), rows(classes, 0.0);
  double total = 0;
  for (const auto& entry : entries) {
    const auto c = static_cast<std::size_t>(entry.of_class);
    rows[c] += static_cast<double>(entry.count);
    sums[c] += static_cast<double>(entry.count) * (entry.value / size);
    total += static_cast<double>(entry.count);
  }
  const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / total;
  double all = 0;
  for (const auto& entry : entries) {
    const double distance = entry.value / size - mean;
    all += static_cast<double>(entry.count) * distance * distance;
  }
  double between = 0;
  for (std::size_t c = 0; c < classes; ++c)
    if (rows[c] > 0) between += rows[c] * (sums[c] / rows[c] - mean) * (sums[c] / rows[c] - mean);
  return all > 0 ? std::clamp(between / all, 0.0, 1.0) : 0;
}

/// Goodman and Kruskal's tau, of levels.
double share_predicted(std::span<const Entry> entries, std::size_t classes) {
  std::map<double, std::vector<std::int64_t>> levels;
  std::vector<std::int64_t> rows(classes, 0);
  std::int64_t all = 0;
  for (const auto& entry : entries) {
    auto& level = levels[entry.value];
    level.resize(classes, 0);
    level[static_cast<std::size_t>(entry.of_class)] += entry.count;
    rows[static_cast<std::size_t>(entry.of_class)] += entry.count;
    all += entry.count;
  }
  double alone = 0;
  double with_class = 0;
  for (const auto& [value, level] : levels) {
    std::int64_t total = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      total += level[c];
      if (rows[c] > 0) with_class += square(level[c]) / static_cast<double>(rows[c]);
    }
    alone += square(total) / static_cast<double>(all);
  }
  const double varied = static_cast<double>(all) - alone;
  return varied > 0 ? std::clamp((with_class - alone) / varied, 0.0, 1.0) : 0;
}

template <class T>
class Separation {
 public:
  Separation(const Context& context, const Dataset<T>& dataset, std::span<const std::int32_t> classes,
             std::vector<std::uint32_t> weights)
      : context_(context), dataset_(dataset), classes_(classes), weights_(std::move(weights)) {
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const auto c = static_cast<std::size_t>(classes[i]);
      rows_.resize(std::max(rows_.size(), c + 1), 0);
      rows_[c] += count(i);
    }
  }

  std::vector<double> operator()(std::span<const std::int64_t> features) const {
    std::vector<double> result(features.size());
    const auto* columns = is_sparse(dataset_.x) ? &dataset_.by_columns(Device::cpu(), context_.threads()) : nullptr;
    parallel_ranges(context_, std::ssize(features), 16, [&](Range range) {
      std::vector<Entry> entries;
      for (std::int64_t k = range.begin; k < range.end; ++k) {
        const auto j = features[static_cast<std::size_t>(k)];
        entries.clear();
        if (columns != nullptr)
          gather(*columns, j, entries);
        else
          gather(std::get<DenseMatrix<T>>(dataset_.x), j, entries);
        std::sort(entries.begin(), entries.end());
        result[static_cast<std::size_t>(k)] =
            is_nominal(dataset_, j)
                ? share_predicted(entries, rows_.size())
                : (share_of_ranks(entries, rows_.size()) + share_of_values(entries, rows_.size())) / 2;
      }
    });
    return result;
  }

 private:
  std::int64_t count(std::size_t row) const { return weights_.empty() ? 1 : weights_[row]; }

  void add(std::size_t row, T value, std::vector<Entry>& entries) const {
    for (std::int64_t k = std::isnan(value) ? count(row) : 0; k < count(row); ++k)
      entries.push_back({static_cast<double>(value), classes_[row], 1});
  }

  void gather(const DenseMatrix<T>& x, std::int64_t j, std::vector<Entry>& entries) const {
    for (std::int64_t i = 0; i < x.rows; ++i) add(static_cast<std::size_t>(i), x.values[i * x.columns + j], entries);
  }

  /// Zeros that are not stored are one entry a class. Rows of `x` are features.
  void gather(const SparseMatrix<T>& x, std::int64_t j, std::vector<Entry>& entries) const {
    auto zeros = rows_;
    for (auto k = x.offsets[j]; k < x.offsets[j + 1]; ++k) {
      const auto row = static_cast<std::size_t>(x.indices[k]);
      zeros[static_cast<std::size_t>(classes_[row])] -= count(row);
      add(row, x.values[k], entries);
    }
    for (std::size_t c = 0; c < zeros.size(); ++c)
      if (zeros[c] > 0) entries.push_back({0, static_cast<std::int32_t>(c), zeros[c]});
  }

  const Context& context_;
  const Dataset<T>& dataset_;
  std::span<const std::int32_t> classes_;
  std::vector<std::uint32_t> weights_;
  std::vector<std::int64_t> rows_;  // of each class
};

}  // namespace

template <class T>
TieScores class_separation(const Context& context, const Dataset<T>& dataset, std::span<const std::int32_t> classes,
                           std::vector<std::uint32_t> weights) {
  return Separation<T>(context, dataset, classes, std::move(weights));
}

template TieScores class_separation(const Context&, const Dataset<float>&, std::span<const std::int32_t>,
                                    std::vector<std::uint32_t>);
template TieScores class_separation(const Context&, const Dataset<double>&, std::span<const std::int32_t>,
                                    std::vector<std::uint32_t>);

}  // namespace sheaf::information

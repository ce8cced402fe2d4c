// Means and deviations are running ones (Welford 1962), merged over parts of the rows in fixed order (Chan, Golub and
// LeVeque 1979), so they neither cancel nor depend on the number of threads: the parts follow from the dataset's shape
// alone.
#include <sheaf/solvers/profile.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "core/parallel.hpp"
#include "data/budget.hpp"
#include "data/describe/moments.hpp"
#include "data/describe/stored_summary.hpp"

namespace sheaf {
namespace {

bool is_integer(double value) { return value == std::floor(value); }

/// Sums gathered by the pass over the matrix.
struct Gathered {
  std::vector<Moments> features;
  std::vector<std::int64_t> row_nonzeros;
  bool integers_only = true;
};

/// Merges the parts of each feature in their order; parts[p] holds features 0 .. count-1.
std::vector<Moments> merge_parts(const Context& context, std::int64_t count,
                                 const std::vector<std::vector<Moments>>& parts) {
  std::vector<Moments> merged(static_cast<std::size_t>(count));
  parallel_ranges(context, count, 4096, [&](Range range) {
    for (auto j = static_cast<std::size_t>(range.begin); j < static_cast<std::size_t>(range.end); ++j)
      for (const auto& part : parts) merged[j].merge(part[j]);
  });
  return merged;
}

/// Missing values are NaN, and no statistic counts them if they are skipped.
enum class Gaps : std::uint8_t { none, skipped };

/// One tile: some rows of some columns.
template <Gaps gaps, class T>
bool gather_tile(const DenseMatrix<T>& x, Range rows, Range columns, Moments* moments, std::int64_t* row_nonzeros) {
  bool integers = true;
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const T* row = x.values.data() + i * x.columns;
    const double inverse = 1 / static_cast<double>(i - rows.begin + 1);
    std::int64_t nonzeros = 0;
    for (std::int64_t j = columns.begin; j < columns.end; ++j) {
      const auto value = static_cast<double>(row[j]);
      if constexpr (gaps == Gaps::skipped) {
        if (std::isnan(value)) continue;
        moments[j].add(value);
      } else {
        moments[j].add(value, inverse);
      }
      nonzeros += value != 0 ? 1 : 0;
      integers = integers && is_integer(value);
    }
    std::atomic_ref(row_nonzeros[i]).fetch_add(nonzeros, std::memory_order_relaxed);
  }
  return integers;
}

template <Gaps gaps, class T>
Gathered gather(const Context& context, const DenseMatrix<T>& x) {
  constexpr std::int64_t tile_columns = 512;
  const std::int64_t stripes = (x.columns + tile_columns - 1) / tile_columns;
  const std::int64_t wanted = std::max<std::int64_t>(1, 64 / std::max<std::int64_t>(stripes, 1));
  const std::int64_t row_parts = std::clamp<std::int64_t>(x.rows / 256, 1, wanted);
  Gathered result;
  result.row_nonzeros.resize(static_cast<std::size_t>(x.rows));
  std::vector<std::vector<Moments>> parts(static_cast<std::size_t>(row_parts),
                                          std::vector<Moments>(static_cast<std::size_t>(x.columns)));
  std::atomic<bool> integers{true};
  parallel_for(context, stripes * row_parts, [&](std::int64_t tile) {
    const auto rows = part_of(x.rows, row_parts, tile / stripes);
    const auto columns = part_of(x.columns, stripes, tile % stripes);
    auto* moments = parts[static_cast<std::size_t>(tile / stripes)].data();
    if (!gather_tile<gaps>(x, rows, columns, moments, result.row_nonzeros.data())) integers = false;
  });
  result.integers_only = integers;
  result.features = merge_parts(context, x.columns, parts);
  return result;
}

template <Gaps gaps, class T>
bool gather_rows(const SparseMatrix<T>& x, Range rows, std::vector<Moments>& moments, std::int64_t* row_nonzeros) {
  bool integers = true;
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k) {
      const auto value = static_cast<double>(x.values[k]);
      if (gaps == Gaps::skipped && std::isnan(value)) continue;
      moments[static_cast<std::size_t>(x.indices[k])].add(value);
      row_nonzeros[i] += value != 0 ? 1 : 0;
      integers = integers && is_integer(value);
    }
  return integers;
}

template <Gaps gaps, class T>
Gathered gather(const Context& context, const SparseMatrix<T>& x) {
  // A part needs moments of every feature, so there are no more parts than entries pay for.
  const std::int64_t affordable = x.nonzeros() / std::max<std::int64_t>(2 * x.columns, 1);
  const std::int64_t row_parts = std::clamp<std::int64_t>(std::min(affordable, x.rows / 16), 1, 64);
  Gathered result;
  result.row_nonzeros.resize(static_cast<std::size_t>(x.rows));
  std::vector<std::vector<Moments>> parts(static_cast<std::size_t>(row_parts));
  std::atomic<bool> integers{true};
  parallel_for(context, row_parts, [&](std::int64_t p) {
    auto& moments = parts[static_cast<std::size_t>(p)];
    moments.resize(static_cast<std::size_t>(x.columns));
    if (!gather_rows<gaps>(x, part_of(x.rows, row_parts, p), moments, result.row_nonzeros.data())) integers = false;
  });
  result.integers_only = integers;
  result.features = merge_parts(context, x.columns, parts);
  std::vector<std::int64_t> missing(static_cast<std::size_t>(x.columns), 0);
  if constexpr (gaps == Gaps::skipped) count_missing(x, missing);
  for (std::size_t j = 0; j < missing.size(); ++j)
    result.features[j].add_zeros(x.rows - result.features[j].count - missing[j]);
  return result;
}

/// Calls take(value) for each value of a feature.
template <class T, class Take>
void for_each_value(const Matrix<T>& x, std::int64_t feature, Take&& take) {
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x)) {
    for (std::int64_t i = 0; i < dense->rows; ++i)
      take(static_cast<double>(dense->values[i * dense->columns + feature]));
    return;
  }
  const auto& sparse = std::get<SparseMatrix<T>>(x);
  for (std::int64_t i = 0; i < sparse.rows; ++i) {
    const auto* end = sparse.indices.data() + sparse.offsets[i + 1];
    const auto* at = std::lower_bound(sparse.indices.data() + sparse.offsets[i], end, feature);
    take(at != end && *at == feature ? static_cast<double>(sparse.values[at - sparse.indices.data()]) : 0.0);
  }
}

/// The summary of values whose differences are beyond the largest number: mean and standard deviation are those of the
/// values divided by 2^64, times 2^64, which changes no digit of them.
template <class Values>
FeatureSummary summarize_huge(FeatureSummary summary, const Values& for_each) {
  constexpr int power = 64;
  Moments moments;
  for_each([&](double value) { moments.add(std::ldexp(value, -power)); });
  const auto scaled = moments.summary();
  summary.mean = std::ldexp(scaled.mean, power);
  summary.standard_deviation = std::ldexp(scaled.standard_deviation, power);
  return summary;
}

bool overflows(const FeatureSummary& summary) {
  const bool finite = std::isfinite(summary.minimum) && std::isfinite(summary.maximum);
  return finite && !(std::isfinite(summary.mean) && std::isfinite(summary.standard_deviation));
}

template <Gaps gaps, class T>
void summarize_features(const Gathered& gathered, const Matrix<T>& x, Summary& summary) {
  summary.per_feature.reserve(gathered.features.size());
  for (const auto& moments : gathered.features) {
    auto& feature = summary.per_feature.emplace_back(moments.summary());
    if (overflows(feature)) {
      const auto j = static_cast<std::int64_t>(summary.per_feature.size()) - 1;
      feature = summarize_huge(feature, [&](const auto& take) {
        for_each_value(x, j, [&](double value) {
          if (gaps == Gaps::none || !std::isnan(value)) take(value);
        });
      });
    }
    const bool first = summary.per_feature.size() == 1;
    summary.minimum = first ? feature.minimum : std::min(summary.minimum, feature.minimum);
    summary.maximum = first ? feature.maximum : std::max(summary.maximum, feature.maximum);
    summary.nonzeros += feature.nonzeros;
    summary.zero_features += feature.nonzeros == 0 ? 1 : 0;
    summary.constant_features += feature.minimum == feature.maximum ? 1 : 0;
  }
}

void summarize_rows(const Gathered& gathered, Summary& summary) {
  const auto& counts = gathered.row_nonzeros;
  if (counts.empty()) return;
  const auto [shortest, longest] = std::minmax_element(counts.begin(), counts.end());
  summary.shortest_row = *shortest;
  summary.longest_row = *longest;
  const auto bucket = [](std::int64_t count) {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(count)));
  };
  summary.row_nonzeros_histogram.assign(bucket(*longest) + 1, 0);
  for (const auto count : counts) ++summary.row_nonzeros_histogram[bucket(count)];
  summary.empty_rows = summary.row_nonzeros_histogram.front();
}

void summarize_target(const Target& target, Summary& summary) {
  if (target.looks_like_classes()) {
    summary.class_counts.assign(target.class_names.size(), 0);
    for (const auto c : target.classes) ++summary.class_counts[static_cast<std::size_t>(c)];
  }
  const auto summarized = [](const std::vector<double>& values) {
    Moments moments;
    for (const double value : values) moments.add(value);
    const auto result = moments.summary();
    if (!overflows(result)) return result;
    return summarize_huge(result, [&](const auto& take) { std::for_each(values.begin(), values.end(), take); });
  };
  const auto labels = summarized(target.values);
  summary.target_minimum = labels.minimum;
  summary.target_maximum = labels.maximum;
  summary.target_mean = labels.mean;
  summary.target_standard_deviation = labels.standard_deviation;
  for (const auto& one : target.further) summary.further_targets.push_back({one.name, summarized(one.values)});
}

std::int64_t count_groups(const std::vector<std::int32_t>& groups) {
  auto different = groups;
  std::sort(different.begin(), different.end());
  return std::unique(different.begin(), different.end()) - different.begin();
}

/// The facts that follow from the matrix alone.
template <Gaps gaps, class T>
Summary summarize_matrix(const Context& context, const Dataset<T>& dataset) {
  Summary summary;
  summary.rows = dataset.rows();
  summary.features = dataset.features();
  summary.stored = stored(dataset.x);
  summary.sparse = is_sparse(dataset.x);
  check_feature_memory(context, dataset, 2 * sizeof(Moments) + sizeof(FeatureSummary), "summaries");
  const auto gathered = std::visit([&](const auto& x) { return gather<gaps>(context, x); }, dataset.x);
  summary.integers_only = gathered.integers_only;
  summarize_features<gaps>(gathered, dataset.x, summary);
  summarize_rows(gathered, summary);
  return summary;
}

}  // namespace

template <class T>
std::shared_ptr<const StoredSummary> find_stored_summary(const Dataset<T>& dataset) {
  return std::static_pointer_cast<const StoredSummary>(
      dataset.cached(Device::cpu(), "stored summary", [] { return std::shared_ptr<const void>(); }));
}

template <class T>
void keep_stored_summary(StoredSummary summary, const Dataset<T>& dataset) {
  dataset.cached(Device::cpu(), "stored summary",
                 [&] { return std::make_shared<const StoredSummary>(std::move(summary)); });
}

template <class T>
StoredSummary summarize_to_store(const Context& context, const Dataset<T>& dataset) {
  StoredSummary result;
  std::vector<std::int64_t> missing(static_cast<std::size_t>(dataset.features()), 0);
  if (std::visit([&](const auto& x) { return count_missing(x, missing); }, dataset.x)) {
    result.matrix = summarize_matrix<Gaps::skipped>(context, dataset);
    result.missing = std::move(missing);
  } else {
    result.matrix = summarize_matrix<Gaps::none>(context, dataset);
  }
  return result;
}

template <class T>
bool has_stored_summary(const Dataset<T>& dataset) {
  return find_stored_summary(dataset) != nullptr;
}

Summary with_labels(Summary summary, const Target& target, const std::vector<std::int32_t>& groups) {
  summarize_target(target, summary);
  summary.groups = count_groups(groups);
  return summary;
}

template <class T>
Summary summarize(const Context& context, const Dataset<T>& dataset) {
  const auto stored = find_stored_summary(dataset);
  const bool known = stored && stored->missing.empty();
  return with_labels(known ? stored->matrix : summarize_matrix<Gaps::none>(context, dataset), dataset.target,
                     dataset.groups);
}

MemoryNeed memory_need(const Summary& summary, int element_bytes) {
  constexpr std::int64_t index_bytes = 4;
  constexpr std::int64_t offset_bytes = 8;
  MemoryNeed need;
  need.per_task = element_bytes * (6 * summary.features + 4 * summary.rows);
  if (!summary.sparse) {
    need.matrix_cpu = element_bytes * summary.rows * summary.features;
    need.resident_cpu = need.matrix_cpu;
  } else {
    const std::int64_t entries = summary.stored * (element_bytes + index_bytes);
    need.matrix_cpu = entries + (summary.rows + 1) * offset_bytes;
    need.resident_cpu = need.matrix_cpu + entries + (summary.features + 1) * offset_bytes;
  }
  need.resident_gpu = need.resident_cpu;
  return need;
}

template std::shared_ptr<const StoredSummary> find_stored_summary(const Dataset<float>&);
template std::shared_ptr<const StoredSummary> find_stored_summary(const Dataset<double>&);
template void keep_stored_summary(StoredSummary, const Dataset<float>&);
template void keep_stored_summary(StoredSummary, const Dataset<double>&);
template StoredSummary summarize_to_store(const Context&, const Dataset<float>&);
template StoredSummary summarize_to_store(const Context&, const Dataset<double>&);
template bool has_stored_summary(const Dataset<float>&);
template bool has_stored_summary(const Dataset<double>&);
template Summary summarize(const Context&, const Dataset<float>&);
template Summary summarize(const Context&, const Dataset<double>&);

}  // namespace sheaf

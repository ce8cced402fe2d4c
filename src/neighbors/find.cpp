// Nearest rows and distance matrices of datasets.
#include <sheaf/neighbors.hpp>

#include <sys/mman.h>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "data/read/number_lines.hpp"
#include "neighbors/verbs/ops.hpp"
#include "neighbors/verbs/tree_plan.hpp"

namespace sheaf {
namespace {

using neighbors::AnyRowPair;
using neighbors::Eligible;

template <class T>
void check_k(const Dataset<T>& dataset, const Dataset<T>* queries, const NeighborOptions& options) {
  if (options.k < 1) fail_usage("k is {}; 1 or more is expected", options.k);
  const bool others = queries == nullptr && !options.include_self;
  const auto most = dataset.rows() - (others ? 1 : 0);
  if (options.k > most && (queries == nullptr ? dataset.rows() : queries->rows()) > 0)
    fail_usage("{}: {} neighbours are asked for, but a row has only {}{}", dataset.source, options.k,
               std::max<std::int64_t>(most, 0), others ? " others" : "");
}

/// resize() of an empty vector, in huge pages: faults of small ones take longer than the search on a GPU.
template <class T>
void resize_in_huge_pages(std::vector<T>& values, std::size_t count) {
  constexpr std::uintptr_t page = 2 << 20;
  values.reserve(count);
  const auto first = reinterpret_cast<std::uintptr_t>(values.data());
  const auto begin = (first + page - 1) / page * page, end = (first + count * sizeof(T)) / page * page;
  // Refused on some kernels, which costs nothing.
  if (begin < end)
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // NOLINT(performance-no-int-to-ptr)
  values.resize(count);
}

}  // namespace

template <class T>
WorkEstimate neighbors_work(const Dataset<T>& dataset, const Dataset<T>* queries) {
  const auto& asked = queries != nullptr ? *queries : dataset;
  return {2 * static_cast<double>(stored(dataset.x)) * static_cast<double>(asked.rows()),
          static_cast<double>(matrix_bytes(dataset.x))};
}

template <class T>
WorkEstimate neighbors_work(const Dataset<T>& dataset, const Dataset<T>* queries, const NeighborOptions& options) {
  auto work = neighbors_work(dataset, queries);
  const auto rows = dataset.rows();
  if (is_sparse(dataset.x) || !neighbors::fits_tree(options.distance, rows, dataset.features())) return work;
  const auto compared = neighbors::expected_tree_rows(rows, dataset.features(), options.k);
  if (!neighbors::tree_pays(compared, 1, rows)) return work;
  const auto asked = queries != nullptr ? queries->rows() : rows;
  work.operations = neighbors::tree_row_operations * static_cast<double>(compared) * static_cast<double>(asked);
  return work;
}

template <class T>
NeighborLists find_neighbors(const Context& given, const Dataset<T>& dataset, const NeighborOptions& options,
                             const Dataset<T>* queries) {
  check_k(dataset, queries, options);
  const auto context = given.for_work(neighbors_work(dataset, queries, options));
  const auto pair = neighbors::make_row_pair(context, dataset, queries, options.distance);
  NeighborLists lists;
  lists.queries = queries == nullptr ? dataset.rows() : queries->rows();
  lists.k = options.k;
  const auto size = static_cast<std::size_t>(lists.queries * lists.k);
  parallel_for(context.threads(), 2, [&](std::int64_t i) {
    if (i == 0)
      resize_in_huge_pages(lists.indices, size);
    else
      resize_in_huge_pages(lists.distances, size);
  });
  Eligible eligible;
  eligible.itself = options.include_self;
  neighbors::make_ops(context, pair)->nearest(eligible, options.k, lists.indices, lists.distances);
  return lists;
}

template <class T>
RadiusLists find_within(const Context& given, const Dataset<T>& dataset, const NeighborOptions& options,
                        const Dataset<T>* queries) {
  const auto context = given.for_work(neighbors_work(dataset, queries, options));
  if (!(options.radius >= 0)) fail_usage("the radius is {}; 0 or more is expected", options.radius);
  const auto pair = neighbors::make_row_pair(context, dataset, queries, options.distance);
  Eligible eligible;
  eligible.itself = options.include_self;
  return neighbors::make_ops(context, pair)->within(eligible, options.radius);
}

std::vector<double> read_feature_weights(const std::string& path, std::int64_t features) {
  return read_numbers<double>(path, features, "weight", "feature");
}

struct DistanceMatrix::Inside {
  AnyRowPair pair;
  std::unique_ptr<neighbors::NeighborOps> ops = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

template <class T>
DistanceMatrix::DistanceMatrix(const Context& context, const Dataset<T>& dataset, const DistanceOptions& options,
                               const Dataset<T>* queries)
    : inside_(new Inside{neighbors::make_row_pair(context, dataset, queries, options)}) {
  inside_->ops = neighbors::make_ops(context.for_work(neighbors_work(dataset, queries)), inside_->pair);
  inside_->rows = queries == nullptr ? dataset.rows() : queries->rows();
  inside_->columns = dataset.rows();
}
DistanceMatrix::DistanceMatrix(DistanceMatrix&&) noexcept = default;
DistanceMatrix& DistanceMatrix::operator=(DistanceMatrix&&) noexcept = default;
DistanceMatrix::~DistanceMatrix() = default;

std::int64_t DistanceMatrix::rows() const { return inside_->rows; }
std::int64_t DistanceMatrix::columns() const { return inside_->columns; }

void DistanceMatrix::compute(std::int64_t first_row, std::int64_t rows, std::int64_t first_column, std::int64_t columns,
                             double* out) const {
  if (first_row < 0 || rows < 0 || first_row + rows > this->rows() || first_column < 0 || columns < 0 ||
      first_column + columns > this->columns())
    fail_usage("rows {} to {} and columns {} to {} are not within a distance matrix of {} x {}", first_row,
               first_row + rows, first_column, first_column + columns, this->rows(), this->columns());
  inside_->ops->distances({first_row, first_row + rows}, {first_column, first_column + columns},
                          {out, static_cast<std::size_t>(rows * columns)});
}

#define SHEAF_NEIGHBORS(T)                                                                                             \
  template WorkEstimate neighbors_work(const Dataset<T>&, const Dataset<T>*);                                          \
  template WorkEstimate neighbors_work(const Dataset<T>&, const Dataset<T>*, const NeighborOptions&);                  \
  template NeighborLists find_neighbors(const Context&, const Dataset<T>&, const NeighborOptions&, const Dataset<T>*); \
  template RadiusLists find_within(const Context&, const Dataset<T>&, const NeighborOptions&, const Dataset<T>*);      \
  template DistanceMatrix::DistanceMatrix(const Context&, const Dataset<T>&, const DistanceOptions&, const Dataset<T>*);
SHEAF_NEIGHBORS(float)
SHEAF_NEIGHBORS(double)
#undef SHEAF_NEIGHBORS

}  // namespace sheaf

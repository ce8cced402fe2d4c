// The filter of sparse rows on CPU cores: inner products by inverted lists. The rows are taken in blocks whose sums
// stay in the cache. A feature that many rows of a block have is kept as a column of the block, whose multiples are
// added whole; others as a list of the rows that have it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/array.hpp>

#include "neighbors/verbs/tiles_cpu.hpp"

namespace sheaf::neighbors::cpu {

/// Rows of the filter, sparse, with their bounds.
struct SparseRows {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> indices;
  std::vector<float> values;
  Array<float> base, slack;

  std::int64_t rows() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
};

/// Rows `places` (empty: all). `steps`: the most products that a sum of two rows has.
template <class S>
SparseRows make_sparse_rows(const FilterPlan& plan, const Rows<S>& rows, std::span<const std::int32_t> places,
                            std::int64_t steps) {
  SparseRows result;
  const auto count = places.empty() ? sheaf::rows(rows.x) : std::ssize(places);
  result.base = Array<float>(count);
  result.slack = Array<float>(count);
  std::vector<double> memory;
  for (std::int64_t i = 0; i < count; ++i) {
    RowError error;
    for_filtered(plan, rows, places.empty() ? i : std::int64_t{places[static_cast<std::size_t>(i)]}, memory,
                 [&](std::int64_t j, double wide) {
                   const auto value = static_cast<float>(wide);
                   result.indices.push_back(static_cast<std::int32_t>(j));
                   result.values.push_back(value);
                   error.size += static_cast<double>(value) * static_cast<double>(value);
                 });
    result.offsets.push_back(std::ssize(result.indices));
    const double slack = slack_of(FilterKind::products, error, static_cast<double>(steps));
    result.slack[i] = static_cast<float>(slack * (1 + 0x1p-20));
    result.base[i] = static_cast<float>(error.size - slack);
  }
  return result;
}

template <class S>
std::int64_t longest_row(const Rows<S>& rows) {
  const auto& x = std::get<SparseMatrix<S>>(rows.x);
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < x.rows; ++i) longest = std::max(longest, x.offsets[i + 1] - x.offsets[i]);
  return longest + 1;
}

/// The rows of one block by feature.
class BlockLists {
 public:
  BlockLists(const SparseRows& data, Range rows, std::int64_t columns)
      : first_(rows.begin), size_(rows.end - rows.begin), offsets_(static_cast<std::size_t>(columns) + 1, 0) {
    const auto begin = data.offsets[static_cast<std::size_t>(rows.begin)];
    const auto end = data.offsets[static_cast<std::size_t>(rows.end)];
    for (auto k = begin; k < end; ++k)
      ++offsets_[static_cast<std::size_t>(data.indices[static_cast<std::size_t>(k)]) + 1];
    dense_.assign(static_cast<std::size_t>(columns), -1);
    std::int32_t columns_kept = 0;
    for (std::size_t c = 0; c < dense_.size(); ++c) {
      if (std::int64_t{offsets_[c + 1]} * dense_from > size_) {
        dense_[c] = columns_kept++;
        offsets_[c + 1] = 0;
      }
      offsets_[c + 1] += offsets_[c];
    }
    stride_ = (size_ + lanes - 1) / lanes * lanes;
    columns_.assign(static_cast<std::size_t>(columns_kept * stride_), 0.0F);
    rows_.resize(static_cast<std::size_t>(offsets_.back()));
    values_.resize(rows_.size());
    auto next = offsets_;
    for (auto i = rows.begin; i < rows.end; ++i)
      for (auto k = data.offsets[static_cast<std::size_t>(i)]; k < data.offsets[static_cast<std::size_t>(i) + 1]; ++k) {
        const auto c = static_cast<std::size_t>(data.indices[static_cast<std::size_t>(k)]);
        const float value = data.values[static_cast<std::size_t>(k)];
        if (dense_[c] >= 0) {
          columns_[static_cast<std::size_t>(dense_[c] * stride_ + (i - first_))] = value;
          continue;
        }
        const auto at = static_cast<std::size_t>(next[c]++);
        rows_[at] = static_cast<std::int32_t>(i - first_);
        values_[at] = value;
      }
  }

  std::int64_t first() const { return first_; }
  std::int64_t size() const { return size_; }
  std::int64_t stride() const { return stride_; }

  /// sums[r] = the inner product of row i of `queries` and row first + r.
  void multiply(const SparseRows& queries, std::int64_t i, float* __restrict sums) const {
    std::fill_n(sums, stride_, 0.0F);
    for (auto k = queries.offsets[static_cast<std::size_t>(i)]; k < queries.offsets[static_cast<std::size_t>(i) + 1];
         ++k) {
      const auto c = static_cast<std::size_t>(queries.indices[static_cast<std::size_t>(k)]);
      const float value = queries.values[static_cast<std::size_t>(k)];
      if (dense_[c] >= 0) {
        const float* __restrict column = columns_.data() + dense_[c] * stride_;
        for (std::int64_t r = 0; r < stride_; ++r) sums[r] += value * column[r];
        continue;
      }
      for (auto e = offsets_[c]; e < offsets_[c + 1]; ++e)
        sums[rows_[static_cast<std::size_t>(e)]] += value * values_[static_cast<std::size_t>(e)];
    }
  }

 private:
  /// A column is kept if more than one row in so many has the feature: adding it whole takes a vector's operation for
  /// each sixteen rows, a list one for each row that it names.
  static constexpr std::int64_t dense_from = 16;

  std::int64_t first_, size_;
  std::int64_t stride_ = 0;
  std::vector<std::int32_t> offsets_;  // by feature
  std::vector<std::int32_t> rows_;     // within the block
  std::vector<float> values_;
  std::vector<std::int32_t> dense_;  // by feature: the place of its column; -1: it has a list
  std::vector<float> columns_;
};

/// Rows of a block of lists: their sums stay in the second-level cache; and not too many blocks, each of which has an
/// entry for every feature.
inline std::int64_t list_block_rows(std::int64_t rows) {
  constexpr std::int64_t least = 8192;
  constexpr std::int64_t most_blocks = 16;
  return std::max(least, (rows + most_blocks - 1) / most_blocks);
}

/// Offers the sink all rows of a block whose lower bound is within the limit of query i.
template <class Sink>
void filter_lists(const SparseRows& queries, std::int64_t i, const SparseRows& data, const BlockLists& block,
                  std::vector<float>& sums, Sink& sink) {
  sums.resize(static_cast<std::size_t>(block.stride()));
  block.multiply(queries, i, sums.data());
  const float own = queries.base[i];
  const float* base = data.base.data() + block.first();
  std::int64_t r = 0;
  for (; r + lanes <= block.size(); r += lanes) {
    const Floats lower = (load_lanes(base + r) + own) - 2 * load_lanes(sums.data() + r);
    for (auto bits = at_most(lower, Floats{} + sink.limits()[i]); bits != 0; bits &= bits - 1) {
      const int lane = __builtin_ctz(bits);
      sink.offer(i, block.first() + r + lane, lower[lane]);
    }
  }
  for (; r < block.size(); ++r) {
    const float lower = (base[r] + own) - 2 * sums[static_cast<std::size_t>(r)];
    if (lower <= sink.limits()[i]) sink.offer(i, block.first() + r, lower);
  }
}

}  // namespace sheaf::neighbors::cpu

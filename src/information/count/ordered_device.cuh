// The rows, terms and partners of sums in FEAST's order, as ordered_pairs takes them on a GPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "cuda/staging.cuh"
#include "information/count/columns.hpp"
#include "information/count/ordered.hpp"
#include "information/count/ordered_cuda.cuh"

namespace sheaf::information::gpu {

/// Numbers below 128 for up to 128 rows, in the order of their states.
template <class Code>
void rank_states(std::span<const Code> codes, std::int64_t states, std::uint8_t* out) {
  if (states <= ordered_rows) {
    for (std::size_t i = 0; i < codes.size(); ++i) out[i] = static_cast<std::uint8_t>(codes[i]);
    return;
  }
  std::vector<Code> seen(codes.begin(), codes.end());
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (std::size_t i = 0; i < codes.size(); ++i)
    out[i] = static_cast<std::uint8_t>(std::lower_bound(seen.begin(), seen.end(), codes[i]) - seen.begin());
}

class OrderedDevice {
 public:
  OrderedDevice(Device device, int threads) : device_(device), threads_(threads) {}

  /// Tables of terms grow with its cube.
  static constexpr std::int64_t most_total = 256;
  bool fits() const { return rows_.total <= most_total; }

  /// The whole table, once.
  void send_table(const BinnedTable& table) {
    all_rows_ = table.rows;
    const std::int64_t most = *std::max_element(table.states.begin(), table.states.end());
    states_ = static_cast<int>(std::min<std::int64_t>(most, ordered_rows));
    const auto* dense = std::get_if<DenseCodes>(&table.codes);
    const auto* bytes = dense != nullptr ? std::get_if<Array<std::uint8_t>>(dense) : nullptr;
    codes_ = bytes != nullptr && most <= ordered_rows ? bytes->to(device_) : ranked(table);
  }

  void choose_rows(const Problem& problem) {
    chosen_.clear();
    weights_.clear();
    classes_.clear();
    for (std::size_t i = 0; i < problem.classes.size(); ++i) {
      const std::uint32_t weight = problem.weights.empty() ? 1 : problem.weights[i];
      if (weight == 0) continue;
      chosen_.push_back(static_cast<std::uint32_t>(i));
      weights_.push_back(weight);
      classes_.push_back(static_cast<std::uint32_t>(problem.classes[i]));
    }
    const std::int64_t total_before = rows_.total;
    rows_ = {};
    rows_.weights = weights_;
    rows_.classes = {classes_, problem.class_count};
    rows_.finish();
    if (rows_.total != total_before) mutual_ = {};
    device_chosen_ = Array<std::uint32_t>::copy_of(chosen_, device_);
    device_weights_ = Array<std::uint32_t>::copy_of(weights_, device_);
    if (fits()) send_terms();
  }

  void forget_partners() { partners_.clear(); }

  /// No work that reads partners may be under way. Does not wait for the copy.
  void add_partner(const std::vector<std::uint32_t>& codes, std::int64_t states, const cuda::Stream& stream) {
    std::vector<std::uint32_t> chosen;
    for (const std::uint32_t i : chosen_) chosen.push_back(codes[i]);
    OrderedPartner8 partner{};
    rank_states(std::span<const std::uint32_t>(chosen), states, partner.codes);
    states_ = std::max(states_, static_cast<int>(std::min<std::int64_t>(states, ordered_rows)));
    partner.entropy_in_class = counter_.prepare(rows_, std::move(chosen), states).entropy_in_class;
    partners_.push_back(partner);
    send_partners(stream);
  }

  void launch(const OrderedPairs& pairs, Terms wanted, double* out, const cuda::Stream& stream) {
    if ((wanted & between) != 0) need_mutual_terms();
    const OrderedView all = view();
    const int bytes = ordered_warps * ordered_rows * all.states;
    if (bytes > most_bytes_) {
      most_bytes_ = bytes;
      cuda::check(cudaFuncSetAttribute(ordered_pairs, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                  "asking for memory on chip");
    }
    const auto blocks = static_cast<unsigned>((pairs.count + ordered_warps - 1) / ordered_warps);
    ordered_pairs<<<blocks, ordered_warps * 32, static_cast<std::size_t>(bytes), stream>>>(all, device_partners_.data(),
                                                                                           pairs, wanted, out);
    cuda::check_launch("ordered_pairs");
  }

 private:
  OrderedView view() const {
    const TermTables terms{mutual_.data(),      with_class_.data(), class_offsets_.data(),
                           conditional_.data(), alone_.data(),      static_cast<int>(rows_.total) + 1,
                           std::log(2.0)};
    const auto classes = static_cast<int>(class_offsets_.size());
    return {codes_.data(),
            all_rows_,
            device_chosen_.data(),
            device_weights_.data(),
            device_classes_.data(),
            static_cast<int>(chosen_.size()),
            std::max(states_, classes),
            classes,
            terms};
  }

  /// The largest table, sent when a criterion first needs I(S;J).
  void need_mutual_terms() {
    if (mutual_.size() > 0) return;
    const auto size = static_cast<std::uint32_t>(rows_.total) + 1;
    std::vector<double> mutual(std::size_t{size} * size * size, 0.0);
    parallel_for(threads_, rows_.total, [&](std::int64_t before) {
      const auto c = static_cast<std::uint32_t>(before) + 1;
      for (std::uint32_t a = c; a < size; ++a)
        for (std::uint32_t b = c; b < size; ++b)
          mutual[(std::size_t{c} * size + a) * size + b] = rows_.terms.mutual_of(c, a, b);
    });
    mutual_ = Array<double>::copy_of(mutual, device_);
  }

  /// The last one; all of them if the device's room has to grow.
  void send_partners(const cuda::Stream& stream) {
    const std::size_t count = partners_.size();
    const bool enough = device_partners_.size() >= static_cast<std::int64_t>(count);
    if (!enough) device_partners_ = Array<OrderedPartner8>(static_cast<std::int64_t>(count) * 2, device_);
    auto* staged = staging_.room<OrderedPartner8>(static_cast<std::size_t>(device_partners_.size()));
    const std::size_t first = enough ? count - 1 : 0;
    std::copy(partners_.begin() + static_cast<std::ptrdiff_t>(first), partners_.end(), staged + first);
    cuda::check(cudaMemcpyAsync(device_partners_.data() + first, staged + first,
                                (count - first) * sizeof(OrderedPartner8), cudaMemcpyHostToDevice, stream),
                "sending partners");
  }

  void send_terms() {
    const auto size = static_cast<std::uint32_t>(rows_.total) + 1;
    const TermTable& terms = rows_.terms;
    std::vector<double> alone(size, 0.0);
    std::vector<double> conditional(std::size_t{size} * size, 0.0);
    for (std::uint32_t c = 1; c < size; ++c) {
      alone[c] = terms.alone_of(c);
      for (std::uint32_t b = c; b < size; ++b) conditional[c * size + b] = terms.conditional_of(c, b);
    }
    alone_ = Array<double>::copy_of(alone, device_);
    conditional_ = Array<double>::copy_of(conditional, device_);
    send_class_terms(size);
  }

  /// Classes that occur, numbered without gaps.
  void send_class_terms(std::uint32_t size) {
    std::vector<double> with_class;
    std::vector<std::int64_t> offsets;
    std::vector<std::uint8_t> numbers(rows_.class_counts.size(), 0);
    for (std::size_t y = 0; y < numbers.size(); ++y) {
      const std::uint32_t of_class = rows_.class_counts[y];
      if (of_class == 0) continue;
      numbers[y] = static_cast<std::uint8_t>(offsets.size());
      offsets.push_back(static_cast<std::int64_t>(with_class.size()));
      with_class.resize(with_class.size() + (std::size_t{of_class} + 1) * size, 0.0);
      double* table = with_class.data() + offsets.back();
      for (std::uint32_t c = 1; c <= of_class; ++c)
        for (std::uint32_t a = c; a < size; ++a) table[c * size + a] = rows_.terms.mutual_of(c, a, of_class);
    }
    with_class_ = Array<double>::copy_of(with_class, device_);
    class_offsets_ = Array<std::int64_t>::copy_of(offsets, device_);
    std::vector<std::uint8_t> classes;
    for (const std::uint32_t y : classes_) classes.push_back(numbers[y]);
    device_classes_ = Array<std::uint8_t>::copy_of(classes, device_);
  }

  Array<std::uint8_t> ranked(const BinnedTable& table) const {
    std::vector<std::uint8_t> codes(static_cast<std::size_t>(table.rows * table.features));
    parallel_ranges(threads_, table.features, 64, [&](Range range) {
      std::vector<std::uint16_t> column;
      for (std::int64_t j = range.begin; j < range.end; ++j) {
        read_column(table, j, column);
        rank_states(std::span<const std::uint16_t>(column), table.states[static_cast<std::size_t>(j)],
                    codes.data() + j * table.rows);
      }
    });
    return Array<std::uint8_t>::copy_of(codes, device_);
  }

  Device device_;
  int threads_;
  std::int64_t all_rows_ = 0;
  int states_ = 0;  ///< more than any state of a feature or partner, as ranked
  OrderedRows rows_;
  OrderedCounter counter_;
  std::vector<std::uint32_t> chosen_, weights_, classes_;
  std::vector<OrderedPartner8> partners_;
  Array<OrderedPartner8> device_partners_;
  cuda::Staging staging_;
  int most_bytes_ = 0;
  Array<std::uint8_t> codes_, device_classes_;
  Array<std::uint32_t> device_chosen_, device_weights_;
  Array<double> mutual_, with_class_, conditional_, alone_;
  Array<std::int64_t> class_offsets_;
};

}  // namespace sheaf::information::gpu

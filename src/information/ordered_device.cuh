// The rows, terms and partners of sums in FEAST's order, as ordered_pairs wants them on a GPU.
#pragma once

#include <cmath>
#include <vector>

#include "information/ordered.hpp"
#include "information/ordered_cuda.cuh"

namespace sheaf::information::gpu {

struct OrderedDevicePartner {
  Array<std::uint32_t> codes, with_class;
  double entropy_in_class = 0;
};

class OrderedDevice {
 public:
  explicit OrderedDevice(Device device) : device_(device) {}

  /// Tables of terms grow with its cube.
  static constexpr std::int64_t most_total = 256;
  bool fits() const { return rows_.total <= most_total; }

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
    rows_ = {};
    rows_.weights = weights_;
    rows_.classes = {classes_, problem.class_count};
    rows_.finish();
    device_chosen_ = Array<std::uint32_t>::copy_of(chosen_, device_);
    device_weights_ = Array<std::uint32_t>::copy_of(weights_, device_);
    device_classes_ = Array<std::uint32_t>::copy_of(classes_, device_);
    if (fits()) send_terms();
  }

  OrderedDevicePartner prepare(const std::vector<std::uint32_t>& codes, std::int64_t states) {
    std::vector<std::uint32_t> chosen;
    for (const std::uint32_t i : chosen_) chosen.push_back(codes[i]);
    const OrderedPartner prepared = counter_.prepare(rows_, std::move(chosen), states);
    OrderedDevicePartner partner;
    partner.entropy_in_class = prepared.entropy_in_class;
    partner.codes = Array<std::uint32_t>::copy_of(prepared.codes, device_);
    partner.with_class = Array<std::uint32_t>::copy_of(prepared.with_class, device_);
    return partner;
  }

  /// `codes`: all features, all examples.
  OrderedView view(const std::uint16_t* codes, std::int64_t all_rows) const {
    const TermTables terms{mutual_.data(),      with_class_.data(), class_offsets_.data(),
                           conditional_.data(), alone_.data(),      static_cast<int>(rows_.total) + 1,
                           std::log(2.0)};
    return {codes,
            all_rows,
            device_chosen_.data(),
            device_weights_.data(),
            device_classes_.data(),
            static_cast<int>(chosen_.size()),
            terms};
  }

  /// The largest table, sent when a criterion first asks for I(S;J).
  void need_mutual_terms() {
    if (mutual_.size() > 0) return;
    const auto size = static_cast<std::uint32_t>(rows_.total) + 1;
    std::vector<double> mutual(std::size_t{size} * size * size, 0.0);
    for (std::uint32_t c = 1; c < size; ++c)
      for (std::uint32_t a = c; a < size; ++a)
        for (std::uint32_t b = c; b < size; ++b)
          mutual[(std::size_t{c} * size + a) * size + b] = rows_.terms.mutual_of(c, a, b);
    mutual_ = Array<double>::copy_of(mutual, device_);
  }

 private:
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
    mutual_ = {};
  }

  void send_class_terms(std::uint32_t size) {
    std::vector<double> with_class;
    std::vector<std::int64_t> offsets;
    for (const std::uint32_t of_class : rows_.class_counts) {
      offsets.push_back(static_cast<std::int64_t>(with_class.size()));
      with_class.resize(with_class.size() + (std::size_t{of_class} + 1) * size, 0.0);
      double* table = with_class.data() + offsets.back();
      for (std::uint32_t c = 1; c <= of_class; ++c)
        for (std::uint32_t a = c; a < size; ++a) table[c * size + a] = rows_.terms.mutual_of(c, a, of_class);
    }
    with_class_ = Array<double>::copy_of(with_class, device_);
    class_offsets_ = Array<std::int64_t>::copy_of(offsets, device_);
  }

  Device device_;
  OrderedRows rows_;
  OrderedCounter counter_;
  std::vector<std::uint32_t> chosen_, weights_, classes_;
  Array<std::uint32_t> device_chosen_, device_weights_, device_classes_;
  Array<double> mutual_, with_class_, conditional_, alone_;
  Array<std::int64_t> class_offsets_;
};

}  // namespace sheaf::information::gpu

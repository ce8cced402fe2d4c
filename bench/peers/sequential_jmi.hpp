// JMI as its pseudo-code is published (Brown et al. 2012, algorithm of the FEAST toolbox): one thread, dense states,
// for each candidate and selected feature a merge of the two and the mutual information of the merged states with the
// class. Written from the definitions; every score is kept once computed, as FEAST does.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace sheaf::bench {

class SequentialJmi {
 public:
  SequentialJmi(std::vector<int> classes, int class_count) : y_(std::move(classes)), class_count_(class_count) {}

  /// I(merge(a, b); y) in bits.
  double joint_information(const std::vector<int>& a, int states_a, const std::vector<int>& b, int states_b) {
    return information(merge(a, states_a, b, states_b));
  }

  double relevance(const std::vector<int>& a, int states) {
    merged_ = a;
    return information(states);
  }

 private:
  int merge(const std::vector<int>& a, int states_a, const std::vector<int>& b, int states_b) {
    numbers_.assign(static_cast<std::size_t>(states_a * states_b), 0);
    merged_.resize(a.size());
    int last = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      int& number = numbers_[static_cast<std::size_t>(b[i] * states_a + a[i])];
      if (number == 0) number = ++last;
      merged_[i] = number;
    }
    return last + 1;
  }

  double information(int states) {
    const auto width = static_cast<std::size_t>(states);
    joint_.assign(width * static_cast<std::size_t>(class_count_), 0.0);
    of_merged_.assign(width, 0.0);
    of_class_.assign(static_cast<std::size_t>(class_count_), 0.0);
    for (std::size_t i = 0; i < merged_.size(); ++i) {
      const auto state = static_cast<std::size_t>(merged_[i]);
      const auto y = static_cast<std::size_t>(y_[i]);
      joint_[y * width + state] += 1;
      of_merged_[state] += 1;
      of_class_[y] += 1;
    }
    const auto n = static_cast<double>(merged_.size());
    double sum = 0;
    for (std::size_t e = 0; e < joint_.size(); ++e) {
      if (joint_[e] == 0) continue;
      const double p = joint_[e] / n;
      sum += p * std::log(p / (of_merged_[e % width] / n) / (of_class_[e / width] / n));
    }
    return sum / std::log(2.0);
  }

  std::vector<int> y_;
  int class_count_;
  std::vector<int> numbers_, merged_;
  std::vector<double> joint_, of_merged_, of_class_;
};

}  // namespace sheaf::bench

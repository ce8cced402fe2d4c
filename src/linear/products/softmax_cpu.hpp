// Multinomial models on CPU cores: threads over rows, vectors over the classes of a row.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/math.hpp"
#include "linear/products/losses_cpu.hpp"
#include "linear/products/softmax.hpp"

namespace sheaf::linear::cpu {

/// Arguments of softmax().
template <class T>
struct SoftmaxBlocks {
  std::int32_t classes;
  BlockView<const T> z, step;
  BlockView<T> slopes, probabilities;
  Wanted wanted;
};

inline bool is_wanted(Wanted wanted, std::int32_t task) {
  return wanted.empty() || wanted[static_cast<std::size_t>(task)] != 0;
}

/// e = exp(z - largest); returns their sum.
template <class T>
T shifted_exponentials(const T* z, std::int32_t classes, T largest, T* e) {
#pragma omp simd
  for (std::int32_t k = 0; k < classes; ++k) e[k] = exp_nonpositive(z[k] - largest);
  T sum = 0;
  for (std::int32_t k = 0; k < classes; ++k) sum += e[k];
  return sum;
}

template <class T>
T largest_of(const T* z, std::int32_t classes) {
  T largest = z[0];
  for (std::int32_t k = 1; k < classes; ++k) largest = std::max(largest, z[k]);
  return largest;
}

/// The loss of one row and task; z holds its decision values and is overwritten by probabilities.
template <class T>
double softmax_row(const SoftmaxBlocks<T>& blocks, std::int64_t at, T* z, T* e, std::int32_t label, T cost) {
  const std::int32_t classes = blocks.classes;
  std::copy_n(blocks.z.data + at, classes, z);
  for (std::int32_t k = 0; k < classes && blocks.step.data != nullptr; ++k) z[k] += blocks.step.data[at + k];
  const T largest = largest_of(z, classes);
  const T sum = shifted_exponentials(z, classes, largest, e);
  const T loss = std::log(sum) + largest - z[label];
  for (std::int32_t k = 0; k < classes; ++k) z[k] = e[k] / sum;
  if (blocks.probabilities.data != nullptr) std::copy_n(z, classes, blocks.probabilities.data + at);
  if (blocks.slopes.data != nullptr) {
    T* slopes = blocks.slopes.data + at;
    for (std::int32_t k = 0; k < classes; ++k) slopes[k] = cost * z[k];
    // Not p - 1, which would lose the digits of a probability near 1.
    T others = 0;
    for (std::int32_t k = 0; k < classes; ++k) others += k == label ? T(0) : z[k];
    slopes[label] = -cost * others;
  }
  return static_cast<double>(cost * loss);
}

/// `terms` holds the tables and the chosen tasks.
template <class T>
void softmax(const TaskLosses<T>& terms, const SoftmaxBlocks<T>& blocks, std::span<double> values, int threads) {
  const std::int32_t classes = blocks.classes;
  const std::int32_t stride = blocks.z.stride;
  const auto tasks = static_cast<std::int32_t>(values.size());
  std::vector<double> sums(static_cast<std::size_t>(stride));  // column t * classes holds that of task t
  sum_over_rows(blocks.z.rows, stride, threads, sums, [&](Range range, double* partial) {
    std::vector<T> scratch(2 * static_cast<std::size_t>(classes));
    for (std::int64_t i = range.begin; i < range.end; ++i)
      for (std::int32_t t = 0; t < tasks; ++t) {
        if (!is_wanted(blocks.wanted, t)) continue;
        const auto task = static_cast<std::size_t>(t);
        partial[t * classes] += softmax_row(blocks, i * stride + t * classes, scratch.data(), scratch.data() + classes,
                                            static_cast<std::int32_t>(terms.target(i, task)), terms.cost(i, task));
      }
  });
  for (std::int32_t t = 0; t < tasks; ++t)
    values[static_cast<std::size_t>(t)] = sums[static_cast<std::size_t>(t * classes)];
}

template <class T>
void softmax_curvature(const TaskLosses<T>& terms, std::int32_t classes, BlockView<const T> probabilities,
                       Wanted wanted, BlockView<T> q, int threads) {
  parallel_parts(team_for(threads, q.rows * q.stride), q.rows, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i)
      for (std::int32_t t = 0; t < q.tasks / classes; ++t) {
        if (!is_wanted(wanted, t)) continue;
        const T* p = probabilities.data + i * probabilities.stride + t * classes;
        T* direction = q.data + i * q.stride + t * classes;
        T mean = 0;
        for (std::int32_t k = 0; k < classes; ++k) mean += p[k] * direction[k];
        const T cost = terms.cost(i, static_cast<std::size_t>(t));
        for (std::int32_t k = 0; k < classes; ++k) direction[k] = cost * p[k] * (direction[k] - mean);
      }
  });
}

template <class T>
void softmax_diagonal(const TaskLosses<T>& terms, std::int32_t classes, BlockView<T> probabilities, int threads) {
  parallel_parts(team_for(threads, probabilities.rows * probabilities.stride), probabilities.rows, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i)
      for (std::int32_t column = 0; column < probabilities.tasks; ++column) {
        T& p = probabilities.data[i * probabilities.stride + column];
        p = terms.cost(i, static_cast<std::size_t>(column / classes)) * p * (1 - p);
      }
  });
}

template <class T>
void center_classes(std::int32_t classes, BlockView<T> w, int threads) {
  parallel_parts(team_for(threads, w.rows * w.stride), w.rows, [&](Range range) {
    for (std::int64_t j = range.begin; j < range.end; ++j)
      for (std::int32_t first = 0; first < w.tasks; first += classes) {
        T* row = w.data + j * w.stride + first;
        const T mean = std::accumulate(row, row + classes, T(0)) / static_cast<T>(classes);
        for (std::int32_t k = 0; k < classes; ++k) row[k] -= mean;
      }
  });
}

/// z becomes the log odds of each class against all others.
template <class T>
void log_odds(std::int32_t classes, BlockView<T> z, int threads) {
  parallel_parts(team_for(threads, z.rows * z.stride), z.rows, [&](Range range) {
    std::vector<T> e(static_cast<std::size_t>(classes));
    for (std::int64_t i = range.begin; i < range.end; ++i)
      for (std::int32_t t = 0; t < z.tasks / classes; ++t) {
        T* row = z.data + i * z.stride + t * classes;
        const auto best = static_cast<std::int32_t>(std::max_element(row, row + classes) - row);
        const T largest = row[best];
        shifted_exponentials(row, classes, largest, e.data());
        T rest = 0;
        for (std::int32_t k = 0; k < classes; ++k) rest += k == best ? T(0) : e[static_cast<std::size_t>(k)];
        for (std::int32_t k = 0; k < classes; ++k)
          row[k] = linear::log_odds(row[k] - largest, e[static_cast<std::size_t>(k)], rest, k == best);
      }
  });
}

}  // namespace sheaf::linear::cpu

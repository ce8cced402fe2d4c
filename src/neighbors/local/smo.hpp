// SVMs on a few rows, written once for both backends. With y_t = 1 or -1 and beta_t = y_t alpha_t, two classes are
//   min over beta of 1/2 beta'K beta - y'beta,   sum beta = 0,   0 <= y_t beta_t <= C_t
// solved by sequential minimal optimisation with the second-order choice of pairs (Fan, Chen and Lin 2005, WSS 2) and
// LIBSVM's stopping rule and intercept. Nothing is shrunk and no kernel value is computed twice: the matrix is small.
//
// A team runs a loop: one CPU core, or threads of a GPU that share their memory. It has
//   each(n, work)     work(t) for t in 0 .. n-1; begins when all members are there, ends when all see what was written
//   choose(n, visit)  visit(t, choice) likewise, and the best of all choices
//   once(work)        work() by one member, likewise
//   part(matrix, stride, rows, n)  the kernel values of some rows among themselves: (s, t) -> matrix(rows[s], rows[t])
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"

namespace sheaf::neighbors {

inline constexpr std::int64_t most_smo_steps = 1000000;
/// The curvature of pairs of equal rows, as in LIBSVM.
inline constexpr double least_curvature = 1e-12;
inline constexpr double no_value = -1e300;

/// The index of the largest value, the lowest index of equals; and the lowest of other values.
struct Choice {
  double value = no_value;
  int at = 0x7fffffff;
  double lowest = -no_value;

  SHEAF_HOST_DEVICE void offer(double other, int t) {
    if (other > value || (other == value && t < at)) {
      value = other;
      at = t;
    }
  }
  SHEAF_HOST_DEVICE void offer_lowest(double other) {
    if (other < lowest) lowest = other;
  }
};

struct SmoResult {
  double intercept = 0;
  bool converged = true;
  bool bounded = false;  ///< a step was cut at a cost: without such, a larger cost gives the same steps
};

/// Memory for the variables of one problem, n numbers each.
struct SmoVectors {
  double* beta;
  double* f;  ///< y - K beta
  double* low;
  double* high;  ///< bounds of beta
};

/// One problem of two classes. sign(t) is y_t, cost(t) is C_t above 0, kernel(s, t) a value of K; both classes must
/// have a row. Values that are not finite end it without a solution.
template <class Team, class Kernel, class Sign, class Cost>
SHEAF_HOST_DEVICE SmoResult solve_two_classes(const Team& team, int n, const Kernel& kernel, const Sign& sign,
                                              const Cost& cost, double tolerance, const SmoVectors& memory) {
  double* const beta = memory.beta;
  double* const f = memory.f;
  double* const low = memory.low;
  double* const high = memory.high;
  team.each(n, [&](int t) {
    beta[t] = 0;
    f[t] = sign(t);
    low[t] = sign(t) > 0 ? 0 : -cost(t);
    high[t] = sign(t) > 0 ? cost(t) : 0;
  });
  SmoResult result;
  double middle = 0;  // of the largest and the smallest possible intercept
  for (std::int64_t step = 0;; ++step) {
    const Choice first = team.choose(n, [&](int t, Choice& choice) {
      if (beta[t] < high[t]) choice.offer(f[t], t);
    });
    const int i = first.at;
    result.converged = false;
    if (i >= n) break;
    const double own = kernel(i, i);
    const auto curvature = [&](int t) {
      const double value = own + kernel(t, t) - 2 * kernel(i, t);
      return value > 0 ? value : least_curvature;
    };
    const Choice second = team.choose(n, [&](int t, Choice& choice) {
      if (!(beta[t] > low[t])) return;
      choice.offer_lowest(f[t]);
      const double apart = first.value - f[t];
      if (apart > 0) choice.offer(apart * apart / curvature(t), t);
    });
    const int j = second.at;
    middle = (first.value + second.lowest) / 2;
    result.converged = first.value - second.lowest < tolerance;
    if (result.converged || step == most_smo_steps || j >= n) break;
    const double room_up = high[i] - beta[i];
    const double room_down = beta[j] - low[j];
    double move = (first.value - f[j]) / curvature(j);
    if (move > room_up) move = room_up;
    if (move > room_down) move = room_down;
    result.bounded = result.bounded || (move == room_up && high[i] > 0) || (move == room_down && low[j] < 0);
    const double up = move == room_up ? high[i] : beta[i] + move;
    const double down = move == room_down ? low[j] : beta[j] - move;
    team.each(n, [&](int t) { f[t] -= move * (kernel(i, t) - kernel(j, t)); });
    team.once([&] {
      beta[i] = up;
      beta[j] = down;
    });
  }
  double sum = 0;
  int free = 0;
  for (int t = 0; t < n; ++t)
    if (beta[t] > low[t] && beta[t] < high[t]) {
      sum += f[t];
      ++free;
    }
  result.intercept = free > 0 ? sum / free : middle;
  return result;
}

/// The members of a neighbourhood, and the SVMs to train on its first rows.
struct SvmSettings {
  const std::int32_t* classes = nullptr;  ///< of each training row
  const float* weights = nullptr;         ///< factor of each one's cost; nullptr: 1
  int class_count = 0;
  const double* costs = nullptr;  ///< ascending
  int cost_count = 0;
  double tolerance = 1e-3;
};

/// Kernel values of one neighbourhood.
struct SvmKernels {
  const double* matrix = nullptr;  ///< of its rows among themselves, both triangles
  const double* points = nullptr;  ///< point_count x stride: of its rows and the points to decide about
  std::int64_t stride = 0;
  int point_count = 0;
};

/// Memory of a team.
struct SvmScratch {
  int* counts;  ///< class_count
  int* rows;    ///< as many as the neighbourhood has
  SmoVectors vectors;
};

/// The RBF kernel of two rows from their inner products with themselves and each other.
SHEAF_HOST_DEVICE inline double rbf_of_products(double gamma, double aa, double bb, double ab) {
  const double squared = aa + bb - 2 * ab;
  return exp(-gamma * (squared > 0 ? squared : 0.0));
}

/// Layout of the values of the classes for a point and a cost: base + point * per_point + cost * per_cost.
struct SvmOutput {
  double* values;
  int* wins;  ///< memory, of the same layout
  std::int64_t per_point, per_cost;

  SHEAF_HOST_DEVICE std::int64_t at(int point, int cost) const { return point * per_point + cost * per_cost; }
};

/// Turns sums of decision values and wins into one value a class. An SVM of a class that has rows against one that has
/// none gives 1.
SHEAF_HOST_DEVICE inline void finish_values(const int* counts, int class_count, double* values, const int* wins) {
  int present = 0;
  for (int c = 0; c < class_count; ++c) present += counts[c] > 0 ? 1 : 0;
  const int absent = class_count - present;
  for (int c = 0; c < class_count; ++c) {
    const double sum = counts[c] > 0 ? values[c] + absent : -present;
    const int won = counts[c] > 0 ? wins[c] + absent : 0;
    values[c] = class_count == 2 ? sum : won + sum / (3 * ((sum < 0 ? -sum : sum) + 1));
  }
}

/// Trains an SVM for each two classes that the first k rows of a neighbourhood have, for each cost, and decides about
/// its points: one class against the other, the class of most wins, as LIBSVM does it. How many did not converge.
template <class Team>
SHEAF_HOST_DEVICE int decide_by_pairs(const Team& team, const SvmSettings& settings, const std::int32_t* list, int k,
                                      const SvmKernels& kernels, const SvmScratch& scratch, const SvmOutput& output) {
  const int classes = settings.class_count;
  team.each(classes, [&](int c) {
    int count = 0;
    for (int t = 0; t < k; ++t) count += settings.classes[list[t]] == c ? 1 : 0;
    scratch.counts[c] = count;
  });
  const int places = kernels.point_count * settings.cost_count;
  const auto place = [&](int n) { return output.at(n / settings.cost_count, n % settings.cost_count); };
  team.each(places, [&](int n) {
    for (int c = 0; c < classes; ++c) {
      output.values[place(n) + c] = 0;
      output.wins[place(n) + c] = 0;
    }
  });
  int failed = 0;
  for (int a = 0; a < classes; ++a) {
    if (scratch.counts[a] == 0) continue;
    for (int b = a + 1; b < classes; ++b) {
      if (scratch.counts[b] == 0) continue;
      team.once([&] {
        int n = 0;
        for (int t = 0; t < k; ++t)
          if (settings.classes[list[t]] == a || settings.classes[list[t]] == b) scratch.rows[n++] = t;
      });
      const int n = scratch.counts[a] + scratch.counts[b];
      const int* rows = scratch.rows;
      const auto kernel = team.part(kernels.matrix, kernels.stride, rows, n);
      const auto sign = [&](int t) { return settings.classes[list[rows[t]]] == a ? 1.0 : -1.0; };
      SmoResult solved;
      solved.bounded = true;
      for (int c = 0; c < settings.cost_count; ++c) {
        const double largest = settings.costs[c];
        const auto cost = [&](int t) {
          return settings.weights == nullptr ? largest : largest * static_cast<double>(settings.weights[list[rows[t]]]);
        };
        if (solved.bounded)  // else the solution of the cost before is this one's too
          solved = solve_two_classes(team, n, kernel, sign, cost, settings.tolerance, scratch.vectors);
        failed += solved.converged ? 0 : 1;
        team.each(kernels.point_count, [&](int point) {
          const double* to = kernels.points + point * kernels.stride;
          double decision = solved.intercept;
          for (int t = 0; t < n; ++t) decision += scratch.vectors.beta[t] * to[rows[t]];
          double* values = output.values + output.at(point, c);
          values[a] += decision;
          values[b] -= decision;
          ++output.wins[output.at(point, c) + (decision > 0 ? a : b)];
        });
      }
    }
  }
  team.each(places,
            [&](int n) { finish_values(scratch.counts, classes, output.values + place(n), output.wins + place(n)); });
  return failed;
}

}  // namespace sheaf::neighbors

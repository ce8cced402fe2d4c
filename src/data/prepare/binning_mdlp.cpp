// Cuts by the minimum description length principle.
//
// A set S of N rows of k classes is cut at the value T that leaves the least class entropy
// E(T) = |S1|/N H(S1) + |S2|/N H(S2), and the cut is kept if the gain pays for its description:
//     H(S) - E(T) > (log2(N - 1) + log2(3^k - 2) - (k H(S) - k1 H(S1) - k2 H(S2))) / N;
// both parts are then cut in the same way. Fayyad and Irani, Multi-interval discretization of continuous-valued
// attributes for classification learning, IJCAI 1993. The lowest of equally good cuts is taken.
#include <algorithm>
#include <cmath>
#include <utility>

#include "data/prepare/binning.hpp"

namespace sheaf::bins {
namespace {

struct ClassCount {
  std::int32_t cls;
  std::int64_t count;
};

/// Rows of one value: entries begin .. end of the list of class counts, classes ascending.
struct Run {
  double value;
  std::size_t begin, end;
};

/// The feature as runs of equal values, whichever way it is stored.
struct Runs {
  std::vector<Run> runs;
  std::vector<ClassCount> counts;

  void add(double value, std::int32_t cls, std::int64_t count) {
    if (runs.empty() || runs.back().value != value) runs.push_back({value, counts.size(), counts.size()});
    if (runs.back().end > runs.back().begin && counts.back().cls == cls) {
      counts.back().count += count;
      return;
    }
    counts.push_back({cls, count});
    ++runs.back().end;
  }
};

template <class T>
std::int32_t class_of(const Column<T>& column, std::span<const std::int32_t> classes, std::size_t k) {
  return classes[column.examples.empty() ? k : static_cast<std::size_t>(column.examples[k])];
}

/// How many zeros that are not stored each class has.
template <class T>
std::vector<std::int64_t> zeros_by_class(const Column<T>& column, std::span<const std::int32_t> classes,
                                         std::span<const std::int64_t> class_sizes) {
  if (column.zeros() == 0) return {};
  std::vector<std::int64_t> zeros(class_sizes.begin(), class_sizes.end());
  for (std::size_t k = 0; k < column.values.size(); ++k)
    --zeros[static_cast<std::size_t>(class_of(column, classes, k))];
  return zeros;
}

template <class T>
Runs runs_of(const Column<T>& column, std::span<const std::int32_t> classes,
             std::span<const std::int64_t> class_sizes) {
  std::vector<std::pair<T, std::int32_t>> pairs;
  pairs.reserve(column.values.size());
  auto zeros = zeros_by_class(column, classes, class_sizes);
  for (std::size_t k = 0; k < column.values.size(); ++k) {
    const auto cls = class_of(column, classes, k);
    if (column.values[k] == 0 && !zeros.empty())
      ++zeros[static_cast<std::size_t>(cls)];  // stored zeros join the others
    else if (!std::isnan(column.values[k]))
      pairs.emplace_back(column.values[k] + T(0), cls);
  }
  std::sort(pairs.begin(), pairs.end());
  Runs runs;
  auto at = pairs.begin();
  for (; at != pairs.end() && at->first < 0; ++at) runs.add(static_cast<double>(at->first), at->second, 1);
  for (std::size_t c = 0; c < zeros.size(); ++c)
    if (zeros[c] > 0) runs.add(0, static_cast<std::int32_t>(c), zeros[c]);
  for (; at != pairs.end(); ++at) runs.add(static_cast<double>(at->first), at->second, 1);
  return runs;
}

/// Class counts of a set of rows, with the sum of c log c over them.
class Counts {
 public:
  Counts(std::size_t classes, const XLogX& x_log_x) : counts_(classes), x_log_x_(&x_log_x) {}

  void add(ClassCount some) {
    auto& count = counts_[static_cast<std::size_t>(some.cls)];
    sum_ += (*x_log_x_)(count + some.count) - (*x_log_x_)(count);
    present_ += (count + some.count > 0 ? 1 : 0) - (count > 0 ? 1 : 0);
    count += some.count;
    all_ += some.count;
  }
  std::int64_t all() const { return all_; }
  int present() const { return present_; }
  /// N H in bits.
  double entropy() const { return (*x_log_x_)(all_)-sum_; }

 private:
  std::vector<std::int64_t> counts_;
  const XLogX* x_log_x_;
  double sum_ = 0;
  std::int64_t all_ = 0;
  int present_ = 0;
};

/// log2(3^k - 2).
double log_three_to(int k) { return k * std::log2(3.0) + std::log2(1 - 2 * std::pow(3.0, -k)); }

bool pays(const Counts& whole, const Counts& left, const Counts& right) {
  const auto n = static_cast<double>(whole.all());
  const auto weighed = [](const Counts& part) {
    return part.present() * part.entropy() / static_cast<double>(part.all());
  };
  const double delta = log_three_to(whole.present()) - (weighed(whole) - weighed(left) - weighed(right));
  return whole.entropy() - left.entropy() - right.entropy() > std::log2(n - 1) + delta;
}

class Cutter {
 public:
  Cutter(const Runs& runs, std::size_t classes, const XLogX& x_log_x)
      : runs_(runs), classes_(classes), x_log_x_(x_log_x) {}

  std::vector<double> cuts() {
    std::vector<std::pair<std::size_t, std::size_t>> open{{0, runs_.runs.size()}};
    std::vector<double> found;
    while (!open.empty()) {
      const auto [begin, end] = open.back();
      open.pop_back();
      const auto cut = best_cut(begin, end);
      if (cut == begin) continue;
      found.push_back(cut_between(runs_.runs[cut - 1].value, runs_.runs[cut].value));
      open.emplace_back(begin, cut);
      open.emplace_back(cut, end);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  Counts count(std::size_t begin, std::size_t end) const {
    Counts counts(classes_, x_log_x_);
    for (std::size_t r = begin; r < end; ++r) add_run(counts, r, 1);
    return counts;
  }
  void add_run(Counts& counts, std::size_t r, std::int64_t sign) const {
    for (std::size_t k = runs_.runs[r].begin; k < runs_.runs[r].end; ++k)
      counts.add({runs_.counts[k].cls, sign * runs_.counts[k].count});
  }

  /// The run before which to cut; `begin`: nowhere.
  std::size_t best_cut(std::size_t begin, std::size_t end) const {
    if (end - begin < 2) return begin;
    const auto whole = count(begin, end);
    if (whole.present() < 2) return begin;
    Counts left(classes_, x_log_x_);
    Counts right = whole;
    double least = whole.entropy() * 2 + 1;
    std::size_t best = begin;
    for (std::size_t r = begin; r + 1 < end; ++r) {
      add_run(left, r, 1);
      add_run(right, r, -1);
      const double entropy = left.entropy() + right.entropy();
      if (entropy < least) {
        least = entropy;
        best = r + 1;
      }
    }
    return pays(whole, count(begin, best), count(best, end)) ? best : begin;
  }

  const Runs& runs_;
  std::size_t classes_;
  const XLogX& x_log_x_;
};

}  // namespace

XLogX::XLogX(std::int64_t most) {
  constexpr std::int64_t largest = 1 << 20;
  table_.resize(static_cast<std::size_t>(std::min(most, largest)) + 1);
  for (std::size_t x = 1; x < table_.size(); ++x)
    table_[x] = static_cast<double>(x) * std::log2(static_cast<double>(x));
}

double XLogX::operator()(std::int64_t x) const {
  if (x < static_cast<std::int64_t>(table_.size())) return table_[static_cast<std::size_t>(x)];
  return static_cast<double>(x) * std::log2(static_cast<double>(x));
}

template <class T>
std::vector<double> mdlp_cuts(const Column<T>& column, std::span<const std::int32_t> classes,
                              std::span<const std::int64_t> class_sizes, const XLogX& x_log_x) {
  const auto runs = runs_of(column, classes, class_sizes);
  return Cutter(runs, class_sizes.size(), x_log_x).cuts();
}

template std::vector<double> mdlp_cuts(const Column<float>&, std::span<const std::int32_t>,
                                       std::span<const std::int64_t>, const XLogX&);
template std::vector<double> mdlp_cuts(const Column<double>&, std::span<const std::int32_t>,
                                       std::span<const std::int64_t>, const XLogX&);

}  // namespace sheaf::bins

// Rank correlation with the label for all features and all shuffles of the label in one pass over the dataset.
//
// Ranks are shifted so that a zero has rank 0: only non-zeros are visited, and one visit serves every shuffle. The
// largest value over all features under shuffled labels bounds the values due to chance (Westfall and Young 1993,
// single step).
#include <sheaf/solvers/profile.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "data/labels.hpp"

namespace sheaf {
namespace {

constexpr std::uint64_t own_stream = 0x5a7e11a7e5;  // so that shuffles differ from those of other users of the seed

/// The labels and their shuffles, copy-minor: row i's labels stand at [i * copies].
struct LabelCopies {
  std::int64_t rows = 0;
  int copies = 0;
  std::int32_t classes = 0;          // 0: numbers
  std::vector<double> numbers;       // centred, scaled to sum of squares = rows; two classes too
  std::vector<std::int32_t> states;  // three classes or more
  std::vector<double> counts;        // rows of each class
};

struct Entry {
  double value;
  std::int32_t row;
};

/// Ranks from 1, ties sharing their mean.
std::vector<double> mean_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double rank = static_cast<double>(first + 1 + end) / 2;
    for (std::size_t k = first; k < end; ++k) ranks[order[k]] = rank;
  }
  return ranks;
}

/// False when all are equal.
bool standardize(std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (auto& value : values) {
    value -= mean;
    squares += value * value;
  }
  if (!(squares > 0)) return false;
  for (auto& value : values) value *= std::sqrt(n / squares);
  return true;
}

template <class T>
std::vector<T> shuffled_copies(std::vector<T> values, int copies, std::uint64_t seed) {
  const auto rows = values.size();
  const auto width = static_cast<std::size_t>(copies);
  std::vector<T> result(rows * width);
  for (std::size_t c = 0; c < width; ++c) {
    if (c > 0) Random(seed, c).shuffle(std::span<T>(values));
    for (std::size_t i = 0; i < rows; ++i) result[i * width + c] = values[i];
  }
  return result;
}

LabelCopies number_labels(std::vector<double> values, int copies, std::uint64_t seed) {
  LabelCopies labels{static_cast<std::int64_t>(values.size()), copies, 0, {}, {}, {}};
  if (standardize(values)) labels.numbers = shuffled_copies(std::move(values), copies, seed);
  return labels;
}

LabelCopies copy_labels(const Target& target, int copies, std::uint64_t seed) {
  if (!target.looks_like_classes()) return number_labels(mean_ranks(target.values), copies, seed);
  const auto classes = static_cast<std::int32_t>(target.class_names.size());
  if (classes <= 2) {
    const std::int32_t positive = positive_of(target);
    std::vector<double> values;
    for (const auto state : target.classes) values.push_back(state == positive ? 1 : 0);
    return number_labels(std::move(values), copies, seed);
  }
  LabelCopies labels{target.rows(), copies, classes, {}, {}, std::vector<double>(static_cast<std::size_t>(classes))};
  for (const auto state : target.classes) labels.counts[static_cast<std::size_t>(state)] += 1;
  labels.states = shuffled_copies(target.classes, copies, seed);
  return labels;
}

/// Non-zeros of columns range.begin .. range.end, column by column, rows ascending.
template <class T>
std::vector<std::vector<Entry>> gather(const Matrix<T>& x, Range range) {
  std::vector<std::vector<Entry>> columns(static_cast<std::size_t>(range.end - range.begin));
  const auto take = [&](std::int64_t row, std::int64_t column, T value) {
    if (value != T(0))
      columns[static_cast<std::size_t>(column - range.begin)].push_back(
          {static_cast<double>(value), static_cast<std::int32_t>(row)});
  };
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x)) {
    for (std::int64_t i = 0; i < dense->rows; ++i)
      for (std::int64_t j = range.begin; j < range.end; ++j) take(i, j, dense->values[i * dense->columns + j]);
    return columns;
  }
  const auto& sparse = std::get<SparseMatrix<T>>(x);
  const std::int32_t* indices = sparse.indices.data();
  for (std::int64_t i = 0; i < sparse.rows; ++i) {
    const auto* end = indices + sparse.offsets[i + 1];
    const auto* at = std::lower_bound(indices + sparse.offsets[i], end, range.begin);
    for (; at != end && *at < range.end; ++at) take(i, *at, sparse.values[at - indices]);
  }
  return columns;
}

/// Turns values into ranks less the rank of a zero. Returns the rank of a zero, were there one.
double rank_entries(std::vector<Entry>& entries, std::int64_t rows) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.value < b.value; });
  const auto negative = static_cast<double>(
      std::partition_point(entries.begin(), entries.end(), [](const Entry& e) { return e.value < 0; }) -
      entries.begin());
  const double zeros = static_cast<double>(rows) - static_cast<double>(entries.size());
  const double zero_rank = negative + (zeros + 1) / 2;
  for (std::size_t first = 0, end = 0; first < entries.size(); first = end) {
    const double value = entries[first].value;
    while (end < entries.size() && entries[end].value == value) ++end;
    const double rank = static_cast<double>(first + 1 + end) / 2 + (value > 0 ? zeros : 0);
    for (std::size_t k = first; k < end; ++k) entries[k].value = rank - zero_rank;
  }
  return zero_rank;
}

/// Mean and standard deviation of the shifted ranks over all rows.
struct Moments {
  double mean = 0;
  double deviation = 0;
};
Moments moments(const std::vector<Entry>& ranks, std::int64_t rows) {
  double sum = 0;
  double squares = 0;
  for (const auto& entry : ranks) {
    sum += entry.value;
    squares += entry.value * entry.value;
  }
  const auto n = static_cast<double>(rows);
  return {sum / n, std::sqrt(std::max(squares / n - sum / n * (sum / n), 0.0))};
}

/// One correlation for each copy of the labels.
void correlate_numbers(const LabelCopies& labels, const std::vector<Entry>& ranks, double deviation,
                       std::span<double> out) {
  std::fill(out.begin(), out.end(), 0);
  for (const auto& entry : ranks) {
    const double* row = labels.numbers.data() + static_cast<std::int64_t>(entry.row) * labels.copies;
    for (std::size_t c = 0; c < out.size(); ++c) out[c] += entry.value * row[c];
  }
  for (auto& value : out) value = std::clamp(value / (static_cast<double>(labels.rows) * deviation), -1.0, 1.0);
}

void correlate_classes(const LabelCopies& labels, const std::vector<Entry>& ranks, const Moments& moment,
                       std::span<double> out) {
  const auto classes = static_cast<std::size_t>(labels.classes);
  std::vector<double> sums(out.size() * classes);
  for (const auto& entry : ranks) {
    const std::int32_t* row = labels.states.data() + static_cast<std::int64_t>(entry.row) * labels.copies;
    for (std::size_t c = 0; c < out.size(); ++c) sums[c * classes + static_cast<std::size_t>(row[c])] += entry.value;
  }
  for (std::size_t c = 0; c < out.size(); ++c) {
    double between = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      if (labels.counts[k] == 0) continue;  // named in the file's header, and on no row
      const double shift = sums[c * classes + k] / labels.counts[k] - moment.mean;
      between += labels.counts[k] * shift * shift;
    }
    out[c] = std::min(std::sqrt(between / static_cast<double>(labels.rows)) / moment.deviation, 1.0);
  }
}

/// The part of the result that one range of features adds besides its own correlations.
struct Part {
  double chance = 0;
  std::vector<double> histogram, chance_histogram;
};

// Columns that a thread holds as a copy: so many values, so that the dataset is not there twice, but a cache line of
// them.
constexpr std::int64_t values_gathered = std::int64_t{1} << 18;
constexpr std::int64_t least_gathered = 8;

class Associator {
 public:
  Associator(const LabelCopies& labels, Associations& result, int bins)
      : labels_(labels), result_(result), bins_(bins) {
    if (result.auc.empty()) return;
    const double high = *std::max_element(labels.numbers.begin(), labels.numbers.end());
    spread_ = high + 1 / high;  // standardized labels are +a and -1/a
  }

  template <class T>
  Part operator()(const Matrix<T>& x, Range range) const {
    const auto bins = static_cast<std::size_t>(bins_);
    Part part{0, std::vector<double>(bins), std::vector<double>(bins)};
    std::vector<double> found(static_cast<std::size_t>(labels_.copies));
    const auto width = std::max(least_gathered, values_gathered / std::max<std::int64_t>(labels_.rows, 1));
    for (Range some{range.begin, range.begin}; some.end < range.end; some.begin = some.end) {
      some.end = std::min(some.begin + width, range.end);
      auto columns = gather(x, some);
      for (std::int64_t j = some.begin; j < some.end; ++j)
        add_feature(columns[static_cast<std::size_t>(j - some.begin)], static_cast<std::size_t>(j), found, part);
    }
    return part;
  }

 private:
  void add_feature(std::vector<Entry>& entries, std::size_t j, std::vector<double>& found, Part& part) const {
    rank_entries(entries, labels_.rows);
    const auto moment = moments(entries, labels_.rows);
    std::fill(found.begin(), found.end(), 0);
    if (moment.deviation > 0) {
      if (labels_.classes == 0)
        correlate_numbers(labels_, entries, moment.deviation, found);
      else
        correlate_classes(labels_, entries, moment, found);
    }
    result_.correlation[j] = found[0];
    if (!result_.auc.empty()) result_.auc[j] = auc(found[0], moment.deviation);
    part.histogram[bin(found[0])] += 1;
    for (std::size_t c = 1; c < found.size(); ++c) {
      part.chance = std::max(part.chance, std::abs(found[c]));
      part.chance_histogram[bin(found[c])] += 1.0 / static_cast<double>(found.size() - 1);
    }
  }

  /// The mean ranks of the two classes differ by correlation * deviation * spread, which is n (auc - 1/2).
  double auc(double correlation, double deviation) const {
    return 0.5 + correlation * deviation * spread_ / static_cast<double>(labels_.rows);
  }

  std::size_t bin(double value) const {
    return std::min(static_cast<std::size_t>(std::abs(value) * bins_), static_cast<std::size_t>(bins_ - 1));
  }

  const LabelCopies& labels_;
  Associations& result_;
  int bins_;
  double spread_ = 0;  // distance of the two classes' labels
};

}  // namespace

template <class T>
Associations associate(const Context& context, const Dataset<T>& dataset, const AssociationOptions& options) {
  if (options.shuffles < 0 || options.bins < 1) fail_usage("association needs 0 shuffles or more and 1 bin or more");
  Associations result;
  const auto& target = dataset.target;
  if (target.empty() || dataset.rows() == 0) return result;
  const LabelCopies labels = copy_labels(target, options.shuffles + 1, context.seed() ^ own_stream);
  if (labels.classes == 0 && labels.numbers.empty()) return result;
  const bool two = target.looks_like_classes() && labels.classes == 0;
  result.positive_class = two ? positive_of(target) : -1;
  result.shuffles = options.shuffles;
  result.correlation.resize(static_cast<std::size_t>(dataset.features()));
  if (two) result.auc.resize(result.correlation.size());
  result.histogram.resize(static_cast<std::size_t>(options.bins));
  result.chance_histogram.resize(static_cast<std::size_t>(options.bins));

  constexpr std::int64_t together = 512;  // features
  const std::int64_t parts = (dataset.features() + together - 1) / together;
  std::vector<Part> found(static_cast<std::size_t>(parts));
  const Associator associator(labels, result, options.bins);
  Stage stage(context.progress(), "comparing features with the label", dataset.features());
  parallel_for(context, parts, [&](std::int64_t p) {
    const Range range = part_of(dataset.features(), parts, p);
    found[static_cast<std::size_t>(p)] = associator(dataset.x, range);
    stage.advance(range.end - range.begin);
  });
  for (const auto& part : found) {
    result.chance = std::max(result.chance, part.chance);
    for (std::size_t b = 0; b < part.histogram.size(); ++b) {
      result.histogram[b] += part.histogram[b];
      result.chance_histogram[b] += part.chance_histogram[b];
    }
  }
  return result;
}

template Associations associate(const Context&, const Dataset<float>&, const AssociationOptions&);
template Associations associate(const Context&, const Dataset<double>&, const AssociationOptions&);

}  // namespace sheaf

#include "neighbors/model/weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "data/row_subset.hpp"

namespace sheaf::neighbors {
namespace {

template <class T>
DenseMatrix<double> dense_rows(const Context& context, const Matrix<T>& x, std::span<const std::int32_t> rows) {
  auto some = some_rows<double>(x, rows);
  if (auto* dense = std::get_if<DenseMatrix<double>>(&some)) return std::move(*dense);
  return to_dense(std::get<SparseMatrix<double>>(some), context.threads());
}

/// The training rows and their classes, counted from 0.
struct Training {
  DenseMatrix<double> x;
  std::vector<std::int32_t> classes;
  std::size_t class_count = 0;

  double at(std::int64_t i, std::int64_t j) const { return x.values[i * x.columns + j]; }
};

template <class T>
Training training_of(const Context& context, const Dataset<T>& dataset, const Labels& labels,
                     std::span<const std::int32_t> rows) {
  std::vector<std::int32_t> all(rows.begin(), rows.end());
  if (rows.empty()) {
    all.resize(static_cast<std::size_t>(dataset.rows()));
    std::iota(all.begin(), all.end(), 0);
  }
  Training training;
  training.x = dense_rows(context, dataset.x, all);
  training.class_count = labels.class_names.size();
  for (const auto row : all) training.classes.push_back(labels.classes[static_cast<std::size_t>(row)]);
  return training;
}

/// Calls work(j) for every feature.
template <class Work>
std::vector<double> for_features(const Context& context, const Training& training, const Work& work) {
  std::vector<double> result(static_cast<std::size_t>(training.x.columns));
  parallel_ranges(context, training.x.columns, 1, [&](Range range) {
    for (auto j = range.begin; j < range.end; ++j) result[static_cast<std::size_t>(j)] = work(j);
  });
  return result;
}

/// Between-class over within-class sum of squares (Yang and Kecman 2008). A feature that is constant within all classes
/// has the largest of the finite ratios; one that is constant has 0.
std::vector<double> class_ratios(const Context& context, const Training& training) {
  auto ratios = for_features(context, training, [&](std::int64_t j) {
    std::vector<double> sums(training.class_count, 0.0);
    std::vector<double> counts(training.class_count, 0.0);
    double sum = 0;
    for (std::int64_t i = 0; i < training.x.rows; ++i) {
      const auto c = static_cast<std::size_t>(training.classes[static_cast<std::size_t>(i)]);
      sums[c] += training.at(i, j);
      counts[c] += 1;
      sum += training.at(i, j);
    }
    const double mean = sum / static_cast<double>(training.x.rows);
    double between = 0;
    double within = 0;
    for (std::size_t c = 0; c < sums.size(); ++c)
      if (counts[c] > 0) between += counts[c] * (sums[c] / counts[c] - mean) * (sums[c] / counts[c] - mean);
    for (std::int64_t i = 0; i < training.x.rows; ++i) {
      const auto c = static_cast<std::size_t>(training.classes[static_cast<std::size_t>(i)]);
      const double apart = training.at(i, j) - sums[c] / counts[c];
      within += apart * apart;
    }
    return within > 0 ? between / within : between > 0 ? std::numeric_limits<double>::infinity() : 0;
  });
  double largest = 0;
  for (const double ratio : ratios)
    if (std::isfinite(ratio)) largest = std::max(largest, ratio);
  for (double& ratio : ratios)
    if (!std::isfinite(ratio)) ratio = largest;
  return ratios;
}

/// exp(T r), by way of differences that do not overflow.
std::vector<double> softened(std::vector<double> ratios, double temperature) {
  const double largest = ratios.empty() ? 0 : *std::max_element(ratios.begin(), ratios.end());
  for (double& ratio : ratios) ratio = std::exp(temperature * (ratio - largest));
  return ratios;
}

constexpr std::int64_t intervals = 10;

/// The interval of each row: ten of equal counts, but rows of the same value stay together.
std::vector<std::int32_t> quantiles(const Training& training, std::int64_t j) {
  const auto rows = training.x.rows;
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) {
    const double x = training.at(a, j);
    const double y = training.at(b, j);
    return x < y || (x == y && a < b);
  });
  std::vector<std::int32_t> bins(order.size());
  for (std::int64_t n = 0; n < rows; ++n) {
    const auto at = order[static_cast<std::size_t>(n)];
    const bool same = n > 0 && training.at(order[static_cast<std::size_t>(n - 1)], j) == training.at(at, j);
    bins[static_cast<std::size_t>(at)] = same ? bins[static_cast<std::size_t>(order[static_cast<std::size_t>(n - 1)])]
                                              : static_cast<std::int32_t>(n * intervals / rows);
  }
  return bins;
}

std::vector<double> informations(const Context& context, const Training& training) {
  const auto classes = training.class_count;
  return for_features(context, training, [&](std::int64_t j) {
    const auto bins = quantiles(training, j);
    std::vector<double> joint(static_cast<std::size_t>(intervals) * classes, 0.0);
    std::vector<double> of_bin(static_cast<std::size_t>(intervals), 0.0);
    std::vector<double> of_class(classes, 0.0);
    const double share = 1 / static_cast<double>(training.x.rows);
    for (std::size_t i = 0; i < bins.size(); ++i) {
      const auto b = static_cast<std::size_t>(bins[i]);
      const auto c = static_cast<std::size_t>(training.classes[i]);
      joint[b * classes + c] += share;
      of_bin[b] += share;
      of_class[c] += share;
    }
    double information = 0;
    for (std::size_t b = 0; b < of_bin.size(); ++b)
      for (std::size_t c = 0; c < classes; ++c)
        if (const double p = joint[b * classes + c]; p > 0) information += p * std::log(p / (of_bin[b] * of_class[c]));
    return std::max(information, 0.0);
  });
}

constexpr std::int64_t relief_neighbors = 10;

/// ReliefF (Kononenko 1994; Robnik-Sikonja and Kononenko 2003): features differ more from the nearest rows of other
/// classes than from those of the own class. Distances are Manhattan's over features scaled to [0, 1].
std::vector<double> relief_weights(const Context& context, const Training& training) {
  Dataset<double> scaled;
  const auto columns = training.x.columns;
  const auto rows = training.x.rows;
  std::vector<double> low(static_cast<std::size_t>(columns), std::numeric_limits<double>::infinity());
  std::vector<double> factor(low.size(), -std::numeric_limits<double>::infinity());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      low[static_cast<std::size_t>(j)] = std::min(low[static_cast<std::size_t>(j)], training.at(i, j));
      factor[static_cast<std::size_t>(j)] = std::max(factor[static_cast<std::size_t>(j)], training.at(i, j));
    }
  for (std::size_t j = 0; j < low.size(); ++j) factor[j] = factor[j] > low[j] ? 1 / (factor[j] - low[j]) : 0;
  DenseMatrix<double> x{rows, columns, Array<double>(rows * columns)};
  for (std::int64_t k = 0; k < x.values.size(); ++k) {
    const auto j = static_cast<std::size_t>(k % columns);
    x.values[k] = (training.x.values[k] - low[j]) * factor[j];
  }
  scaled.x = std::move(x);
  std::vector<std::vector<std::int32_t>> members(training.class_count);
  for (std::size_t i = 0; i < training.classes.size(); ++i)
    members[static_cast<std::size_t>(training.classes[i])].push_back(static_cast<std::int32_t>(i));
  const auto& values = std::get<DenseMatrix<double>>(scaled.x).values;
  std::vector<double> weights(static_cast<std::size_t>(columns), 0.0);
  for (std::size_t c = 0; c < members.size(); ++c) {
    Dataset<double> of_class;
    of_class.x = dense_rows(context, scaled.x, members[c]);
    NeighborOptions options;
    options.distance.metric = DistanceType::manhattan;
    // One more: a row of the class finds itself first, or a row that is the same.
    options.k = std::min<std::int64_t>(relief_neighbors + 1, std::ssize(members[c]));
    if (options.k == 0) continue;
    const auto lists = find_neighbors(context, of_class, options, &scaled);
    std::vector<double> differences(static_cast<std::size_t>(columns));
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto own = static_cast<std::size_t>(training.classes[static_cast<std::size_t>(i)]);
      std::fill(differences.begin(), differences.end(), 0.0);
      std::int64_t used = 0;
      bool skipped = own != c;
      for (std::int64_t n = 0; n < options.k && used < relief_neighbors; ++n) {
        const auto other =
            members[c][static_cast<std::size_t>(lists.indices[static_cast<std::size_t>(i * options.k + n)])];
        if (!skipped && other == i) {
          skipped = true;
          continue;
        }
        ++used;
        for (std::int64_t j = 0; j < columns; ++j)
          differences[static_cast<std::size_t>(j)] += std::abs(values[i * columns + j] - values[other * columns + j]);
      }
      if (used == 0) continue;
      const double prior =
          static_cast<double>(members[c].size()) / static_cast<double>(rows - std::ssize(members[own]));
      const double sign = own == c ? -1 : prior;
      for (std::size_t j = 0; j < weights.size(); ++j) weights[j] += sign * differences[j] / static_cast<double>(used);
    }
  }
  for (double& weight : weights) weight = std::max(weight, 0.0);
  return weights;
}

/// 1 for each feature that takes more than one value.
std::vector<double> varying_features(const Context& context, const Training& training) {
  return for_features(context, training, [&](std::int64_t j) {
    for (std::int64_t i = 1; i < training.x.rows; ++i)
      if (training.at(i, j) != training.at(0, j)) return 1.0;
    return 0.0;
  });
}

/// Weights with mean 1 over the features that vary. Constant features get weight 0: they must not change the scale of
/// the distances.
std::vector<double> of_mean_one(std::vector<double> weights, const std::vector<double>& varying,
                                FeatureWeighting weighting) {
  double sum = 0;
  double count = 0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    weights[j] *= varying[j];
    sum += weights[j];
    count += varying[j];
  }
  if (!(sum > 0))
    fail("{} gives no feature a weight above 0: none of them says anything about the classes", to_string(weighting));
  for (double& weight : weights) weight *= count / sum;
  return weights;
}

}  // namespace

template <class T>
std::vector<double> learn_weights(const Context& context, const Dataset<T>& dataset, const Labels& labels,
                                  std::span<const std::int32_t> rows, const KnnOptions& options) {
  if (options.weighting == FeatureWeighting::given && options.distance.weights.empty())
    fail_usage("weights of features are to be those given, but none are; name their file (feature-weights)");
  if (options.weighting == FeatureWeighting::none || options.weighting == FeatureWeighting::given)
    return options.distance.weights;
  if (labels.regression())
    fail_usage("{} weighs features by how they tell classes apart; the labels are numbers",
               to_string(options.weighting));
  const auto training = training_of(context, dataset, labels, rows);
  std::vector<double> weights;
  if (options.weighting == FeatureWeighting::class_ratio)
    weights = softened(class_ratios(context, training), options.temperature);
  else if (options.weighting == FeatureWeighting::mutual_information)
    weights = informations(context, training);
  else
    weights = relief_weights(context, training);
  return of_mean_one(std::move(weights), varying_features(context, training), options.weighting);
}

template std::vector<double> learn_weights(const Context&, const Dataset<float>&, const Labels&,
                                           std::span<const std::int32_t>, const KnnOptions&);
template std::vector<double> learn_weights(const Context&, const Dataset<double>&, const Labels&,
                                           std::span<const std::int32_t>, const KnnOptions&);

}  // namespace sheaf::neighbors

// The dense kinds: classification, regression, genes.
#include <cmath>
#include <set>

#include "core/fail.hpp"
#include "data/generate/kinds.hpp"

namespace sheaf::generating {
namespace {

/// A cloud of points x = corner + A z, z standard normal. A is row-major, size x size.
struct Cluster {
  std::vector<double> corner;
  std::vector<double> mix;
};

/// Fewer if the cube has too few corners for two in each class.
std::int32_t clusters_per_class(const Plan& plan) {
  const double corners = std::exp2(std::min<double>(static_cast<double>(plan.informative), 60));
  if (plan.classes > corners)
    fail_usage("{} informative features have {:.0f} corners, too few for {} classes; ask for more informative features",
               plan.informative, corners, plan.classes);
  return 2.0 * plan.classes <= corners ? 2 : 1;
}

std::vector<double> uniform_matrix(Random& random, std::int64_t size) {
  std::vector<double> matrix(static_cast<std::size_t>(size));
  for (auto& value : matrix) value = random.uniform(-1, 1);
  return matrix;
}

/// Cluster k belongs to class k % classes; no two share a corner.
std::vector<Cluster> make_clusters(const Plan& plan, Random& random) {
  std::vector<Cluster> clusters;
  std::set<std::vector<bool>> taken;
  const auto count = static_cast<std::size_t>(plan.classes) * static_cast<std::size_t>(clusters_per_class(plan));
  std::vector<bool> corner(static_cast<std::size_t>(plan.informative));
  while (clusters.size() < count) {
    for (auto&& bit : corner) bit = random.below(2) != 0;
    if (!taken.insert(corner).second) continue;
    auto& cluster = clusters.emplace_back();
    for (const bool bit : corner) cluster.corner.push_back(bit ? plan.effect : -plan.effect);
    cluster.mix = uniform_matrix(random, plan.informative * plan.informative);
  }
  return clusters;
}

/// The difference of the class means in one informative feature.
double mean_difference(const Plan& plan, const std::vector<Cluster>& clusters, std::size_t feature) {
  const auto classes = static_cast<std::size_t>(plan.classes);
  std::vector<double> means(classes);
  for (std::size_t k = 0; k < clusters.size(); ++k)
    means[k % classes] +=
        clusters[k].corner[feature] * static_cast<double>(classes) / static_cast<double>(clusters.size());
  if (classes == 2) return means[1] - means[0];
  return *std::max_element(means.begin(), means.end()) - *std::min_element(means.begin(), means.end());
}

/// out[r] = sum over c of matrix[r][c] * in[c].
void multiply(const std::vector<double>& matrix, const double* in, std::size_t columns, double* out, std::size_t rows) {
  for (std::size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < columns; ++c) sum += matrix[r * columns + c] * in[c];
    out[r] = sum;
  }
}

/// One row in the order informative, redundant, noise.
void draw_point(Random& random, const Cluster& cluster, const std::vector<double>& blend, std::size_t informative,
                std::size_t redundant, std::vector<double>& point) {
  for (auto& value : point) value = random.normal();
  std::vector<double> x(informative);
  multiply(cluster.mix, point.data(), informative, x.data(), informative);
  for (std::size_t j = 0; j < informative; ++j) point[j] = x[j] + cluster.corner[j];
  multiply(blend, point.data(), informative, point.data() + informative, redundant);
}

/// Sorts features and carries their weights along.
void sort_truth(std::vector<std::int64_t>& features, std::vector<double>& weights) {
  std::vector<std::pair<std::int64_t, double>> both;
  for (std::size_t m = 0; m < features.size(); ++m) both.emplace_back(features[m], weights[m]);
  std::sort(both.begin(), both.end());
  for (std::size_t m = 0; m < features.size(); ++m) std::tie(features[m], weights[m]) = both[m];
}

/// One gene: its usual log2 intensity, how much it varies, and the share of that which its block has in common.
struct Gene {
  double level = 0;
  double deviation = 0;
  double shared = 0;
};

std::vector<Gene> make_genes_table(const Plan& plan) {
  auto random = stream(plan, Purpose::features);
  std::vector<Gene> genes(static_cast<std::size_t>(plan.features));
  for (auto& gene : genes) {
    gene.level = std::clamp(7 + 2 * random.normal(), 3.0, 14.0);
    gene.deviation = 0.4 * std::exp(0.4 * random.normal());
    gene.shared = random.uniform(0.3, 0.9);
  }
  return genes;
}

}  // namespace

// After Guyon's design of the NIPS 2003 challenge data, as known from other generators: classes are clusters at corners
// of a cube of side 2 * effect, each stretched by a random matrix of its own.
template <class T>
Generated<T> make_classification(const Plan& plan) {
  auto random = stream(plan, Purpose::clusters);
  const auto clusters = make_clusters(plan, random);
  const auto blend = uniform_matrix(random, plan.informative * plan.redundant);
  const auto place = permutation(stream(plan, Purpose::choice), plan.features);
  const auto informative = static_cast<std::size_t>(plan.informative);

  Generated<T> result;
  for (std::size_t j = 0; j < informative; ++j) {
    result.informative.push_back(place[j]);
    result.weights.push_back(mean_difference(plan, clusters, j));
  }
  sort_truth(result.informative, result.weights);
  auto classes = balanced_classes(plan);
  const std::size_t per_class = clusters.size() / static_cast<std::size_t>(plan.classes);
  result.dataset.x = dense_rows<T>(plan, [&](std::int64_t i, T* row) {
    auto of_row = stream(plan, Purpose::rows, i);
    const auto c = static_cast<std::size_t>(classes[static_cast<std::size_t>(i)]);
    const auto& cluster = clusters[c + of_row.below(per_class) * static_cast<std::size_t>(plan.classes)];
    std::vector<double> point(static_cast<std::size_t>(plan.features));
    draw_point(of_row, cluster, blend, informative, static_cast<std::size_t>(plan.redundant), point);
    for (std::size_t j = 0; j < point.size(); ++j) row[place[j]] = static_cast<T>(point[j]);
  });
  const auto names = spell_classes(plan, "0", "1", "");
  result.dataset.target = label(plan, std::move(classes), names);
  result.dataset.feature_names = numbered_names("x", plan.features);
  return result;
}

template <class T>
Generated<T> make_regression(const Plan& plan) {
  Generated<T> result;
  result.informative = choose(stream(plan, Purpose::choice), plan.features, plan.informative);
  auto random = stream(plan, Purpose::features);
  for (std::int64_t m = 0; m < plan.informative; ++m)
    result.weights.push_back(plan.effect * random.uniform(0.5, 1.5) * (random.below(2) != 0 ? 1 : -1));

  auto& values = result.dataset.target.values;
  values.resize(static_cast<std::size_t>(plan.rows));
  result.dataset.x = dense_rows<T>(plan, [&](std::int64_t i, T* row) {
    auto of_row = stream(plan, Purpose::rows, i);
    double sum = plan.noise * of_row.normal();
    std::size_t m = 0;
    for (std::int64_t j = 0; j < plan.features; ++j) {
      const double value = of_row.normal();
      if (m < result.weights.size() && result.informative[m] == j) sum += result.weights[m++] * value;
      row[j] = static_cast<T>(value);
    }
    values[static_cast<std::size_t>(i)] = sum;
  });
  result.dataset.target.name = "target";
  result.dataset.feature_names = numbered_names("x", plan.features);
  return result;
}

// Consecutive genes of one block share a factor; a planted gene's mean moves with the class, in units of its deviation.
template <class T>
Generated<T> make_genes(const Plan& plan) {
  constexpr std::int64_t block = 25;
  constexpr double deviations = 1.6;
  const auto genes = make_genes_table(plan);
  const auto markers = make_markers(plan, deviations * plan.effect);
  Generated<T> result;
  result.informative = choose(stream(plan, Purpose::choice), plan.features, plan.informative);
  result.weights = marker_weights(plan, markers);

  auto classes = balanced_classes(plan);
  result.dataset.x = dense_rows<T>(plan, [&](std::int64_t i, T* row) {
    auto of_row = stream(plan, Purpose::rows, i);
    double factor = 0;
    std::size_t m = 0;
    for (std::int64_t j = 0; j < plan.features; ++j) {
      const auto& gene = genes[static_cast<std::size_t>(j)];
      if (j % block == 0) factor = of_row.normal();
      double z = gene.shared * factor + std::sqrt(1 - gene.shared * gene.shared) * of_row.normal();
      if (m < markers.size() && result.informative[m] == j)
        z += markers[m++].shift(classes[static_cast<std::size_t>(i)]);
      row[j] = static_cast<T>(gene.level + gene.deviation * z);
    }
  });
  const auto names = spell_classes(plan, "normal", "tumour", "type");
  result.dataset.target = label(plan, std::move(classes), names);
  result.dataset.feature_names = numbered_names("Gene", plan.features);
  return result;
}

template Generated<float> make_classification(const Plan&);
template Generated<double> make_classification(const Plan&);
template Generated<float> make_regression(const Plan&);
template Generated<double> make_regression(const Plan&);
template Generated<float> make_genes(const Plan&);
template Generated<double> make_genes(const Plan&);

}  // namespace sheaf::generating

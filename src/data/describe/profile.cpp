#include <sheaf/solvers/profile.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <sheaf/solvers/array.hpp>

#include "data/describe/stored_summary.hpp"
#include "data/matrices/value_at.hpp"

namespace sheaf {
namespace {

/// The `count` features with the largest score above 0, best first.
template <class Score>
std::vector<Highlight> best_features(std::int64_t features, int count, const Score& score) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(features));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto middle = order.begin() + std::min<std::int64_t>(count, features);
  std::partial_sort(order.begin(), middle, order.end(),
                    [&](auto a, auto b) { return score(a) != score(b) ? score(a) > score(b) : a < b; });
  std::vector<Highlight> best;
  for (auto at = order.begin(); at != middle && score(*at) > 0; ++at) best.push_back({*at, {}, {}});
  return best;
}

template <class T>
void split_by_class(const Dataset<T>& dataset, const Summary& summary, std::vector<Highlight>& highlights) {
  const auto& counts = summary.class_counts;
  for (auto& highlight : highlights) {
    highlight.class_means.assign(counts.size(), 0);
    highlight.class_prevalence.assign(counts.size(), 0);
    const auto& feature = summary.per_feature[static_cast<std::size_t>(highlight.feature)];
    const double largest = std::max(std::abs(feature.minimum), std::abs(feature.maximum));
    // Sums of huge values are beyond the largest number; a power of 2 changes no digit of them.
    const int power = std::isfinite(largest * static_cast<double>(dataset.rows())) ? 0 : 64;
    for (std::int64_t i = 0; i < dataset.rows(); ++i) {
      const double value = value_at(dataset.x, i, highlight.feature);
      const auto state = static_cast<std::size_t>(dataset.target.classes[static_cast<std::size_t>(i)]);
      highlight.class_means[state] += std::ldexp(value, -power);
      highlight.class_prevalence[state] += value != 0 ? 1 : 0;
    }
    for (std::size_t c = 0; c < counts.size(); ++c) {
      const auto rows = static_cast<double>(std::max<std::int64_t>(counts[c], 1));
      highlight.class_means[c] = std::ldexp(highlight.class_means[c] / rows, power);
      highlight.class_prevalence[c] /= rows;
    }
  }
}

std::vector<double> histogram(const std::vector<double>& values, double low, double high) {
  constexpr std::size_t bins = 24;
  std::vector<double> counts(bins);
  for (const double value : values) {
    const double place = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) * bins : 0;
    counts[std::min(static_cast<std::size_t>(place), bins - 1)] += 1;
  }
  return counts;
}

template <class T>
std::int64_t nonzeros_of_row(const Matrix<T>& x, std::int64_t row) {
  const auto count = [](const T* begin, const T* end) { return end - begin - std::count(begin, end, T(0)); };
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x)) {
    const T* begin = dense->values.data() + row * dense->columns;
    return count(begin, begin + dense->columns);
  }
  const auto& sparse = std::get<SparseMatrix<T>>(x);
  return count(sparse.values.data() + sparse.offsets[row], sparse.values.data() + sparse.offsets[row + 1]);
}

/// A finer histogram than the summary's: about 24 steps of equal width.
template <class T>
void describe_rows(const Dataset<T>& dataset, Profile& result) {
  const auto shortest = result.summary.shortest_row;
  const auto span = result.summary.longest_row - shortest + 1;
  result.row_step = (span + 23) / 24;
  result.row_nonzeros.resize(static_cast<std::size_t>((span + result.row_step - 1) / result.row_step));
  for (std::int64_t i = 0; i < dataset.rows(); ++i)
    result.row_nonzeros[static_cast<std::size_t>((nonzeros_of_row(dataset.x, i) - shortest) / result.row_step)] += 1;
}

/// The most models that fit in memory with the dataset; blocks are padded, so the last few may not be worth a whole
/// width.
std::int64_t models_that_fit(std::int64_t room, std::int64_t per_task) {
  if (room < per_task) return 0;
  const std::int64_t most = room / std::max<std::int64_t>(per_task, 1);
  return most < 8 ? most : most / 8 * 8;
}

std::vector<DeviceFit> device_fits(const Context& context, const MemoryNeed& memory) {
  std::vector<DeviceFit> fits;
  for (const auto& info : list_devices()) {
    if (!info.usable) continue;  // `sheaf devices` says why
    DeviceFit fit{info, info.device.is_cpu() ? memory.resident_cpu : memory.resident_gpu, 0, 0};
    if (info.device == context.device())
      fit.budget = context.memory();
    else
      fit.budget = context.with({.device = info.device, .memory = 0}).memory();
    fit.models = models_that_fit(fit.budget - fit.need, memory.per_task);
    fits.push_back(std::move(fit));
  }
  return fits;
}

template <class T>
void describe_target(const Dataset<T>& dataset, Profile& result) {
  const auto& target = dataset.target;
  result.labelled = !target.empty();
  result.classification = result.labelled && target.looks_like_classes();
  result.target_name = target.name;
  if (result.classification)
    result.class_names = target.class_names;
  else if (result.labelled)
    result.target_histogram = histogram(target.values, result.summary.target_minimum, result.summary.target_maximum);
}

template <class T>
std::vector<Highlight> most_varying(const Dataset<T>& dataset, const Profile& profile, const ProfileOptions& options) {
  return best_features(dataset.features(), options.highlights, [&](auto j) {
    return profile.summary.per_feature[static_cast<std::size_t>(j)].standard_deviation;
  });
}

/// The facts of an existing summary that need no value to be read.
template <class T>
void describe_stored(const Dataset<T>& dataset, const StoredSummary& stored, const ProfileOptions& options,
                     Profile& result) {
  result.values_read = false;
  result.varying = most_varying(dataset, result, options);
  result.findings = stored_findings(dataset, stored);
  const auto more = findings(result);
  result.findings.insert(result.findings.end(), more.begin(), more.end());
}

}  // namespace

double Profile::prevalence(std::int64_t j) const {
  const auto nonzeros = static_cast<double>(summary.per_feature[static_cast<std::size_t>(j)].nonzeros);
  return nonzeros / static_cast<double>(std::max<std::int64_t>(summary.rows, 1));
}

template <class T>
Profile profile(const Context& context, const Dataset<T>& dataset, const ProfileOptions& options) {
  Profile result;
  result.source = dataset.source;
  result.element_bytes = static_cast<int>(sizeof(T));
  result.feature_names = dataset.feature_names;
  const auto stored = options.values ? nullptr : find_stored_summary(dataset);
  require(options.values || stored != nullptr, "a profile without values needs a stored summary");
  result.summary = stored ? with_labels(stored->matrix, dataset.target, dataset.groups) : summarize(context, dataset);
  result.memory = memory_need(result.summary, result.element_bytes);
  result.fits = device_fits(context, result.memory);
  describe_target(dataset, result);
  if (stored) {
    describe_stored(dataset, *stored, options, result);
    return result;
  }
  describe_rows(dataset, result);
  AssociationOptions association;
  if (result.summary.stored > options.shuffle_entries) association.shuffles = 0;
  result.associations = associate(context, dataset, association);

  const auto& correlation = result.associations.correlation;
  result.strongest = best_features(static_cast<std::int64_t>(correlation.size()), options.highlights,
                                   [&](auto j) { return std::abs(correlation[static_cast<std::size_t>(j)]); });
  result.varying = most_varying(dataset, result, options);
  if (result.classification) {
    split_by_class(dataset, result.summary, result.strongest);
    split_by_class(dataset, result.summary, result.varying);
  }
  result.findings = findings(result);
  return result;
}

template Profile profile(const Context&, const Dataset<float>&, const ProfileOptions&);
template Profile profile(const Context&, const Dataset<double>&, const ProfileOptions&);

}  // namespace sheaf

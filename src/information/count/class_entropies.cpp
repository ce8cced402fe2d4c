#include "information/count/class_entropies.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/parallel.hpp"
#include "information/count/columns.hpp"

namespace sheaf::information {
namespace {

std::uint32_t weight_of(const Problem& problem, std::int64_t i) {
  return problem.weights.empty() ? 1 : problem.weights[static_cast<std::size_t>(i)];
}

ClassEntropy find_class_entropy(const Problem& problem, const FixedLog& log) {
  ClassEntropy classes;
  classes.counts.assign(static_cast<std::size_t>(problem.class_count), 0);
  for (std::int64_t i = 0; i < problem.rows(); ++i)
    classes.counts[static_cast<std::size_t>(problem.classes[static_cast<std::size_t>(i)])] += weight_of(problem, i);
  for (const std::uint32_t c : classes.counts) classes.sum += log(c);
  classes.entropy = log.bits(log(log.total()) - classes.sum);
  return classes;
}

/// counts[y * states + x].
class ClassCounter {
 public:
  ClassCounter(const Problem& problem, const ClassEntropy& classes) : problem_(problem), classes_(classes) {}

  std::span<const std::uint32_t> count(std::int64_t j) {
    begin(problem_.table->states[static_cast<std::size_t>(j)]);
    if (const SparseCodes* sparse = sparse_codes(*problem_.table))
      count_sparse(*sparse, j);
    else
      with_dense_column(*problem_.table, j, [this](const auto* codes) { count_rows(codes); });
    return counts_;
  }
  std::span<const std::uint32_t> count(std::span<const std::uint32_t> codes, std::int64_t states) {
    begin(states);
    count_rows(codes.data());
    return counts_;
  }

 private:
  void begin(std::int64_t states) {
    states_ = static_cast<std::size_t>(states);
    counts_.assign(states_ * static_cast<std::size_t>(problem_.class_count), 0);
  }
  std::uint32_t& cell(std::int64_t i, std::size_t state) {
    return counts_[static_cast<std::size_t>(problem_.classes[static_cast<std::size_t>(i)]) * states_ + state];
  }
  template <class Code>
  void count_rows(const Code* codes) {
    if (problem_.weights.empty())
      for (std::int64_t i = 0; i < problem_.rows(); ++i) ++cell(i, codes[i]);
    else
      for (std::int64_t i = 0; i < problem_.rows(); ++i) cell(i, codes[i]) += weight_of(problem_, i);
  }
  void count_sparse(const SparseCodes& sparse, std::int64_t j) {
    const std::size_t common = sparse.common[j];
    for (std::size_t y = 0; y < classes_.counts.size(); ++y) counts_[y * states_ + common] = classes_.counts[y];
    for (std::int64_t e = sparse.offsets[j]; e < sparse.offsets[j + 1]; ++e) {
      const std::int32_t i = sparse.examples[e];
      const std::uint32_t weight = weight_of(problem_, i);
      cell(i, common) -= weight;
      cell(i, sparse.codes[e]) += weight;
    }
  }

  const Problem& problem_;
  const ClassEntropy& classes_;
  std::size_t states_ = 0;
  std::vector<std::uint32_t> counts_;
};

/// counts[(y * states + x) * resamples + r]: a row is read once and adds its weights of all resamples.
class ResampleCounter {
 public:
  ResampleCounter(const Problem& problem, std::span<const Entropies> entropies, std::span<const std::uint32_t> weights)
      : problem_(problem), entropies_(entropies), weights_(weights) {}

  void count(std::int64_t j) {
    states_ = static_cast<std::size_t>(problem_.table->states[static_cast<std::size_t>(j)]);
    counts_.assign(states_ * static_cast<std::size_t>(problem_.class_count) * entropies_.size(), 0);
    if (const SparseCodes* sparse = sparse_codes(*problem_.table)) return count_sparse(*sparse, j);
    with_dense_column(*problem_.table, j, [this](const auto* codes) {
      for (std::int64_t i = 0; i < problem_.rows(); ++i) add<1>(i, codes[i]);
    });
  }
  /// The counts of a resample, in the order of ClassCounter.
  std::span<const std::uint32_t> of_resample(std::size_t r) {
    own_.resize(counts_.size() / entropies_.size());
    for (std::size_t e = 0; e < own_.size(); ++e) own_[e] = counts_[e * entropies_.size() + r];
    return own_;
  }

 private:
  template <int Sign>
  void add(std::int64_t i, std::size_t state) {
    const auto y = static_cast<std::size_t>(problem_.classes[static_cast<std::size_t>(i)]);
    std::uint32_t* to = counts_.data() + (y * states_ + state) * entropies_.size();
    const std::uint32_t* from = weights_.data() + static_cast<std::size_t>(i) * entropies_.size();
    for (std::size_t r = 0; r < entropies_.size(); ++r) to[r] = Sign > 0 ? to[r] + from[r] : to[r] - from[r];
  }
  void count_sparse(const SparseCodes& sparse, std::int64_t j) {
    const std::size_t common = sparse.common[j];
    for (std::size_t r = 0; r < entropies_.size(); ++r)
      for (std::size_t y = 0; y < entropies_[r].classes.counts.size(); ++y)
        counts_[(y * states_ + common) * entropies_.size() + r] = entropies_[r].classes.counts[y];
    for (std::int64_t e = sparse.offsets[j]; e < sparse.offsets[j + 1]; ++e) {
      add<-1>(sparse.examples[e], common);
      add<1>(sparse.examples[e], sparse.codes[e]);
    }
  }

  const Problem& problem_;
  std::span<const Entropies> entropies_;
  std::span<const std::uint32_t> weights_;  ///< [row * resamples + r]
  std::size_t states_ = 0;
  std::vector<std::uint32_t> counts_, own_;
};

/// Entropies and relevance from the sums.
void finish(const Entropies& entropies, double information, FeatureEntropies& result) {
  const std::int64_t all = entropies.log(entropies.log.total());
  result.relevance = information / std::log(2.0);
  result.entropy = entropies.log.bits(all - result.sum);
  result.joint_with_class = entropies.log.bits(all - result.class_sum);
}

/// The sums of one feature from its counts: class outside, state inside, as FEAST adds.
FeatureEntropies from_counts(const Entropies& entropies, const TermTable& terms,
                             std::span<const std::uint32_t> counts) {
  const std::size_t classes = entropies.classes.counts.size();
  const std::size_t states = counts.size() / std::max<std::size_t>(classes, 1);
  std::vector<std::uint32_t> own(states, 0);
  for (std::size_t y = 0; y < classes; ++y)
    for (std::size_t x = 0; x < states; ++x) own[x] += counts[y * states + x];
  FeatureEntropies result;
  std::vector<std::uint32_t> occurring(states);
  std::size_t next = 0;
  for (std::size_t x = 0; x < states; ++x) {  // without a branch that could not be foreseen
    occurring[next] = static_cast<std::uint32_t>(x);
    next += own[x] > 0 ? 1 : 0;
    result.sum += entropies.log(own[x]);
  }
  occurring.resize(next);
  double information = 0;
  for (std::size_t y = 0; y < classes; ++y)
    for (const std::uint32_t x : occurring) {
      const std::uint32_t c = counts[y * states + x];
      information += terms.with_class_or_zero(c, own[x], entropies.classes.counts[y], y);
      result.class_sum += entropies.log(c);
    }
  finish(entropies, information, result);
  return result;
}

/// The same row by row, if rows are fewer than joint states: only states that occur are visited.
class RowCounter {
 public:
  explicit RowCounter(const Problem& problem) : classes_(static_cast<std::size_t>(problem.class_count)) {
    for (std::size_t i = 0; i < problem.classes.size(); ++i)
      classes_[static_cast<std::size_t>(problem.classes[i])].push_back(static_cast<std::uint32_t>(i));
  }
  static bool suits(const Problem& problem) {
    return problem.rows() * 2 < std::int64_t{problem.most_states()} * problem.class_count;
  }

  /// `weights`: of each row; empty: once each.
  FeatureEntropies of(const Entropies& entropies, const TermTable& terms, std::span<const std::uint16_t> codes,
                      std::size_t states, std::span<const std::uint32_t> weights) {
    const auto weight_of = [&](std::size_t i) { return weights.empty() ? 1 : weights[i]; };
    own_.assign(states, 0);
    in_class_.resize(std::max(in_class_.size(), states), 0);
    present_.resize(std::max(present_.size(), (states + 63) / 64), 0);
    for (std::size_t i = 0; i < codes.size(); ++i) own_[codes[i]] += weight_of(i);
    FeatureEntropies result;
    double information = 0;
    for (std::size_t y = 0; y < classes_.size(); ++y) {
      for (const std::uint32_t i : classes_[y]) {
        in_class_[codes[i]] += weight_of(i);
        present_[codes[i] / 64] |= std::uint64_t{1} << (codes[i] % 64);
      }
      for (std::size_t w = 0; w < present_.size(); ++w)
        for (std::uint64_t bits = std::exchange(present_[w], 0); bits != 0; bits &= bits - 1) {
          const std::size_t x = w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
          const std::uint32_t c = std::exchange(in_class_[x], 0);
          information += terms.with_class_or_zero(c, own_[x], entropies.classes.counts[y], y);
          result.class_sum += entropies.log(c);
        }
    }
    for (const std::uint32_t c : own_) result.sum += entropies.log(c);
    finish(entropies, information, result);
    return result;
  }

 private:
  std::vector<std::vector<std::uint32_t>> classes_;  ///< the rows of each
  std::vector<std::uint32_t> own_, in_class_;
  std::vector<std::uint64_t> present_;
};

/// All entropies except those of each feature.
Entropies begin_entropies(const Problem& problem) {
  Entropies entropies;
  entropies.log = FixedLog(problem.total());
  entropies.classes = find_class_entropy(problem, entropies.log);
  entropies.features.resize(static_cast<std::size_t>(problem.table->features));
  return entropies;
}

std::size_t states_of(const Problem& problem, std::int64_t j) {
  return static_cast<std::size_t>(problem.table->states[static_cast<std::size_t>(j)]);
}

}  // namespace

std::vector<std::uint32_t> interleave(std::span<const std::vector<std::uint32_t>> resamples) {
  if (resamples.empty()) return {};
  std::vector<std::uint32_t> weights(resamples.size() * resamples[0].size());
  for (std::size_t r = 0; r < resamples.size(); ++r)
    for (std::size_t i = 0; i < resamples[r].size(); ++i) weights[i * resamples.size() + r] = resamples[r][i];
  return weights;
}

std::vector<Entropies> find_entropies_of_resamples(const Context& context, const Problem& problem,
                                                   std::span<const std::vector<std::uint32_t>> resamples) {
  std::vector<Entropies> entropies;
  std::vector<TermTable> terms;
  for (const auto& resample : resamples) {
    Problem of_resample = problem;
    of_resample.weights = resample;
    entropies.push_back(begin_entropies(of_resample));
    terms.emplace_back(entropies.back().log.total(), entropies.back().classes.counts);
  }
  if (RowCounter::suits(problem)) {
    parallel_ranges(context, problem.table->features, 16, [&](Range range) {
      RowCounter rows(problem);
      std::vector<std::uint16_t> codes;
      for (std::int64_t j = range.begin; j < range.end; ++j) {
        read_column(*problem.table, j, codes);
        for (std::size_t r = 0; r < entropies.size(); ++r)
          entropies[r].features[static_cast<std::size_t>(j)] =
              rows.of(entropies[r], terms[r], codes, states_of(problem, j), resamples[r]);
      }
    });
    return entropies;
  }
  const std::vector<std::uint32_t> weights = interleave(resamples);
  parallel_ranges(context, problem.table->features, 16, [&](Range range) {
    ResampleCounter counter(problem, entropies, weights);
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      counter.count(j);
      for (std::size_t r = 0; r < entropies.size(); ++r)
        entropies[r].features[static_cast<std::size_t>(j)] =
            from_counts(entropies[r], terms[r], counter.of_resample(r));
    }
  });
  return entropies;
}

Entropies find_entropies(const Context& context, const Problem& problem) {
  Entropies entropies = begin_entropies(problem);
  const TermTable terms(entropies.log.total(), entropies.classes.counts);
  const bool by_rows = RowCounter::suits(problem);
  parallel_ranges(context, problem.table->features, 16, [&](Range range) {
    if (by_rows) {
      RowCounter rows(problem);
      std::vector<std::uint16_t> codes;
      for (std::int64_t j = range.begin; j < range.end; ++j) {
        read_column(*problem.table, j, codes);
        entropies.features[static_cast<std::size_t>(j)] =
            rows.of(entropies, terms, codes, states_of(problem, j), problem.weights);
      }
      return;
    }
    ClassCounter counter(problem, entropies.classes);
    for (std::int64_t j = range.begin; j < range.end; ++j)
      entropies.features[static_cast<std::size_t>(j)] = from_counts(entropies, terms, counter.count(j));
  });
  return entropies;
}

FeatureEntropies entropies_of(const Problem& problem, const Entropies& entropies, std::span<const std::uint32_t> codes,
                              std::int64_t states) {
  ClassCounter counter(problem, entropies.classes);
  const TermTable terms(entropies.log.total(), entropies.classes.counts);
  return from_counts(entropies, terms, counter.count(codes, states));
}

}  // namespace sheaf::information

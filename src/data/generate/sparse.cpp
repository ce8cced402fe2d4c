// The sparse kinds: microbes and text.
//
// Both are drawn the same way. Feature k (by falling frequency) is in a row with probability min(cap, s * z_k * length
// of the row), z_k a power law; s is such that rows have the wanted number of entries on average. Rows are drawn in
// time proportional to their entries, not to the features.
#include <cmath>

#include "data/generate/kinds.hpp"

namespace sheaf::generating {
namespace {

struct Entry {
  std::int32_t feature = 0;
  double value = 0;
};

/// Visits each k of 0 .. count-1 with probability chance(k). `envelope` must not grow with k and never be below chance;
/// the gap to the next k that passes the envelope is one geometric draw.
template <class Envelope, class Chance, class Visit>
void draw_present(Random& random, std::int64_t count, Envelope&& envelope, Chance&& chance, Visit&& visit) {
  for (std::int64_t k = 0; k < count; ++k) {
    const double bound = envelope(k);
    if (!(bound > 0)) return;
    if (bound < 1) {
      const double gap = std::floor(std::log1p(-random.uniform()) / std::log1p(-bound));
      if (gap >= static_cast<double>(count - k)) return;
      k += static_cast<std::int64_t>(gap);
    }
    if (random.uniform() * bound < chance(k)) visit(k);
  }
}

/// min(cap, s / (k + offset)^power) for k = 0 .. count-1, with s such that they add up to `total`.
std::vector<double> power_law(std::int64_t count, double offset, double power, double cap, double total) {
  std::vector<double> z(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < z.size(); ++k) z[k] = std::pow(static_cast<double>(k) + offset, -power);
  double low = 0;
  double high = total / z.back() + 1;  // then every term alone reaches its share or the cap
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    double sum = 0;
    for (const double value : z) sum += std::min(cap, middle * value);
    (sum < total ? low : high) = middle;
  }
  for (auto& value : z) value = std::min(cap, high * value);
  return z;
}

/// Features by falling frequency, those that mark classes apart from the rest, whose frequencies are the same in all.
class Vocabulary {
 public:
  /// `feature[k]` is the column of frequency rank k; `marker[j]` the marker of column j, or -1.
  Vocabulary(std::vector<double> frequency, const std::vector<std::int32_t>& feature,
             const std::vector<std::int32_t>& marker)
      : frequency_of_column_(frequency.size()) {
    for (std::size_t k = 0; k < frequency.size(); ++k) {
      const auto column = static_cast<std::size_t>(feature[k]);
      auto& list = marker[column] < 0 ? plain_ : marking_;
      list.push_back({feature[k], marker[column], frequency[k]});
      frequency_of_column_[column] = frequency[k];
    }
  }

  double frequency(std::int32_t column) const { return frequency_of_column_[static_cast<std::size_t>(column)]; }

  /// Calls visit(column, marker) for the features of one row; `length` scales all chances, exp(marker shift * sway)
  /// those of markers.
  template <class Visit>
  void draw(Random& random, double length, const std::vector<Marker>& markers, double sway, std::int32_t row_class,
            Visit&& visit) const {
    const auto chance = [&](const Word& word) { return std::min(1.0, word.frequency * length); };
    const auto plain = [&](std::int64_t k) { return chance(plain_[static_cast<std::size_t>(k)]); };
    draw_present(random, static_cast<std::int64_t>(plain_.size()), plain, plain,
                 [&](std::int64_t k) { visit(plain_[static_cast<std::size_t>(k)].column, -1); });
    if (marking_.empty()) return;
    const double most = std::exp(sway * markers.front().rise);  // all markers rise alike
    const auto factor = [&](std::int32_t m) {
      return std::exp(sway * markers[static_cast<std::size_t>(m)].shift(row_class));
    };
    draw_present(
        random, static_cast<std::int64_t>(marking_.size()),
        [&](std::int64_t k) { return std::min(1.0, most * chance(marking_[static_cast<std::size_t>(k)])); },
        [&](std::int64_t k) {
          const auto& word = marking_[static_cast<std::size_t>(k)];
          return std::min(1.0, factor(word.marker) * chance(word));
        },
        [&](std::int64_t k) {
          visit(marking_[static_cast<std::size_t>(k)].column, marking_[static_cast<std::size_t>(k)].marker);
        });
  }

 private:
  struct Word {
    std::int32_t column;
    std::int32_t marker;
    double frequency;
  };
  std::vector<Word> plain_;
  std::vector<Word> marking_;
  std::vector<double> frequency_of_column_;
};

template <class T>
struct Part {
  std::vector<std::int32_t> indices;
  std::vector<T> values;
};

template <class T>
void append_row(std::vector<Entry>& entries, Part<T>& part) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.feature < b.feature; });
  for (const auto& entry : entries) {
    part.indices.push_back(entry.feature);
    part.values.push_back(static_cast<T>(entry.value));
  }
}

/// A sparse matrix whose row i has the entries that fill(i, entries) adds, in any order.
template <class T, class Fill>
SparseMatrix<T> sparse_rows(const Plan& plan, Fill&& fill) {
  constexpr std::int64_t rows_per_part = 64;
  const std::int64_t parts = (plan.rows + rows_per_part - 1) / rows_per_part;
  std::vector<Part<T>> made(static_cast<std::size_t>(parts));
  SparseMatrix<T> x{plan.rows, plan.features, Array<std::int64_t>(plan.rows + 1), {}, {}};
  Stage stage(plan.context->progress(), "generating", plan.rows);
  parallel_for(*plan.context, parts, [&](std::int64_t p) {
    auto& part = made[static_cast<std::size_t>(p)];
    std::vector<Entry> entries;
    const Range rows{p * rows_per_part, std::min(plan.rows, (p + 1) * rows_per_part)};
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      entries.clear();
      fill(i, entries);
      append_row(entries, part);
      x.offsets[i + 1] = static_cast<std::int64_t>(entries.size());
    }
    stage.advance(rows.end - rows.begin);
  });
  x.offsets[0] = 0;
  for (std::int64_t i = 0; i < plan.rows; ++i) x.offsets[i + 1] += x.offsets[i];
  x.indices = Array<std::int32_t>(x.offsets[plan.rows]);
  x.values = Array<T>(x.offsets[plan.rows]);
  parallel_for(*plan.context, parts, [&](std::int64_t p) {
    auto& part = made[static_cast<std::size_t>(p)];
    std::copy(part.indices.begin(), part.indices.end(), x.indices.begin() + x.offsets[p * rows_per_part]);
    std::copy(part.values.begin(), part.values.end(), x.values.begin() + x.offsets[p * rows_per_part]);
    part = {};
  });
  return x;
}

std::vector<std::int32_t> in_order(std::int64_t count) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::int32_t>(k);
  return order;
}

/// Log-normal with mean 1.
double spread(Random& random, double deviation) {
  return std::exp(deviation * random.normal() - deviation * deviation / 2);
}

/// Turns log-abundances into reads: a detected taxon has one, the others fall by abundance.
void count_reads(Random& random, double depth, std::vector<Entry>& entries) {
  double total = 0;
  for (auto& entry : entries) total += entry.value = std::exp(entry.value);
  const double more = std::max(0.0, depth - static_cast<double>(entries.size()));
  for (auto& entry : entries) entry.value = 1 + static_cast<double>(random.poisson(more * entry.value / total));
}

void normalise(std::vector<Entry>& entries) {
  double squares = 0;
  for (const auto& entry : entries) squares += entry.value * entry.value;
  for (auto& entry : entries) entry.value /= std::sqrt(squares);
}

}  // namespace

// Taxa are numbered by falling prevalence, as surveys number them. A taxon's log-abundance is normal around its own
// level where it is detected at all; the number of reads of a sample varies about a median of 10,000.
template <class T>
Generated<T> make_microbes(const Plan& plan) {
  constexpr double strength = 0.65;
  constexpr double deviation = 0.6;                             // of the log of the number of reads
  const double unbiased = std::exp(deviation * deviation / 8);  // makes the root of that number 1 on average
  const auto prevalence = power_law(plan.features, 5, 1.1, 0.9, plan.row_nonzeros);
  const auto common = std::count_if(prevalence.begin(), prevalence.end(), [](double p) { return p >= 0.1; });
  const std::int64_t candidates = std::min(plan.features, std::max<std::int64_t>(common, 4 * plan.informative));
  Generated<T> result;
  result.informative = choose(stream(plan, Purpose::choice), candidates, plan.informative);
  const auto markers = make_markers(plan, strength * plan.effect);
  result.weights = marker_weights(plan, markers);
  const Vocabulary taxa(prevalence, in_order(plan.features), informative_numbers(plan, result.informative));
  auto of_features = stream(plan, Purpose::features);
  std::vector<double> level;
  level.reserve(prevalence.size());
  for (const double p : prevalence) level.push_back(0.7 * std::log(p) + 1.2 * of_features.normal());

  auto classes = balanced_classes(plan);
  result.dataset.x = sparse_rows<T>(plan, [&](std::int64_t i, std::vector<Entry>& entries) {
    auto random = stream(plan, Purpose::rows, i);
    const double depth = spread(random, deviation);
    const auto row_class = classes[static_cast<std::size_t>(i)];
    taxa.draw(random, std::sqrt(depth) * unbiased, markers, 0.5, row_class, [&](std::int32_t j, std::int32_t m) {
      const double shift = m < 0 ? 0 : markers[static_cast<std::size_t>(m)].shift(row_class);
      entries.push_back({j, level[static_cast<std::size_t>(j)] + shift + random.normal()});
    });
    count_reads(random, 10000 * depth, entries);
  });
  const auto names = spell_classes(plan, "healthy", "sick", "state");
  result.dataset.target = label(plan, std::move(classes), names);
  result.dataset.feature_names = numbered_names("Otu", plan.features);
  return result;
}

// Words as frequent as Zipf's law has them; a word that marks a class is in more of its documents. Weights are
// (1 + log count) * log(1 / frequency), each row of length 1.
template <class T>
Generated<T> make_text(const Plan& plan) {
  constexpr double strength = 2.4;
  Generated<T> result;
  result.informative = choose(stream(plan, Purpose::choice), plan.features, plan.informative);
  const auto markers = make_markers(plan, strength * plan.effect);
  result.weights = marker_weights(plan, markers);
  const Vocabulary words(power_law(plan.features, 3, 1, 0.5, plan.row_nonzeros),
                         permutation(stream(plan, Purpose::features), plan.features),
                         informative_numbers(plan, result.informative));

  auto classes = balanced_classes(plan);
  result.dataset.x = sparse_rows<T>(plan, [&](std::int64_t i, std::vector<Entry>& entries) {
    auto random = stream(plan, Purpose::rows, i);
    const auto add = [&](std::int32_t j, std::int32_t /*marker*/) {
      const double count = 1 + std::floor(0.7 * random.exponential());
      entries.push_back({j, (1 + std::log(count)) * -std::log(words.frequency(j))});
    };
    words.draw(random, spread(random, 0.5), markers, 1, classes[static_cast<std::size_t>(i)], add);
    if (entries.empty()) add(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(plan.features))), -1);
    normalise(entries);
  });
  const auto names = spell_classes(plan, "-1", "+1", "");
  result.dataset.target = label(plan, std::move(classes), names);
  return result;
}

template Generated<float> make_microbes(const Plan&);
template Generated<double> make_microbes(const Plan&);
template Generated<float> make_text(const Plan&);
template Generated<double> make_text(const Plan&);

}  // namespace sheaf::generating

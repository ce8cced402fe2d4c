// Code shared by the benchmarks of SVMs: reading, tasks of all classes, training, and reports.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <sheaf/io.hpp>
#include <sheaf/solvers/svm.hpp>

#include "timing.hpp"

namespace sheaf::bench {

struct Options {
  std::string device = "cpu";
  std::string memory;
  int threads = 0;
  double cost = 1, gamma = 1, tolerance = 1e-3, cache = 2000, divide = 1;
  bool rest = false, no_peer = false, unit = false, grid = false;
  int repeats = 1;
  std::int64_t rows = 0;
  std::string plot;
  std::vector<std::string> files;
};

inline Context make_context(const Options& options) {
  Context::Options inside;
  inside.device = parse_device(options.device);
  inside.threads = options.threads;
  if (!options.memory.empty()) inside.memory = parse_bytes(options.memory);
  return Context(inside);
}

/// Each feature to [0, 1] by its extremes.
inline void scale_to_unit(DenseMatrix<double>& x) {
  for (std::int64_t j = 0; j < x.columns; ++j) {
    double low = 1e300;
    double high = -1e300;
    for (std::int64_t i = 0; i < x.rows; ++i) {
      low = std::min(low, x.values[i * x.columns + j]);
      high = std::max(high, x.values[i * x.columns + j]);
    }
    for (std::int64_t i = 0; i < x.rows; ++i)
      x.values[i * x.columns + j] = high > low ? (x.values[i * x.columns + j] - low) / (high - low) : 0;
  }
}

inline Dataset<double> read(const Options& options, const std::string& file) {
  ReadOptions storage;
  storage.storage = options.unit ? Storage::dense : Storage::sparse;
  auto dataset = read_dataset<double>(make_context(options), file, storage);
  if (auto* dense = std::get_if<DenseMatrix<double>>(&dataset.x)) {
    if (options.rows > 0 && options.rows < dense->rows) {  // the first rows
      dense->rows = options.rows;
      dense->values =
          Array<double>::copy_of(dense->values.span().first(static_cast<std::size_t>(options.rows * dense->columns)));
      dataset.target.classes.resize(static_cast<std::size_t>(options.rows));
    }
    scale_to_unit(*dense);
    return dataset;
  }
  for (double& value : std::get<SparseMatrix<double>>(dataset.x).values) value /= options.divide;
  return dataset;
}

/// One SVM for each pair of classes, or each class against the rest (two classes: one SVM).
inline SvmSheaf all_classes(const Dataset<double>& dataset, bool rest, double cost) {
  SvmSheaf sheaf;
  sheaf.examples = dataset.rows();
  sheaf.classes = dataset.target.classes;
  const auto classes = static_cast<std::int32_t>(dataset.target.class_names.size());
  for (std::int32_t a = 0; a < classes; ++a) {
    if (rest)
      sheaf.tasks.push_back({.positive = a, .cost_positive = cost, .cost_negative = cost});
    else
      for (std::int32_t b = a + 1; b < classes; ++b)
        sheaf.tasks.push_back({.positive = a, .negative = b, .cost_positive = cost, .cost_negative = cost});
  }
  if (rest && classes == 2) sheaf.tasks.pop_back();
  return sheaf;
}

/// The class with most votes, of equal ones the first; the class with the largest value.
inline std::int32_t winner(const SvmSheaf& sheaf, std::int32_t classes, const Block<double>& decisions,
                           std::int64_t row) {
  std::vector<double> scores(static_cast<std::size_t>(classes), 0.0);
  for (std::int32_t t = 0; t < decisions.tasks(); ++t) {
    const SvmTask& task = sheaf.tasks[static_cast<std::size_t>(t)];
    const double value = decisions(row, t);
    if (task.negative == SvmTask::rest)
      scores[static_cast<std::size_t>(task.positive)] = value;
    else
      scores[static_cast<std::size_t>(value > 0 ? task.positive : task.negative)] += 1;
  }
  return static_cast<std::int32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

struct Ours {
  double seconds = 1e300, processor = 1e300, predict_seconds = 1e300;
  SvmFits fits;
};

inline Ours train(const Options& options, const Dataset<double>& dataset, const SvmSheaf& sheaf) {
  const Context context = make_context(options);
  dataset.by_rows(context.device());  // the data are there, as they are for LIBSVM
  SvmParams params;
  params.kernel.gamma = options.gamma;
  params.tolerance = options.tolerance;
  Ours ours;
  for (int r = 0; r < options.repeats; ++r) {
    const double start = now();
    const double processor = processor_seconds();
    ours.fits = train_sheaf(context, dataset, sheaf, params);
    ours.seconds = std::min(ours.seconds, now() - start);
    ours.processor = std::min(ours.processor, processor_seconds() - processor);
  }
  return ours;
}

inline void describe_fits(const SvmFits& fits) {
  std::vector<std::int32_t> rows;
  std::int64_t iterations = 0;
  std::int32_t rounds = 0;
  double objective = 0;
  bool converged = true;
  for (const SvmFit& fit : fits.tasks) {
    objective += fit.objective;
    rows.insert(rows.end(), fit.svm.rows.begin(), fit.svm.rows.end());
    iterations += fit.iterations;
    rounds = std::max(rounds, fit.rounds);
    converged = converged && fit.converged;
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::printf("    %zu SVMs, %zu support vectors, %lld steps, at most %d rounds, objectives sum up to %.9g%s\n",
              fits.tasks.size(), rows.size(), static_cast<long long>(iterations), rounds, objective,
              converged ? "" : ", NOT CONVERGED");
  std::printf("    kernel values computed: %.3e; without sharing: %.3e (%.2f times as many)\n",
              static_cast<double>(fits.counts.computed), static_cast<double>(fits.counts.unshared),
              static_cast<double>(fits.counts.unshared) / static_cast<double>(fits.counts.computed));
}

}  // namespace sheaf::bench

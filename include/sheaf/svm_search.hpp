// A whole search for the parameters of a kernel machine: for each kernel every cost, split and pair of classes trained
// as one sheaf over common kernel values, scored on the rows left out; the best trained again on all rows.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <sheaf/search.hpp>
#include <sheaf/svm_model.hpp>

namespace sheaf {

enum class SvmGridKind : std::uint8_t {
  automatic,  ///< a coarse grid that knows the data's distances, then ever finer steps around the best
  easy,       ///< LIBSVM's: log2 C from -5 to 15 and log2 gamma from 3 to -15, in steps of 2
  given,      ///< all of `costs` x `gammas` x `degrees`
};

struct SvmSearchOptions {
  SvmOptions svm;        ///< its cost, gamma and degree are not used
  SearchOptions common;  ///< costs, splits, score and choice; what concerns linear models is not used
  std::vector<double> gammas;
  std::vector<int> degrees;
  bool easy = false;        ///< LIBSVM's grid in place of costs and gammas
  std::int32_t refine = 3;  ///< automatic: how often the step of a factor of 16 is made its root
  /// Devices that share the work with the context's: kernels have nothing in common, so each device takes the next one
  /// when it is free.
  std::vector<Device> also;
};
/// With everything that was left open decided. A score that does not suit the machine is a UsageError.
SvmSearchOptions decided(SvmSearchOptions options);
/// Given once costs, gammas or degrees are; a grid of nothing but a kernel's default is automatic.
SvmGridKind grid_kind(const SvmSearchOptions& options);

struct SvmPoint {
  double cost = 1;
  double gamma = 0;  ///< 0: the kernel has none, or 1 / features
  int degree = 3;
  bool operator==(const SvmPoint&) const = default;
};

/// One outer fold of a nested validation, whose own search may have tried other points.
struct SvmOuterFold {
  SvmPoint chosen;
  Summarised inner;
  ModelScores scores;
};

struct SvmSearchResult {
  SvmSearchOptions options;  ///< with everything that was left open decided
  std::uint64_t seed = 0;
  std::string source;
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::vector<std::string> class_names;
  std::int32_t positive = -1;
  std::int32_t splits = 0;
  std::vector<SvmPoint> points;     ///< ascending by cost, gamma, degree
  std::vector<ModelScores> models;  ///< points x splits
  Chosen chosen;                    ///< of the points
  std::vector<SvmOuterFold> outer;
  SvmModel model;       ///< trained on all rows
  KernelCounts counts;  ///< of what this run trained
  std::vector<std::string> warnings;
  std::vector<std::string> notes;

  std::vector<double> scores(std::size_t point, Metric metric) const;
  Summarised summary(std::size_t point, Metric metric) const { return summarise(scores(point, metric)); }
  /// The mean number of support vectors over the splits.
  double support(std::size_t point) const;
  std::vector<Metric> known() const;
  const SvmPoint& point() const { return points[chosen.chosen]; }
};

template <class T>
SvmSearchResult search_svm(const Context& context, const Dataset<T>& dataset, const SvmSearchOptions& options,
                           SearchLog* log = nullptr);

/// Only what linear models have no row of: gammas, degrees, how the grid is made.
template <>
const std::vector<Parameter<SvmSearchOptions>>& parameters();

std::string search_json(const SvmSearchResult& result);
/// The options that decide the results, as JSON: part of a search's settings.
std::string options_json(const SvmSearchOptions& options);
/// One line for each point and split.
std::string search_csv(const SvmSearchResult& result);
std::string search_html(const SvmSearchResult& result);

/// One pair of LIBSVM's grid.py.
struct GridRate {
  double log2_cost = 0, log2_gamma = 0;
  double rate = 0;  ///< per cent of the rows, or the mean squared error
};
/// What grid.py does with svm-train -v: every pair by the same folds, those of svm-train; all costs of one gamma are
/// one sheaf. In the order in which grid.py asks for them.
template <class T>
std::vector<GridRate> libsvm_grid(const Context& context, const Dataset<T>& dataset, const SvmOptions& options,
                                  std::int32_t folds);
/// The best as grid.py finds it: later ones must be better, or as good with the same gamma and a smaller cost.
GridRate best_of(std::span<const GridRate> rates);

}  // namespace sheaf

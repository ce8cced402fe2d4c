// Everything `sheaf info` reports about a dataset, for the terminal, JSON and the HTML report alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/device.hpp>

namespace sheaf {

/// Over all rows, the zeros that sparse data leave out included; all 0 for a dataset without rows.
struct FeatureSummary {
  std::int64_t nonzeros = 0;  ///< values that differ from 0; stored zeros do not count
  double minimum = 0;
  double maximum = 0;
  double mean = 0;
  double standard_deviation = 0;  ///< standard deviation, divided by n
};

/// One of several targets.
struct TargetSummary {
  std::string name;
  FeatureSummary values;
};

struct Summary {
  std::int64_t rows = 0, features = 0, stored = 0, nonzeros = 0;
  bool sparse = false;
  bool integers_only = false;  ///< every value is an integer
  double minimum = 0, maximum = 0;
  std::int64_t constant_features = 0;  ///< all-zero ones included
  std::int64_t zero_features = 0;
  std::int64_t empty_rows = 0;
  std::int64_t shortest_row = 0, longest_row = 0;    ///< in non-zeros
  std::vector<std::int64_t> row_nonzeros_histogram;  ///< log2 buckets: [0], [1], [2,3], [4,7] ...; as many as needed
  std::vector<FeatureSummary> per_feature;
  std::vector<std::int64_t> class_counts;  ///< one per class name; empty if labels do not look like classes
  double target_minimum = 0, target_maximum = 0, target_mean = 0,
         target_standard_deviation = 0;        ///< of labels that are numbers
  std::vector<TargetSummary> further_targets;  ///< of several targets those behind the first, which all else is about
  std::int64_t groups = 0;
};

/// Bytes to hold a dataset on a device and to train linear models on it there.
struct MemoryNeed {
  std::int64_t matrix_cpu = 0;    ///< as read: all values, or the values, 32-bit indices and 64-bit offsets of CSR
  std::int64_t resident_cpu = 0;  ///< sparse data: with their transpose (CSC), which the other product needs
  std::int64_t resident_gpu = 0;  ///< the same there
  std::int64_t per_task = 0;      ///< one model of a block: 6 vectors of length `features`, 4 of length `rows`
};

/// One pass over the matrix. The same bits for any number of threads.
template <class T>
Summary summarize(const Context& context, const Dataset<T>& dataset);

/// Whether the file of a dataset holds its summary, so that summarize() and a profile without values read no matrix.
template <class T>
bool has_stored_summary(const Dataset<T>& dataset);

/// For elements of `element_bytes` bytes (4 or 8).
MemoryNeed memory_need(const Summary& summary, int element_bytes);

struct AssociationOptions {
  int shuffles = 19;  ///< shuffled labels to compare with: 1 / (shuffles + 1) is the family-wise error rate of `chance`
  int bins = 50;      ///< of the histograms
};

/// Ranks of a feature (ties share their mean rank) against the label. Two classes and numbers: the rank correlation, -1
/// to 1, positive if larger values go with `positive_class` or with larger labels. More classes: the correlation ratio
/// of the ranks, 0 to 1 (the square root of Kruskal and Wallis's H / (n - 1)). Constant features have 0.
struct Associations {
  std::vector<double> correlation;  ///< one per feature; empty: no label, or but one class
  std::vector<double> auc;  ///< two classes only: chance that a random positive has the larger value (ties: half)
  std::int32_t positive_class = -1;  ///< two classes only
  int shuffles = 0;
  double chance = 0;              ///< the largest magnitude that any feature reached with any of the shuffled labels
  std::vector<double> histogram;  ///< features by magnitude, `bins` equal steps from 0 to 1
  std::vector<double> chance_histogram;  ///< the same for shuffled labels, mean over the shuffles

  bool empty() const { return correlation.empty(); }
  bool directed() const { return positive_class >= 0; }
};

/// The result depends on context.seed(), not on the number of threads.
template <class T>
Associations associate(const Context& context, const Dataset<T>& dataset, const AssociationOptions& options = {});

/// Something a user should consider before training.
struct Finding {
  enum class Level : std::uint8_t { note, warning };
  Level level;
  std::string code;     ///< stable, for programs: "constant-features"
  std::string message;  ///< what, how much, and what to do
};

/// Whether the dataset fits on a device.
struct DeviceFit {
  DeviceInfo device;
  std::int64_t need = 0;    ///< bytes of the dataset there, before any model
  std::int64_t budget = 0;  ///< bytes that may be used
  std::int64_t models = 0;  ///< linear models that train side by side; 0: the dataset itself does not fit
};

/// A feature that the report shows, split by class if there are classes.
struct Highlight {
  std::int64_t feature = 0;
  std::vector<double> class_means;
  std::vector<double> class_prevalence;  ///< share of the class's rows that are not zero
};

struct ProfileOptions {
  int highlights = 20;  ///< features to show of each kind
  /// Datasets with more stored entries than this are compared with the label once, without shuffles.
  std::int64_t shuffle_entries = 200'000'000;
  /// false: only what the file says of its matrix, which must have a stored summary: no comparison with the label, no
  /// pass over the values.
  bool values = true;
};

struct Profile {
  std::string source;
  int element_bytes = 8;
  bool values_read = true;  ///< else only what the file says of its matrix is known
  Summary summary;
  MemoryNeed memory;
  std::vector<DeviceFit> fits;
  bool labelled = false;
  bool classification = false;  ///< else, if labelled, a numeric target
  std::string target_name;
  std::vector<std::string> class_names;
  std::vector<double> target_histogram;  ///< numeric target only: equal steps from target_minimum to target_maximum
  std::vector<double> row_nonzeros;      ///< rows by number of non-zeros: `row_step` wide steps from shortest_row
  std::int64_t row_step = 1;
  std::vector<std::string> feature_names;  ///< empty: by position
  Associations associations;
  std::vector<Highlight> strongest;  ///< by association with the label
  std::vector<Highlight> varying;    ///< by standard deviation
  std::vector<Finding> findings;

  std::string feature_name(std::int64_t j) const {
    return feature_names.empty() ? std::to_string(j + 1) : feature_names[static_cast<std::size_t>(j)];
  }
  double prevalence(std::int64_t j) const;
};

template <class T>
Profile profile(const Context& context, const Dataset<T>& dataset, const ProfileOptions& options = {});

/// Notes on the columns of a raw dataset: missing values, levels, duplicates, groups, decisions of the reader, and
/// data_findings() except those that findings() has too.
template <class T>
std::vector<Finding> column_findings(const Context& context, const Dataset<T>& dataset);

/// Warnings before training: codes for missing values, dates stored as numbers, levels and classes that differ in
/// letter case or blanks only, values whose squares overflow, features that never change and, in dense datasets,
/// features that alone determine the label. `sheaf info`, `fit` and `search` report them.
template <class T>
std::vector<Finding> data_findings(const Context& context, const Dataset<T>& dataset);

/// The findings of a profile whose other members are set.
std::vector<Finding> findings(const Profile& profile);

}  // namespace sheaf

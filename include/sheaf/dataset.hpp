// A dataset: the matrix of features, the target, and the names. Resident once on each device that uses it. Datasets
// come from files (io.hpp), from arrays in memory (memory.hpp) or from a generator (generate.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/solvers/device.hpp>
#include <sheaf/solvers/matrix.hpp>

namespace sheaf {

/// Whether labels are classes or the numbers of a regression.
enum class LabelKind : std::uint8_t {
  automatic,  ///< numbers, unless they look like classes
  classes,
  numbers,  ///< a regression
};

/// One of several numeric targets.
struct TargetColumn {
  std::string name;
  std::vector<double> values;  ///< one a row
};

/// The labels of all rows, kept in every way they can be understood.
struct Target {
  std::vector<double> values;         ///< the labels as numbers; empty when one of them is not a number
  std::vector<std::int32_t> classes;  ///< class of each row; empty when numbers have over max_classes distinct values
  std::vector<std::string> class_names;  ///< as spelled at first appearance; order_classes() determines their order
  std::string name;                      ///< the label's column, if the file names it
  /// Kind stated by the file or the caller; automatic: see looks_like_classes().
  LabelKind kind = LabelKind::automatic;
  bool fixed_order = false;    ///< models keep the order of class_names; else it is that of first appearance
  std::int32_t positive = -1;  ///< of two classes that of precision, recall, F1 and AUC; -1: by positive_class()
  /// Survival: `values` are times, and here is 1 if the event came at that time and 0 if the row was followed so
  /// long without it (censored). Empty: no survival.
  std::vector<std::uint8_t> events = {};
  std::vector<double> entries = {};       ///< survival: as in RiskTimes, likewise strata
  std::vector<std::int32_t> strata = {};  ///< from 0
  /// Several numeric targets, which elastic nets of squared errors predict together: those behind the first, whose
  /// values and name are the ones above. Empty: there is one target.
  std::vector<TargetColumn> further = {};

  static constexpr std::int64_t max_classes = 65536;

  bool empty() const { return values.empty() && classes.empty(); }
  bool survival() const { return !events.empty(); }
  bool several() const { return !further.empty(); }
  std::int32_t targets() const { return 1 + static_cast<std::int32_t>(further.size()); }
  /// Names of several targets, in their order.
  std::vector<std::string> target_names() const;
  /// The numbers of all targets: rows x targets().
  std::vector<double> table() const;
  std::int64_t rows() const { return static_cast<std::int64_t>(values.empty() ? classes.size() : values.size()); }
  /// Whether the labels are classes: never those of survival; as `kind` states, else if some are not numbers, or all
  /// are whole numbers of at most 20 different values, each twice or more on average. More different whole numbers are
  /// classes if they are 0, 1, 2 ... or 1, 2, 3 ... without a gap, each of ten rows or more on average.
  bool looks_like_classes() const;
  /// Puts the classes into an order that does not depend on that of the rows, and fixes it: numbers by value, then
  /// words by alphabet; with two classes, the positive one first, so that decision values above 0 and weights favour
  /// it. `positive`: its name; empty: the rule of positive_class(). Another name is a UsageError.
  void order_classes(const std::string& positive = {});
};

/// The positive one of two classes: the larger of two numbers; of two words the one that means yes, true, case, sick,
/// tumour or positive, else the last in the alphabet. -1 unless there are two classes.
std::int32_t positive_class(std::span<const std::string> class_names);

/// A column of a file as it is written, carried along and seen by no model.
struct KeptColumn {
  std::string name;
  std::vector<std::string> values;  ///< one a row
};

/// A column of text about the features, such as taxonomy, gene symbol or protein.
struct AnnotationColumn {
  std::string name;
  std::vector<std::string> values;  ///< one a feature; "": none
};

/// Annotations by the names of features, as models and results keep them.
struct Annotations {
  std::vector<std::string> columns;
  std::map<std::string, std::vector<std::string>, std::less<>> texts;  ///< by feature: one text a column

  bool empty() const { return columns.empty(); }
  /// One text a column; a feature that has no annotation has empty ones.
  std::vector<std::string> of(std::string_view feature) const;
};

/// Columns that are neither features nor labels. Lists are empty or have an entry for each row.
struct RowColumns {
  std::vector<float> weights;           ///< how much each row counts in training
  std::vector<std::int32_t> times;      ///< place of each row in time, from 0; rows of one time have the same place
  std::string time_name;                ///< the column that `times` is from
  std::vector<std::int32_t> folds;      ///< the split that tests each row, from 0; -1: every split trains on it
  std::vector<std::string> fold_names;  ///< of each split
  std::string dates;                    ///< a column of dates that is no feature and in whose order the rows stand
};

template <class T>
class Dataset {
 public:
  Matrix<T> x;  ///< in CPU memory, owned or borrowed; to change its values call change_x()
  Target target;
  std::vector<std::string> feature_names;  ///< empty: features are named by position, from 1
  std::vector<std::string> row_names;      ///< ids of the rows (samples, cells); empty: the file has none
  /// States of nominal features (ARFF): the value k in x stands for levels[k]; empty for numeric features. The vector
  /// itself is empty when no feature is nominal.
  std::vector<std::vector<std::string>> levels;
  std::vector<AnnotationColumn> annotations;  ///< columns of text about the features, shown in results
  std::vector<std::int32_t> groups;  ///< group of each row (svmlight's qid, or a named CSV column); empty: none
  std::vector<std::string> group_names;
  RowColumns row_columns;
  std::string source;                 ///< where it came from, for messages
  std::string format;                 ///< name of the format it was read in; empty: it was not read
  std::vector<std::string> notes;     ///< decisions of the reader: a sentence each
  std::vector<KeptColumn> kept;       ///< columns that the reader was to keep
  std::shared_ptr<const void> owner;  ///< keeps borrowed memory alive; empty: the caller does

  std::int64_t rows() const { return sheaf::rows(x); }
  std::int64_t features() const { return sheaf::columns(x); }
  std::string feature_name(std::int64_t j) const {
    return feature_names.empty() ? std::to_string(j + 1) : feature_names[static_cast<std::size_t>(j)];
  }

  /// The matrix, to change its values: borrowed memory is copied first, and copies on devices are dropped.
  Matrix<T>& change_x();
  /// Another matrix in its place: copies on devices are dropped.
  void replace_x(Matrix<T> matrix);
  /// The same dataset over the same memory, which must outlive it.
  Dataset borrowed() const;
  /// Takes a matrix that is on its device already as the resident one there, in place of a copy of x, which it equals.
  void keep_resident(Matrix<T> on_device);

  // The matrix on a device, brought there at the first call and kept as long as the dataset. Safe to call from several
  // threads.
  /// Dense row-major, or compressed rows.
  const Matrix<T>& by_rows(Device device) const;
  /// Compressed columns, as the compressed rows of the transpose. Sparse data only.
  const SparseMatrix<T>& by_columns(Device device, int threads) const;
  /// Data that a backend derives from the matrix on a device: made at the first call with that name, and kept.
  std::shared_ptr<const void> cached(Device device, const std::string& name,
                                     const std::function<std::shared_ptr<const void>()>& make) const;

 private:
  struct Copy {
    Device device;
    std::optional<Matrix<T>> by_rows;  // never on the CPU, which uses x itself
    std::optional<SparseMatrix<T>> by_columns;
    std::map<std::string, std::shared_ptr<const void>> beside;
  };
  struct Copies {
    std::mutex mutex;
    std::vector<std::unique_ptr<Copy>> list;
  };
  Copy& copy_on(Device device) const;  // under the mutex

  std::shared_ptr<Copies> copies_ = std::make_shared<Copies>();
};

/// The dataset with some of its features, in the given order; rows, labels, groups and all names stay.
template <class T>
Dataset<T> take_features(const Dataset<T>& dataset, std::span<const std::int64_t> features, int threads);

/// The dataset with some of its rows, in the given order and as often as they are given; all names stay.
template <class T>
Dataset<T> take_rows(const Dataset<T>& dataset, std::span<const std::int32_t> rows, int threads);

/// The dataset in another precision, taking over names and labels.
template <class To, class From>
Dataset<To> convert_precision(Dataset<From> from, int threads);

/// The annotations of the features whose names are `wanted`; none: of all. A feature without any text is left out.
template <class T>
Annotations annotations_of(const Dataset<T>& dataset, std::span<const std::string> wanted = {});

/// Features by name, or position from 1. One that is not there, or stands twice, is a UsageError.
std::vector<std::int64_t> find_features(const std::vector<std::string>& wanted,
                                        const std::vector<std::string>& feature_names, std::int64_t features);

}  // namespace sheaf

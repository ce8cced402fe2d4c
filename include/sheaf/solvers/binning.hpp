// Discretisation: values become states, by rules that are learnt from one dataset, saved, and applied to others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/parameters.hpp>

namespace sheaf {

/// State of row i in feature j at codes[j * rows + i]. One byte each if no feature has over 256 states.
using DenseCodes = std::variant<Array<std::uint8_t>, Array<std::uint16_t>>;

/// Entries offsets[j] .. offsets[j+1] of feature j list, in ascending order, the rows whose state is not
/// common[j], and that state.
struct SparseCodes {
  Array<std::int64_t> offsets;
  Array<std::int32_t> examples;
  Array<std::uint16_t> codes;
  Array<std::uint16_t> common;
};

/// States are numbered from 0; a feature has `states[j]` of them, gaps counted.
struct BinnedTable {
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::vector<std::int32_t> states;
  std::variant<DenseCodes, SparseCodes> codes;
};

/// The class of each row, numbered from 0 in ascending order of the label; `names` has one entry for each class.
struct BinnedTarget {
  std::vector<std::int32_t> classes;
  std::vector<std::string> names;
};

enum class BinMethod : std::uint8_t {
  equal_width,      ///< bins of one width from the smallest to the largest value
  equal_frequency,  ///< bins of about equally many rows; equal values stay together
  mdlp,      ///< cuts that separate the classes, as many as the description length justifies (Fayyad, Irani 1993)
  as_given,  ///< whole numbers are the states: floor(x) - smallest
  /// Equal width; equal frequency for skewed features, of whose information equal width would keep less than half.
  automatic,
};
/// "equal-width", "equal-frequency", "mdlp", "as-given", "automatic". Unknown names are answered with the known ones.
BinMethod parse_bin_method(std::string_view text);
std::string_view to_string(BinMethod method);

/// A value that is missing (NaN) is an Error that names its place, or has a state of its own behind all others.
enum class MissingState : std::uint8_t { error, own };

struct BinningOptions {
  static constexpr std::int32_t most_bins = 65535;

  std::optional<BinMethod> method = {};  ///< none: equal width for a given number of bins, else automatic
  /// Equal width, equal frequency and automatic: 2 to most_bins, or 0: automatic_bins(). Others ignore it.
  std::int32_t bins = 0;
  MissingState missing = MissingState::error;
  std::int32_t target_bins = 0;                      ///< bins of a numeric target; 0: the labels are classes
  BinMethod target_method = BinMethod::equal_width;  ///< or equal_frequency
};

/// Whether the number of bins is left to automatic_bins().
bool has_automatic_bins(const BinningOptions& options);
/// 1 + log4(rows / classes), rounded down, but 3 at least: one more each time that the rows of a class become four
/// times as many, so that joint states of two features and the class have rows enough for their counts to mean
/// something.
std::int32_t automatic_bins(std::int64_t rows, std::int64_t classes);
/// The options with a method and a number of bins: an automatic one by the rows and by the classes that occur; without
/// a target by one class.
BinningOptions with_bins(BinningOptions options, std::int64_t rows, const BinnedTarget* target);

/// "5 bins of equal width", and the source of the number if it is automatic; of options as with_bins() has them.
std::string describe_bins(const BinningOptions& options, bool automatic);

/// How the values of one feature become states 0 .. states-1. Values outside the learnt range go to the first
/// or last state; missing ones to the state `states`.
struct BinRule {
  enum class Kind : std::uint8_t {
    width,     ///< min(states - 1, floor((x - low) * (states / (high - low)))); one state if low == high
    cuts,      ///< the number of cuts below x: a value equal to a cut lies to its left
    integers,  ///< floor(x) - low
    levels,    ///< of a nominal feature: x itself
  };
  Kind kind = Kind::width;
  std::int32_t states = 1;
  double low = 0;
  double high = 0;
  std::vector<double> cuts;         ///< ascending, states - 1 of them
  std::vector<std::string> levels;  ///< `states` of them

  std::int32_t operator()(double value) const;
  /// "1.5 to 2", "up to 3", "over 3", "7", "red"; "missing" for the state behind all others.
  std::string state_name(std::int32_t state) const;
  bool operator==(const BinRule&) const = default;
};

struct Binning {
  BinMethod method = BinMethod::equal_width;
  MissingState missing = MissingState::error;
  std::vector<BinRule> rules;              ///< one for each feature
  std::vector<std::string> feature_names;  ///< empty: features had no names

  std::int64_t features() const { return static_cast<std::int64_t>(rules.size()); }
};

/// The zeros that sparse data leave out count like any other value. Nominal features keep their levels as states,
/// whatever the method. mdlp needs `target`; other methods ignore it. Infinite values, and whole numbers
/// further apart than there are states, are Errors.
template <class T>
Binning learn_binning(const Context& context, const Dataset<T>& dataset, const BinningOptions& options,
                      const BinnedTarget* target = nullptr);

/// Sparse datasets stay sparse: the state of zero is the common one. Other feature counts, other names if both are
/// named, or other levels are Errors.
template <class T>
BinnedTable apply_binning(const Context& context, const Binning& binning, const Dataset<T>& dataset);

/// Both at once, in fewer passes over the dataset.
struct Binned {
  Binning binning;
  BinnedTable table;
  std::vector<std::string> notes;  ///< for the user
};
template <class T>
Binned learn_and_apply_binning(const Context& context, const Dataset<T>& dataset, const BinningOptions& options,
                               const BinnedTarget* target = nullptr);

/// The states as numbers, with the names and labels of `dataset`, which they were made from; nominal features stay
/// nominal if no value is missing. Sparse if the dataset is sparse and every common state is 0; else dense, if the
/// memory budget allows.
template <class T>
Dataset<T> states_dataset(const Context& context, const BinnedTable& table, const Dataset<T>& dataset);

/// The classes of a label: numbers ascending, names in the order of their bytes. With `target_bins` the numbers are
/// binned, and empty bins are dropped. A numeric target without `target_bins` is an Error, and so is no label.
BinnedTarget bin_target(const Target& target, const BinningOptions& options);

/// A readable text file, round-trip exact. A defect in it is a ParseError that names file:line:column.
void save_binning(const Binning& binning, const std::string& path);
Binning load_binning(const std::string& path);

template <>
const std::vector<Parameter<BinningOptions>>& parameters();

}  // namespace sheaf

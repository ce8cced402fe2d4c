// Every option of every options struct, stated once: flags, refusals, help, documentation, JSON and what a resumed
// search compares are made from these rows; the signatures and forms of other front ends can be. Defaults are read from
// the structs themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/io.hpp>
#include <sheaf/solvers/scaling.hpp>

namespace sheaf {

/// yes_no: on command lines a switch, --name or --no-name, whichever is not the default.
enum class ParameterType : std::uint8_t { text, name, yes_no, whole_number, number, texts, whole_numbers, numbers };

/// When a parameter of a model counts.
enum class ParameterUse : std::uint8_t {
  always,
  fit,     ///< if one model is trained
  search,  ///< if many are
  kind,    ///< the kind of model sets it, not its user
};

/// How a search takes several values of a parameter in place of one.
struct ParameterList {
  std::string value;         ///< placeholder of the list in help
  std::string help;          ///< of a search
  std::string default_text;  ///< likewise
  /// Reads numbers. None: values are names, separated by commas.
  std::function<std::vector<double>(std::string_view)> numbers = {};
};

/// One number for each row or feature.
template <class Options>
struct ParameterVector {
  bool per_row = false;  ///< else per feature
  /// Reads the numbers of so many rows or features from a file. A defect is a ParseError with its place.
  std::function<std::vector<double>(const std::string& path, std::int64_t count)> read;
  std::function<void(Options&, std::vector<double>)> set;
  std::function<std::vector<double>(const Options&)> get;
};

template <class Options>
struct Parameter {
  std::string name;                  ///< in lower case with hyphens: the flag is --name
  std::string value;                 ///< placeholder of the value in help: N, NAME, BYTES ...
  std::string help;                  ///< one sentence without a full stop
  std::string default_text;          ///< as help shows it; empty: nothing to show
  std::vector<std::string> choices;  ///< the known names; empty: anything
  /// Reads the value from text. Not understood, or out of range: a UsageError that states the expected form.
  std::function<void(Options&, std::string_view)> set;
  /// The value as set() would read it; empty: nothing is given.
  std::function<std::string(const Options&)> get = {};
  ParameterType type = ParameterType::text;
  double low = std::numeric_limits<double>::lowest();  ///< both ends belong to the range
  double high = std::numeric_limits<double>::max();
  ParameterUse use = ParameterUse::always;
  std::vector<std::string> kinds = {};                  ///< of models that have it; empty: all of the family
  std::optional<ParameterList> list = {};               ///< none: a search takes one value
  std::optional<ParameterVector<Options>> vector = {};  ///< none: it is one value
};

/// "0.1,1,10", or "0.001:1000:7" for 7 numbers from 0.001 to 1000 in equal steps of the logarithm. Ascending, each
/// once. `name` stands for them in messages.
std::vector<double> parse_numbers(std::string_view text, std::string_view name);

/// The number type of datasets and models.
enum class Precision : std::uint8_t { float32, float64 };
struct PrecisionOptions {
  Precision precision = Precision::float64;  ///< so that written data equal the read data
};
struct ScaleOptions {
  ScaleMethod method = Scaling{}.method;
};

/// The rows of an options struct, in the order help shows them.
template <class Options>
const std::vector<Parameter<Options>>& parameters();

template <>
const std::vector<Parameter<Context::Options>>& parameters();
template <>
const std::vector<Parameter<PrecisionOptions>>& parameters();
template <>
const std::vector<Parameter<ReadOptions>>& parameters();
template <>
const std::vector<Parameter<WriteOptions>>& parameters();
template <>
const std::vector<Parameter<ScaleOptions>>& parameters();

}  // namespace sheaf

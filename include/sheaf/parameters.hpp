// Every option of every options struct, said once: flags, refusals, help, documentation, JSON and what a resumed search
// compares are made from these rows; the signatures and forms of other front ends can be. Defaults are read from the
// structs themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/io.hpp>
#include <sheaf/scaling.hpp>

namespace sheaf {

/// yes_no: on command lines a switch, --name or --no-name, whichever is not the default.
enum class ParameterType : std::uint8_t { text, name, yes_no, whole_number, number, texts, whole_numbers, numbers };

template <class Options>
struct Parameter {
  std::string name;                  ///< in lower case with hyphens: the flag is --name
  std::string value;                 ///< what stands for the value in help: N, NAME, BYTES ...
  std::string help;                  ///< one sentence without a full stop
  std::string default_text;          ///< as help shows it; empty: nothing to show
  std::vector<std::string> choices;  ///< the known names; empty: anything
  /// Reads the value from text. Not understood, or out of range: a UsageError that says what was expected.
  std::function<void(Options&, std::string_view)> set;
  /// The value as set() would read it; empty: nothing is given.
  std::function<std::string(const Options&)> get = {};
  ParameterType type = ParameterType::text;
  double low = std::numeric_limits<double>::lowest();  ///< both ends belong to the range
  double high = std::numeric_limits<double>::max();
};

/// The number type of datasets and models.
enum class Precision : std::uint8_t { float32, float64 };
struct PrecisionOptions {
  Precision precision = Precision::float64;  ///< so that what is written is what was read
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

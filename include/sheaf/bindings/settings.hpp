// Options from names and texts, by the rows of the parameter table, as on the command line.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <sheaf/sheaf.hpp>

namespace sheaf::bindings {

/// An option by its name in the parameter table. `argument`: that of the package's function which it comes from; empty:
/// errors name the option alone.
struct Setting {
  std::string option, text, argument = {};
};
using Settings = std::vector<Setting>;

/// Calls work(); an error names the argument that it came from.
template <class Work>
void name_argument(const Setting& setting, const Work& work) {
  if (setting.argument.empty()) return work();
  try {
    work();
  } catch (const Error& error) {
    throw UsageError("argument '" + setting.argument + "': " + error.what());
  }
}

/// Unknown names are answered with the known ones.
template <class Options>
void set_option(Options& options, const Setting& setting) {
  std::string known;
  for (const auto& row : parameters<Options>()) {
    if (row.name == setting.option) return name_argument(setting, [&] { row.set(options, setting.text); });
    known += (known.empty() ? "" : ", ") + row.name;
  }
  name_argument(setting, [&] { throw UsageError("unknown parameter '" + setting.option + "'; known are " + known); });
}
template <class Options>
void set_options(Options& options, const Settings& settings) {
  for (const auto& setting : settings) set_option(options, setting);
}
inline void set_options(ModelOptions& options, const Settings& settings) {
  for (const auto& row : settings) name_argument(row, [&] { set_parameter(options, row.option, row.text); });
}

/// The values that a search of one kind of model tries.
inline SearchSpace space_of(const ModelOptions& options, const Settings& tried) {
  SearchSpace space(options);
  for (const auto& row : tried) name_argument(row, [&] { set_parameter(space, row.option, row.text); });
  return space;
}
/// The same of several models by their names: options and values to try are those of each model that has them.
inline SearchSpace space_of_several(const std::string& names, const PipelineOptions& pipeline, const Settings& options,
                                    const Settings& tried) {
  auto space = space_of_models(names, pipeline);
  for (const auto* settings : {&options, &tried})
    for (const auto& row : *settings) name_argument(row, [&] { set_parameter_of_models(space, row.option, row.text); });
  return space;
}

inline bool is_single(const Setting& precision) {
  PrecisionOptions options;
  set_option(options, precision);
  return options.precision == Precision::float32;
}

}  // namespace sheaf::bindings

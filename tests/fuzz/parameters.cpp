// Options by text, as command lines, JSON, Python and R give them; and declarations of CUDA snippets.
#include <sheaf/sheaf.hpp>

#include "fuzz/reader_check.hpp"
#include "fuzz/targets.hpp"
#include "snippets/declare.hpp"

namespace sheaf::fuzz {
namespace {

/// Every row of that name, whatever its struct: a value that set() takes, get() gives so that set() takes it again.
template <class Options>
void check_rows(std::string_view name, std::string_view value) {
  for (const auto& row : parameters<Options>()) {
    if (row.name != name) continue;
    Options options;
    try {
      row.set(options, value);
    } catch (const Error&) {
      continue;
    }
    const auto text = row.get(options);
    if (text.empty()) continue;
    Options again;
    row.set(again, text);
    expect(row.get(again) == text, "a value that was given reads back the same");
  }
}

template <class... Options>
void check_all(std::string_view name, std::string_view value) {
  (check_rows<Options>(name, value), ...);
}

/// One value, and a list of values to try.
void check_space(const ModelKind& kind, std::string_view name, std::string_view value) {
  auto options = kind.options;
  SearchSpace space(kind.options);
  try {
    set_parameter(options, name, value);
  } catch (const Error&) {
  }
  try {
    set_parameter(space, name, value);
    for (const double number : space.numbers(name)) expect(std::isfinite(number), "values to try are finite");
  } catch (const Error&) {
  }
}

}  // namespace

/// Lines of "name=value".
void check_parameters(std::string_view input) {
  while (!input.empty()) {
    const auto end = std::min(input.find('\n'), input.size());
    const auto line = input.substr(0, end);
    const auto middle = std::min(line.find('='), line.size());
    const auto value = line.substr(std::min(middle + 1, line.size()));
    check_all<Context::Options, PrecisionOptions, ReadOptions, WriteOptions, ScaleOptions, GenerateOptions, PsmOptions,
              BinningOptions, PipelineOptions, LinearOptions, SvmOptions, NetOptions, GlmOptions, KnnOptions,
              DistanceOptions, NeighborOptions, SelectionOptions, EnsembleOptions, SearchOptions, RescoreOptions>(
        line.substr(0, middle), value);
    for (const auto& kind : model_kinds()) check_space(kind, line.substr(0, middle), value);
    try {
      for (const double number : parse_numbers(value, "numbers")) expect(std::isfinite(number), "numbers are finite");
    } catch (const Error&) {
    }
    input.remove_prefix(std::min(end + 1, input.size()));
  }
}

void check_snippet(std::string_view input) {
  try {
    for (const auto& one : snippets::parse_declarations(input, "in")) expect(!one.name.empty(), "it has a name");
  } catch (const Error&) {
  }
  try {
    snippets::parse_kernel(input, "f");
  } catch (const Error&) {
  }
}

}  // namespace sheaf::fuzz

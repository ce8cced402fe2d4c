// The rows of what is added to each row's decision value, which generalised linear models and nets have alike: into the
// member `offsets` of their options.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <sheaf/solvers/glm.hpp>

#include "core/fail.hpp"
#include "data/parameter_rows.hpp"

namespace sheaf::linear {

template <class Options>
Parameter<Options> exposure_row() {
  return vector_row<Options>("exposure", "over how much each row's target was counted: one number above 0 to a line",
                             {true, read_exposures,
                              [](Options& options, std::vector<double> numbers) {
                                if (!options.offsets.empty())
                                  fail_usage("an exposure is the same as an offset of its logarithm; give one");
                                for (double& number : numbers) {
                                  if (!(number > 0)) fail_usage("an exposure is above 0, not {}", number);
                                  number = std::log(number);
                                }
                                options.offsets = std::move(numbers);
                              },
                              [](const Options&) { return std::vector<double>(); }});
}

template <class Options>
Parameter<Options> offset_row() {
  return vector_row<Options>(
      "offset",
      "number added to each row's decision value, one number to a line; multinomial: to those of all classes, one "
      "number each, in the order in which sheaf info lists them",
      {true, read_offsets,
       [](Options& options, std::vector<double> numbers) {
         if (!options.offsets.empty()) fail_usage("an exposure is the same as an offset of its logarithm; give one");
         options.offsets = std::move(numbers);
       },
       [](const Options& options) { return options.offsets; }});
}

}  // namespace sheaf::linear

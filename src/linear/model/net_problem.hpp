// What a table and the options of elastic nets make of a sheaf: shared by training and the studies above.
#pragma once

#include <span>
#include <vector>

#include <sheaf/elastic_net_model.hpp>

#include "linear/model/problem.hpp"

namespace sheaf::linear {

/// Classes and their order are those of other linear models.
struct NetProblem {
  Problem problem;                 // its sheaf's targets are the nets'
  std::vector<float> row_weights;  // those given times those of the classes; empty: all 1
};

/// Options of a linear model whose labels are understood, and whose decision values are scored, as those of the net.
LinearOptions scored_as(const NetOptions& options, bool classes);

/// Labels that do not suit, a single class, and weights that are not 0 or more are Errors.
NetProblem make_net_problem(const Context& context, const Target& target, const std::string& source, std::int64_t rows,
                            const NetOptions& options, std::span<const float> row_weights);

NetParams net_params(const NetOptions& options);

}  // namespace sheaf::linear

// LIBLINEAR's own library (Debian: liblinear-dev), the peer of our linear models on the CPU. Trained in this process on
// the same matrix, so that reading files is not part of any figure.
#pragma once

#include <vector>

#include <sheaf/dataset.hpp>

namespace sheaf::bench {

struct PeerFit {
  double seconds = 0;
  std::vector<double> weights;  ///< of the class that is positive in Sheaf; the bias, if there is one, last
};

/// Whether the library was found when this was built.
bool have_liblinear();

/// Solver 0 (logistic) or 2 (squared hinge) on a two-class problem with targets +1 / -1; one thread, as it is.
PeerFit liblinear_fit(const SparseMatrix<double>& x, const std::vector<double>& targets, int solver, double cost,
                      double tolerance);

}  // namespace sheaf::bench

// LIBSVM's own library (Debian: libsvm-dev), the peer of our SVMs on the CPU. Trained in this process on the
// same rows, so that reading files is not part of any figure.
#pragma once

#include <vector>

#include <sheaf/dataset.hpp>
#include <sheaf/solvers/svm.hpp>

namespace sheaf::bench {

struct PeerSvms {
  double seconds = 0;
  double processor = 0;  ///< processor seconds
  double objective = 0;  ///< sum over all pairs of classes
  std::int64_t support_vectors = 0;
  double predict_seconds = 0;
  std::vector<std::int32_t> predicted;  ///< classes of the unseen rows
};

/// Whether the library was found when this was built.
bool have_libsvm();

/// C-SVC with an RBF kernel, one class against one, one thread, `cache` megabytes; then the classes of `unseen`.
PeerSvms libsvm_fit(const SparseMatrix<double>& x, const std::vector<std::int32_t>& classes, double cost, double gamma,
                    double tolerance, double cache, const SparseMatrix<double>* unseen);

}  // namespace sheaf::bench

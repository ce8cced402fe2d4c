#include "peers/liblinear.hpp"

#include "core/fail.hpp"
#include "timing.hpp"

#if SHEAF_PEER_LIBLINEAR
#include <linear.h>

namespace sheaf::bench {

bool have_liblinear() { return true; }

PeerFit liblinear_fit(const SparseMatrix<double>& x, const std::vector<double>& targets, int solver, double cost,
                      double tolerance) {
  std::vector<feature_node> nodes;
  nodes.reserve(static_cast<std::size_t>(x.nonzeros() + x.rows));
  std::vector<feature_node*> rows;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    rows.push_back(nodes.data() + nodes.size());
    for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k) nodes.push_back({x.indices[k] + 1, x.values[k]});
    nodes.push_back({-1, 0});
  }
  std::vector<double> y = targets;
  problem data{};
  data.l = static_cast<int>(x.rows);
  data.n = static_cast<int>(x.columns);
  data.y = y.data();
  data.x = rows.data();
  data.bias = -1;
  parameter options{};
  options.solver_type = solver;
  options.eps = tolerance;
  options.C = cost;
  set_print_string_function([](const char*) {});
  if (const char* complaint = check_parameter(&data, &options)) fail("LIBLINEAR: {}", complaint);
  const double start = now();
  model* trained = train(&data, &options);
  PeerFit result;
  result.seconds = now() - start;
  const double sign = trained->label[0] > 0 ? 1 : -1;
  for (std::int64_t j = 0; j < x.columns; ++j) result.weights.push_back(sign * trained->w[j]);
  free_and_destroy_model(&trained);
  return result;
}

}  // namespace sheaf::bench

#else

namespace sheaf::bench {

bool have_liblinear() { return false; }
PeerFit liblinear_fit(const SparseMatrix<double>&, const std::vector<double>&, int, double, double) {
  fail("this benchmark was built without LIBLINEAR");
}

}  // namespace sheaf::bench

#endif

#include "peers/libsvm.hpp"

#include "core/fail.hpp"
#include "timing.hpp"

#if SHEAF_PEER_LIBSVM
#include <cstdlib>
#include <cstring>
#include <string>

#include <svm.h>

namespace sheaf::bench {
namespace {

std::string printed;  // LIBSVM passes objectives to its print function alone

struct Nodes {
  std::vector<svm_node> nodes;
  std::vector<svm_node*> rows;
};

Nodes nodes_of(const SparseMatrix<double>& x) {
  Nodes result;
  result.nodes.reserve(static_cast<std::size_t>(x.nonzeros() + x.rows));
  for (std::int64_t i = 0; i < x.rows; ++i) {
    result.rows.push_back(result.nodes.data() + result.nodes.size());
    for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k)
      result.nodes.push_back({x.indices[k] + 1, x.values[k]});
    result.nodes.push_back({-1, 0});
  }
  return result;
}

double printed_objectives() {
  double sum = 0;
  for (const char* at = std::strstr(printed.c_str(), "obj = "); at != nullptr; at = std::strstr(at + 1, "obj = "))
    sum += std::atof(at + 6);
  return sum;
}

}  // namespace

bool have_libsvm() { return true; }

PeerSvms libsvm_fit(const SparseMatrix<double>& x, const std::vector<std::int32_t>& classes, double cost, double gamma,
                    double tolerance, double cache, const SparseMatrix<double>* unseen) {
  Nodes nodes = nodes_of(x);
  std::vector<double> y(classes.begin(), classes.end());
  svm_problem problem{static_cast<int>(x.rows), y.data(), nodes.rows.data()};
  svm_parameter options{};
  options.svm_type = C_SVC;
  options.kernel_type = RBF;
  options.gamma = gamma;
  options.C = cost;
  options.eps = tolerance;
  options.cache_size = cache;
  options.shrinking = 1;
  printed.clear();
  svm_set_print_string_function([](const char* text) { printed += text; });
  if (const char* complaint = svm_check_parameter(&problem, &options)) fail("LIBSVM: {}", complaint);
  PeerSvms result;
  double start = now();
  const double processor = processor_seconds();
  svm_model* model = svm_train(&problem, &options);
  result.seconds = now() - start;
  result.processor = processor_seconds() - processor;
  result.support_vectors = svm_get_nr_sv(model);
  result.objective = printed_objectives();
  if (unseen != nullptr) {
    const Nodes rows = nodes_of(*unseen);
    start = now();
    for (const svm_node* row : rows.rows)
      result.predicted.push_back(static_cast<std::int32_t>(svm_predict(model, row)));
    result.predict_seconds = now() - start;
  }
  svm_free_and_destroy_model(&model);
  return result;
}

}  // namespace sheaf::bench

#else

namespace sheaf::bench {

bool have_libsvm() { return false; }
PeerSvms libsvm_fit(const SparseMatrix<double>&, const std::vector<std::int32_t>&, double, double, double, double,
                    const SparseMatrix<double>*) {
  fail("this benchmark was built without LIBSVM");
}

}  // namespace sheaf::bench

#endif

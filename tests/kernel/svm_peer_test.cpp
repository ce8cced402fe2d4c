// Kernel SVMs beside Debian's svm-train, if it is installed: the same dual objectives and as many support vectors, on
// generated datasets, on those of tests/golden and on larger ones of shared/data beside the checkout.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sheaf/generate.hpp>
#include <sheaf/io.hpp>
#include <sheaf/solvers/svm.hpp>

#include "devices.hpp"
#include "golden.hpp"
#include "svm_reference.hpp"

namespace sheaf::test {
namespace svm_peer_test {

struct Case {
  std::string data;  // of find_data; empty: a generated dataset
  SvmKind kind;
  KernelParams kernel;
  double cost = 1;
  double nu = 0.5;
  double epsilon = 0.1;
};

const std::vector<Case> cases{
    {"", SvmKind::c_svc, {.gamma = 0.02}, 2},
    {"", SvmKind::nu_svc, {.gamma = 0.02}, 1, 0.4},
    {"", SvmKind::one_class, {.gamma = 0.02}, 1, 0.2},
    {"heart_scale", SvmKind::c_svc, {.type = KernelType::polynomial, .degree = 2, .gamma = 0.1, .coef0 = 1}},
    {"heart_scale", SvmKind::c_svc, {.gamma = 0.1}},
    {"heart_scale", SvmKind::nu_svc, {.gamma = 0.1}, 1, 0.3},
    {"heart_scale", SvmKind::c_svc, {.type = KernelType::linear}},
    {"heart_scale", SvmKind::c_svc, {.type = KernelType::sigmoid, .gamma = 0.02}},
    {"breast-cancer", SvmKind::one_class, {.gamma = 0.001}, 1, 0.1},
    {"diabetes", SvmKind::c_svc, {.gamma = 0.0001}, 4},
    {"german.numer", SvmKind::c_svc, {.gamma = 0.04}, 8},
    {"ionosphere", SvmKind::c_svc, {.gamma = 0.5}, 8},
    {"sonar_scale", SvmKind::c_svc, {.gamma = 0.1}, 16},
    {"splice", SvmKind::c_svc, {.gamma = 0.02}, 1},
    {"vehicle", SvmKind::c_svc, {.gamma = 0.0001}, 64},
    {"vowel", SvmKind::c_svc, {.gamma = 1}, 16},
    {"wine", SvmKind::c_svc, {.gamma = 0.0001}, 16},
    {"iris", SvmKind::c_svc, {.gamma = 0.5}, 1},
    {"glass", SvmKind::c_svc, {.gamma = 0.5}, 32},
    {"digits8x8", SvmKind::c_svc, {.gamma = 0.001}, 4},
    {"mushrooms", SvmKind::c_svc, {.gamma = 0.01}, 1},
    {"housing_scale", SvmKind::epsilon_svr, {.gamma = 0.2}, 8, 0.5, 0.2},
    {"housing_scale", SvmKind::nu_svr, {.gamma = 0.2}, 8, 0.4},
    {"abalone", SvmKind::epsilon_svr, {.gamma = 1}, 2, 0.5, 0.5},
};

/// Both sides are solved until their objectives agree on every architecture. The nu kinds report values divided by the
/// square of a small margin.
double tolerance_of(const Case& one) {
  return one.kind == SvmKind::nu_svc || one.kind == SvmKind::nu_svr ? 1e-6 : 1e-5;
}

/// Kernel values in single precision show in the objective of nu-SVC: its margin is small.
double objective_error(const Case& one) { return one.kind == SvmKind::nu_svc ? 1e-5 : 1e-6; }

struct Peer {
  double objective = 0;
  std::int64_t support_vectors = 0;
};

class SvmPeer : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/usr/bin/svm-train")) GTEST_SKIP() << "libsvm-tools are not installed";
    folder_ = std::filesystem::temp_directory_path() / ("sheaf-svm-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  /// Labels are the sheaf's: classes, values, or 1.
  void write(const Dataset<double>& dataset, const SvmSheaf& sheaf) const {
    const Rows rows = rows_of(dataset);
    std::ofstream out(folder_ / "data");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      out << (!sheaf.classes.empty()  ? fmt::format("{}", sheaf.classes[i])
              : !sheaf.values.empty() ? fmt::format("{}", sheaf.values[i])
                                      : "1");
      for (std::size_t j = 0; j < rows[i].size(); ++j)
        if (rows[i][j] != 0) out << fmt::format(" {}:{}", j + 1, rows[i][j]);
      out << '\n';
    }
  }

  Peer run(const Case& one) const {
    const auto line =
        fmt::format("cd '{}' && svm-train -s {} -t {} -d {} -g {} -r {} -c {} -n {} -p {} -e {} data model > out",
                    folder_.string(), static_cast<int>(one.kind), static_cast<int>(one.kernel.type), one.kernel.degree,
                    one.kernel.gamma, one.kernel.coef0, one.cost, one.nu, one.epsilon, tolerance_of(one));
    EXPECT_EQ(std::system(line.c_str()), 0) << line;
    std::ifstream out(folder_ / "out");
    Peer peer;
    for (std::string text; std::getline(out, text);) {
      if (text.starts_with("obj = ")) peer.objective += std::stod(text.substr(6));
      if (text.starts_with("nSV = ")) peer.support_vectors += std::stoll(text.substr(6));
    }
    return peer;
  }

  std::filesystem::path folder_;
};

Dataset<double> load(const std::string& name, const std::string& path) {
  if (!name.empty()) return read_dataset<double>(Context(), path);
  GenerateOptions options;
  options.rows = 500;
  options.features = 20;
  options.classes = 4;
  return generate<double>(Context(), options).dataset;
}

SvmSheaf sheaf_of(const Case& one, const Dataset<double>& dataset) {
  SvmSheaf sheaf;
  sheaf.kind = one.kind;
  sheaf.examples = dataset.rows();
  const SvmTask task{.cost_positive = one.cost, .cost_negative = one.cost, .nu = one.nu, .epsilon = one.epsilon};
  if (one.kind == SvmKind::c_svc || one.kind == SvmKind::nu_svc) {
    sheaf.classes = dataset.target.classes;
    const auto classes = static_cast<std::int32_t>(dataset.target.class_names.size());
    for (std::int32_t a = 0; a < classes; ++a)
      for (std::int32_t b = a + 1; b < classes; ++b) {
        sheaf.tasks.push_back(task);
        sheaf.tasks.back().positive = a;
        sheaf.tasks.back().negative = b;
      }
  } else {
    if (one.kind != SvmKind::one_class) sheaf.values = dataset.target.values;
    sheaf.tasks = {task};
  }
  return sheaf;
}

TEST_F(SvmPeer, SameObjectivesAndSupportVectors) {
  for (const Case& one : cases) {
    const auto path = find_data(one.data);
    if (!one.data.empty() && path.empty()) {
      std::printf("skipped: %s, which is not beside this checkout\n", one.data.c_str());
      continue;
    }
    const auto dataset = load(one.data, path);
    const SvmSheaf sheaf = sheaf_of(one, dataset);
    write(dataset, sheaf);
    const Peer peer = run(one);
    for (const Device device : devices()) {
      SCOPED_TRACE(fmt::format("{} kind {} kernel {} on {}", one.data, static_cast<int>(one.kind),
                               static_cast<int>(one.kernel.type), to_string(device)));
      SvmParams params;
      params.kernel = one.kernel;
      params.tolerance = tolerance_of(one);
      Context::Options options;
      options.device = device;
      const auto fits = train_sheaf(Context(options), dataset, sheaf, params);
      double objective = 0;
      std::int64_t support_vectors = 0;
      for (const SvmFit& fit : fits.tasks) {
        EXPECT_TRUE(fit.converged);
        objective += fit.objective;
        support_vectors += static_cast<std::int64_t>(fit.svm.rows.size());
      }
      EXPECT_NEAR(objective, peer.objective, objective_error(one) * std::abs(peer.objective));
      const auto count = static_cast<double>(peer.support_vectors);
      // On small tables a vector at the edge counts for more than a hundredth.
      EXPECT_NEAR(static_cast<double>(support_vectors), count,
                  0.01 * count + static_cast<double>(sheaf.tasks.size()) + 2);
    }
  }
}

}  // namespace svm_peer_test
}  // namespace sheaf::test

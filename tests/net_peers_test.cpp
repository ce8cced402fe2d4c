// sheaf fit for elastic nets beside scikit-learn and R's glmnet, where they are installed: the same weights at matched
// objectives. Real tables are taken where they lie beside the checkout.
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <sheaf/linear_model.hpp>

#include "devices.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace {

struct Case {
  std::string data;  // of shared/data, or KIND:OPTIONS of sheaf generate
  double share;      // alpha as a share of the one from which on all weights are 0
  double l1_ratio;
  bool logistic = false;
  bool standardise = false;  // glmnet only
  bool weighted = false;
};

const std::vector<Case> cases{
    {"regression:--rows 60 --features 200", 0.1, 0.5},
    {"regression:--rows 60 --features 200", 0.05, 1, false, true},
    {"regression:--rows 300 --features 20", 0.02, 0.2, false, true, true},
    {"classification:--rows 80 --features 150", 0.1, 0.9},
    {"classification:--rows 80 --features 150", 0.1, 0.5, true},
    {"classification:--rows 300 --features 20", 0.02, 1, true, true},
    {"text:--rows 100 --features 800", 0.1, 0.5, true, false, true},
    {"leukemia", 0.1, 0.5},
    {"leukemia", 0.2, 0.9, true, true},
    {"colon-cancer", 0.1, 1, false, true},
    {"colon-cancer", 0.2, 0.5, true},
    {"riboflavin", 0.1, 0.5, false, true},
};

class NetPeers : public ProgramTest {
 protected:
  /// Makes the table a case names, with the label last; whether it could.
  bool make(const std::string& data) const {
    const auto colon = data.find(':');
    std::string line =
        "sheaf generate " + data.substr(0, colon) + " data.csv " + data.substr(std::min(colon + 1, data.size()));
    if (colon == std::string::npos) {
      const auto real = std::string(SHEAF_TESTS_DIR) + "/../../shared/data/" + data + "/train.libsvm.xz";
      if (!std::filesystem::exists(real)) return false;
      line = "sheaf convert " + real + " data.csv";
    }
    line += " --quiet; rows=$(wc -l < data.csv); for ((i = 1; i < rows; ++i)); do echo $((1 + i % 3)); done > weights";
    return shell(line).code == 0;
  }

  /// alpha, from the message that one is missing.
  double alpha_of(const Case& c) const {
    const auto message = shell("sheaf fit data.csv --output m " + kind(c)).err;
    const std::string before = "from ";
    return c.share * std::stod(message.substr(message.find(before) + before.size()));
  }

  static std::string kind(const Case& c) {
    return std::string("--model ") + (c.logistic ? "elastic-net-logistic" : "elastic-net") + " --l1-ratio " +
           std::to_string(c.l1_ratio) + (c.standardise ? " --standardise" : "") +
           (c.weighted ? " --row-weights weights" : "");
  }

  /// Intercept first.
  std::vector<double> fit(const Case& c, double alpha, Device device) const {
    const auto outcome = shell("sheaf fit data.csv --output m --quiet --tolerance 1e-12 --max-epochs 1000000 " +
                               kind(c) + " --alpha " + fmt::format("{}", alpha) + " --device " + to_string(device));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto model = parse_model(file("m"), "m");
    EXPECT_TRUE(model.net && model.net->fits.front().converged);
    std::vector<double> weights{model.weights.back()};
    weights.insert(weights.end(), model.weights.begin(), model.weights.end() - 1);
    // Of two classes that are not +1 and -1, ours speaks for the first that appears and theirs for the larger.
    if (!model.class_names.empty() && std::stod(model.class_names[0]) < std::stod(model.class_names[1]))
      for (double& weight : weights) weight = -weight;
    return weights;
  }

  std::vector<double> numbers(const std::string& name) const {
    std::istringstream in(file(name));
    std::vector<double> result;
    for (double value = 0; in >> value;) result.push_back(value);
    return result;
  }

  /// Runs one peer's script, once for all cases that it can do.
  template <class Applies>
  void compare(const std::string& program, const std::string& script, double tolerance, const Applies& applies) const {
    write("script", script);
    std::vector<Asked> asked;
    std::string list;
    for (const auto& c : cases) {
      if (!applies(c) || !make(c.data)) continue;
      asked.push_back({c, alpha_of(c), {}});
      for (const Device device : devices()) asked.back().found.push_back(fit(c, asked.back().alpha, device));
      ASSERT_EQ(shell(fmt::format("mv data.csv data{0}; mv weights weights{0}", asked.size())).code, 0);
      list += fmt::format("{} {} {} {} {}\n", asked.back().alpha, c.l1_ratio, c.logistic ? 1 : 0, c.standardise ? 1 : 0,
                          c.weighted ? 1 : 0);
    }
    write("cases", list);
    const auto peer = shell(program + " script");
    ASSERT_EQ(peer.code, 0) << peer.err;
    for (std::size_t k = 0; k < asked.size(); ++k)
      for (const auto& ours : asked[k].found)
        expect_near(ours, numbers("theirs" + std::to_string(k + 1)), tolerance, asked[k].c);
    EXPECT_GE(asked.size(), 4U);
  }

 private:
  struct Asked {
    Case c;
    double alpha;
    std::vector<std::vector<double>> found;  // of each device
  };

  static void expect_near(const std::vector<double>& ours, const std::vector<double>& theirs, double tolerance,
                          const Case& c) {
    ASSERT_EQ(ours.size(), theirs.size());
    double largest = 0;
    for (std::size_t j = 1; j < theirs.size(); ++j) largest = std::max(largest, std::abs(theirs[j]));
    ASSERT_GT(largest, 0);
    for (std::size_t j = 0; j < ours.size(); ++j)
      EXPECT_NEAR(ours[j], theirs[j], tolerance * std::max(largest, j == 0 ? std::abs(theirs[0]) : 0.0))
          << c.data << " l1-ratio " << c.l1_ratio << (c.logistic ? " logistic" : "") << ", weight " << j;
  }
};

constexpr const char* scikit_learn = R"py(import numpy as np
from sklearn.linear_model import ElasticNet, LogisticRegression
for k, (alpha, l1, logistic, standardise, weighted) in enumerate(np.atleast_2d(np.loadtxt("cases")), 1):
    table = np.loadtxt(f"data{k}", delimiter=",", skiprows=1)
    x, y = table[:, :-1], table[:, -1]
    if len(set(y)) == 2:
        y = np.where(y == max(y), 1.0, -1.0)
    s = np.loadtxt(f"weights{k}") if weighted else np.ones(len(y))
    if logistic:
        model = LogisticRegression(penalty="elasticnet", solver="saga", l1_ratio=l1, C=1 / (alpha * s.sum()), tol=1e-9,
                                   max_iter=200000).fit(x, y, s)
        found = [model.intercept_[0], *model.coef_[0]]
    else:
        model = ElasticNet(alpha=alpha, l1_ratio=l1, tol=1e-13, max_iter=1000000).fit(x, y, s)
        found = [model.intercept_, *model.coef_]
    np.savetxt(f"theirs{k}", np.array(found), fmt="%.17g")
)py";

// Its gaussian family divides y by its deviation first, which makes the L2 penalty that many times weaker; a path that
// ends at the lambda is how it is meant to be used.
constexpr const char* glmnet = R"r(suppressMessages(library(glmnet))
cases <- as.matrix(read.table("cases"))
for (k in seq_len(nrow(cases))) {
  a <- cases[k, ]
  weights <- scan(paste0("weights", k), quiet = TRUE)
  table <- matrix(scan(paste0("data", k), sep = ",", skip = 1, quiet = TRUE), nrow = length(weights), byrow = TRUE)
  x <- table[, -ncol(table)]
  y <- table[, ncol(table)]
  s <- if (a[5]) weights else rep(1, length(y))
  if (length(unique(y)) == 2) y <- ifelse(y == max(y), 1, -1)
  alpha <- a[1]; l1 <- a[2]
  if (a[3]) {
    lambda <- alpha; mix <- l1; family <- "binomial"; target <- factor(y)
  } else {
    mean <- sum(s * y) / sum(s)
    deviation <- sqrt(sum(s * (y - mean)^2) / sum(s))
    lambda <- alpha * l1 + deviation * alpha * (1 - l1); mix <- alpha * l1 / lambda; family <- "gaussian"; target <- y
  }
  path <- lambda * 2^(5:0)
  fit <- glmnet(x, target, weights = s, family = family, alpha = mix, lambda = path, standardize = a[4] == 1,
                thresh = 1e-16, maxit = 1e8)
  write(format(as.numeric(coef(fit)[, length(path)]), digits = 17), paste0("theirs", k), ncolumns = 1)
}
)r";

TEST_F(NetPeers, ScikitLearnFindsTheSameWeights) {
  if (shell("/usr/bin/python3 -c 'import sklearn'").code != 0) GTEST_SKIP() << "scikit-learn is not installed";
  compare("/usr/bin/python3", scikit_learn, 2e-4, [](const Case& c) {
    return !c.standardise && (!c.logistic || c.data != "colon-cancer");  // saga takes minutes there
  });
}

TEST_F(NetPeers, GlmnetFindsTheSameWeights) {
  if (shell("Rscript -e 'library(glmnet)'").code != 0) GTEST_SKIP() << "glmnet is not installed";
  compare("Rscript", glmnet, 2e-4, [](const Case&) { return true; });
}

}  // namespace
}  // namespace sheaf::test

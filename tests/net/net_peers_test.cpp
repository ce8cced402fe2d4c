// Elastic nets beside scikit-learn and R's glmnet themselves, if they are installed, on datasets of many features
// beside the checkout: the recipes of tests/golden, run on other data.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "net_results.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace net_peers_test {

class NetPeers : public ProgramTest {
 protected:
  /// Runs a recipe over the cases whose dataset is there, and compares.
  void compare(const std::string& recipe, const std::vector<std::string>& cases) const {
    std::string list;
    for (const auto& one : cases) {
      const auto name = one.substr(0, one.find(' '));
      if (find_data(name).empty()) continue;
      list += one + "\n";
      ASSERT_EQ(shell("sheaf convert '" + find_data(name) + "' " + name + ".libsvm --quiet").code, 0);
    }
    if (std::getenv("SHEAF_TEST_PEERS") == nullptr)
      GTEST_SKIP() << "training with the peers takes long: set SHEAF_TEST_PEERS; tests/golden holds results of theirs";
    if (list.empty()) GTEST_SKIP() << "shared/ with the datasets is not beside this checkout";
    write("list", list);
    const auto peer = shell(recipe + " list . results.json");
    ASSERT_EQ(peer.code, 0) << peer.err;
    expect_nets(nlohmann::json::parse(file("results.json")), 1e-4, find_data);
  }
};

TEST_F(NetPeers, ScikitLearnFindsTheSameWeights) {
  if (shell("/usr/bin/python3 -c 'import sklearn'").code != 0) GTEST_SKIP() << "scikit-learn is not installed";
  compare("/usr/bin/python3 '" + golden("sklearn/make.py") + "'",
          {"leukemia squared 0.5", "colon-cancer squared 1", "riboflavin squared 0.9 weighted",
           "splice logistic 1 no_intercept"});
}

TEST_F(NetPeers, GlmnetFindsTheSameWeights) {
  if (shell("Rscript -e 'library(glmnet)'").code != 0) GTEST_SKIP() << "glmnet is not installed";
  compare("Rscript '" + golden("glmnet/make.R") + "'",
          {"leukemia squared 0.5", "leukemia logistic 0.9 standardise", "colon-cancer squared 1 standardise",
           "colon-cancer logistic 0.5", "riboflavin squared 0.5 standardise", "duke logistic 1 weighted"});
}

}  // namespace net_peers_test
}  // namespace sheaf::test

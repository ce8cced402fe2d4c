#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include <sheaf/compare.hpp>
#include <sheaf/model.hpp>

#include "command.hpp"
#include "common.hpp"
#include "core/fail.hpp"
#include "family/family.hpp"
#include "terminal.hpp"
#include "text/compare_text.hpp"

namespace sheaf::cli {
namespace {

struct Compare {
  std::string first, metric;
  std::vector<std::string> others;
  Common common;

  void run() const {
    auto all = others;
    all.insert(all.begin(), first);
    if (std::all_of(all.begin(), all.end(), [](const auto& path) { return std::filesystem::is_regular_file(path); }))
      return compare_models();
    if (others.size() > 1) {
      const auto result = compare_searches(all, metric);
      return common.json() ? print_data(searches_json(result)) : print(searches_text(result));
    }
    const auto result = compare_searches(first, others.front(), metric);
    common.json() ? print_data(compare_json(result)) : print(compare_text(result, first, others.front()));
  }

  void compare_models() const {
    if (others.size() > 1)
      fail_usage("{} model files are given; a likelihood-ratio test compares two", others.size() + 1);
    const auto& second = others.front();
    if (!metric.empty()) fail_usage("--score is for searches; two models are compared by their likelihoods");
    const auto a = Model::load(first);
    const auto b = Model::load(second);
    for (const auto* model : {&a, &b})
      if (!find_family(model->family())->has_likelihood())
        fail_usage("{} is of the family {}: of single models only those with a likelihood ({}) are compared",
                   model == &a ? first : second, model->family(), kinds_with_likelihood());
    const auto test = a.trained().compare_likelihood(b.trained());
    const std::array fits{NamedLikelihood{first, a.trained().likelihood()},
                          NamedLikelihood{second, b.trained().likelihood()}};
    common.json() ? print_data(models_json(fits, test)) : print(models_text(fits, test));
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto compare = std::make_shared<Compare>();
  arguments.positional("DIR", compare->first,
                       "the results folder of a search, or the file of a generalised linear model");
  arguments.positionals("DIR2", compare->others,
                        "that of another search of the same dataset, splits and seed, or of several; or another model "
                        "of the same rows, which has all features of the first or a part of them");
  arguments.text("score", "NAME", compare->metric, "the score to compare by; default: what both were chosen by");
  compare->common.declare(arguments, {}, {.precision = false});
  return [compare] { compare->run(); };
}

}  // namespace

Command compare_command() {
  return {"compare",
          "Compare searches on the same splits by a corrected resampled t-test, or two generalised linear models by a "
          "likelihood-ratio test",
          {{"a linear model and an SVM", "sheaf compare linear-search svm-search"},
           {"three searches, each with the best of them", "sheaf compare linear-search svm-search knn-search"},
           {"by another score", "sheaf compare linear-search svm-search --score balanced-accuracy"},
           {"whether three more features matter", "sheaf compare few.model more.model"}},
          declare};
}

}  // namespace sheaf::cli

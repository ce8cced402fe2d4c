#include <memory>

#include <sheaf/compare.hpp>

#include "command.hpp"
#include "common.hpp"
#include "terminal.hpp"
#include "text/compare_text.hpp"

namespace sheaf::cli {
namespace {

struct Compare {
  std::string first, second, metric;
  Common common;

  void run() const {
    const auto result = compare_searches(first, second, metric);
    print(common.json() ? compare_json(result) : compare_text(result, first, second));
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto compare = std::make_shared<Compare>();
  arguments.positional("DIR", compare->first, "the results folder of a search");
  arguments.positional("DIR2", compare->second, "that of another search of the same dataset, splits and seed");
  arguments.text("score", "NAME", compare->metric, "the score to compare by; default: what both were chosen by");
  compare->common.declare(arguments, {}, {.precision = false});
  return [compare] { compare->run(); };
}

}  // namespace

Command compare_command() {
  return {"compare",
          "Compare the models of two searches on the same splits, by a corrected resampled t-test",
          {{"a linear model and an SVM", "sheaf compare linear-search svm-search"},
           {"by another score", "sheaf compare linear-search svm-search --score balanced-accuracy"}},
          declare};
}

}  // namespace sheaf::cli

#include <algorithm>
#include <cmath>

#include <sheaf/svm_search.hpp>

#include "core/fail.hpp"
#include "data/parameter_rows.hpp"
#include "search/svm_region.hpp"

namespace sheaf {
namespace {

using Row = Parameter<SvmSearchOptions>;

Row gamma_row() {
  auto set = [](SvmSearchOptions& options, std::string_view text) {
    const auto more = parse_costs(text, "gamma");
    options.gammas.insert(options.gammas.end(), more.begin(), more.end());
  };
  return {"gamma",
          "LIST|RANGE",
          "gammas to try: numbers A,B,C, or LOW:HIGH:COUNT in equal steps of the logarithm",
          "found from the data",
          {},
          std::move(set)};
}

Row degree_row() {
  auto set = [](SvmSearchOptions& options, std::string_view text) {
    while (!text.empty()) {
      const auto comma = text.find(',');
      options.degrees.push_back(parse_number<int>("degree", text.substr(0, comma), {0, 1000}));
      text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    }
  };
  return {"degree", "LIST", "degrees to try of a polynomial kernel: A,B,C", "3", {}, std::move(set)};
}

template <class Value>
void sort_once(std::vector<Value>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::vector<double> powers_of_two(int from, int to, int step) {
  std::vector<double> values;
  for (int k = from; k <= to; k += step) values.push_back(std::exp2(k));
  return values;
}

}  // namespace

SvmGridKind grid_kind(const SvmSearchOptions& options) {
  if (options.easy) return SvmGridKind::easy;
  return options.common.costs.empty() && options.gammas.empty() ? SvmGridKind::automatic : SvmGridKind::given;
}

SvmSearchOptions decided(SvmSearchOptions options) {
  auto& svm = options.svm;
  if (svm.kind == SvmKind::one_class)
    fail_usage("a search compares predictions with labels, which one-class machines do not learn from");
  const bool gamma = search::has_gamma(svm.kernel);
  if (!gamma && !options.gammas.empty()) fail_usage("the {} kernel has no gamma to try", to_string(svm.kernel));
  if (!kernel_function(svm.kernel).has_degree && !options.degrees.empty())
    fail_usage("the {} kernel has no degree to try", to_string(svm.kernel));
  auto& common = options.common;
  common.linear.loss = is_regression(svm.kind) ? Loss::squared_tube : Loss::squared_hinge;
  const auto kind = grid_kind(options);
  auto costs = common.costs;
  if (kind == SvmGridKind::easy) {
    costs = powers_of_two(-5, 15, 2);
    if (gamma) options.gammas = powers_of_two(-15, 3, 2);
  }
  common = decided(common);
  if (kind == SvmGridKind::automatic)
    common.costs.clear();
  else if (kind == SvmGridKind::easy)
    common.costs = costs;
  if (svm.kind == SvmKind::nu_svc && kind != SvmGridKind::automatic) common.costs = {1};
  if (kind != SvmGridKind::automatic && options.gammas.empty()) options.gammas = {0};
  if (options.degrees.empty()) options.degrees = {svm.degree};
  sort_once(options.gammas);
  sort_once(options.degrees);
  svm.cost = 1;
  return options;
}

template <>
const std::vector<Parameter<SvmSearchOptions>>& parameters() {
  using O = SvmSearchOptions;
  static const std::vector<Row> rows{
      gamma_row(),
      degree_row(),
      number_row("refine", &O::refine, {0, 20},
                 "without --cost and --gamma: how often the search narrows its steps around the best"),
  };
  return rows;
}

}  // namespace sheaf

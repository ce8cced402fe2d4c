#include <numeric>

#include "core/fail.hpp"
#include "information/select.hpp"

namespace sheaf {

std::vector<double> mutual_information_matrix(const Context& context, const BinnedTable& table,
                                              std::span<const std::int64_t> features) {
  using namespace information;  // NOLINT(google-build-using-namespace): our own family's
  for (const std::int64_t j : features)
    if (j < 0 || j >= table.features)
      fail_usage("feature {} is not there: features are numbered 0 to {}", j, table.features - 1);
  // Classes are not needed here: one class for all.
  const std::vector<std::int32_t> classes(static_cast<std::size_t>(table.rows), 0);
  const Problem problem{&table, classes, 1, {}};
  const Entropies entropies = find_entropies(context, problem);
  const auto ops = make_devices(context, problem, {}, counting_for(context, problem, {}));
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < features.size(); ++a) {
    ops->add_partner(static_cast<std::int32_t>(features[a]));
    for (std::size_t b = 0; b < a; ++b)
      pairs.push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(features[b])});
  }
  const auto between = pair_informations(entropies, *ops, features, pairs);
  std::vector<double> matrix(features.size() * features.size(), 0.0);
  std::size_t next = 0;
  for (std::size_t a = 0; a < features.size(); ++a) {
    matrix[a * features.size() + a] = entropies.features[static_cast<std::size_t>(features[a])].entropy;
    for (std::size_t b = 0; b < a; ++b)
      matrix[a * features.size() + b] = matrix[b * features.size() + a] = between[next++];
  }
  return matrix;
}

}  // namespace sheaf

#include "kernel/model/folds.hpp"

#include <algorithm>
#include <numeric>

namespace sheaf::kernel {
namespace {

LibsvmFolds deal_stratified(const Labels& labels, std::size_t folds, CRandom& random) {
  std::vector<std::vector<std::int32_t>> members(labels.class_names.size());
  for (std::size_t i = 0; i < labels.classes.size(); ++i)
    members[static_cast<std::size_t>(labels.classes[i])].push_back(static_cast<std::int32_t>(i));
  for (auto& rows : members) random.shuffle(rows);
  LibsvmFolds dealt;
  dealt.begins.push_back(0);
  for (std::size_t f = 0; f < folds; ++f) {
    for (const auto& rows : members)
      for (std::size_t k = f * rows.size() / folds; k < (f + 1) * rows.size() / folds; ++k)
        dealt.order.push_back(rows[k]);
    dealt.begins.push_back(dealt.order.size());
  }
  return dealt;
}

}  // namespace

std::vector<std::int32_t> LibsvmFolds::fold_of_rows() const {
  std::vector<std::int32_t> result(order.size());
  for (std::size_t f = 0; f + 1 < begins.size(); ++f)
    for (std::size_t k = begins[f]; k < begins[f + 1]; ++k)
      result[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(f);
  return result;
}

LibsvmFolds deal_folds(const Labels& labels, std::int32_t folds, CRandom& random) {
  const auto rows = static_cast<std::size_t>(labels.rows);
  const auto count = std::min(static_cast<std::size_t>(folds), rows);
  if (!labels.classes.empty() && count < rows) return deal_stratified(labels, count, random);
  LibsvmFolds dealt;
  dealt.order.resize(rows);
  std::iota(dealt.order.begin(), dealt.order.end(), 0);
  random.shuffle(dealt.order);
  for (std::size_t f = 0; f <= count; ++f) dealt.begins.push_back(f * rows / count);
  return dealt;
}

}  // namespace sheaf::kernel

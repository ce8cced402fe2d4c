#include "data/describe/remedy.hpp"

#include <algorithm>

namespace sheaf {
namespace {

/// Takes as many folds as the smallest class has rows for.
std::optional<Remedy> fewer_folds(const Profile& p) {
  const auto& counts = p.summary.class_counts;
  const auto smallest = counts.empty() ? 0 : *std::min_element(counts.begin(), counts.end());
  if (smallest < 2) return std::nullopt;
  const auto folds = std::to_string(smallest);
  return Remedy{"Use " + folds + " folds", {{"folds", folds}}};
}

/// The remedy for the finding about the strongest feature.
std::optional<Remedy> leave_out(const Finding& finding, const Profile& p) {
  if (p.strongest.empty()) return std::nullopt;
  const auto name = p.feature_name(p.strongest.front().feature);
  if (!finding.message.starts_with("feature " + name + " alone")) return std::nullopt;
  return Remedy{"Leave out " + name, {{"ignore", name}}};
}

}  // namespace

std::optional<Remedy> remedy_of(const Finding& finding, const Profile& profile) {
  const auto& code = finding.code;
  if (code == "unscaled")
    return Remedy{"Scale the features", {{"scale", profile.summary.sparse ? "maxabs" : "standard"}}};
  if (code == "missing-values") return Remedy{"Fill in medians", {{"impute", "median"}}};
  if (code == "imbalance") return Remedy{"Choose by balanced accuracy", {{"score", "balanced-accuracy"}}};
  if (code == "counts") return Remedy{"Take logarithms", {{"transform", "log1p"}}};
  if (code == "tiny-classes") return fewer_folds(profile);
  if (code == "leak") return leave_out(finding, profile);
  return std::nullopt;
}

}  // namespace sheaf

// One function for each warning or note; the list at the end is the order in which they are reported.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include <sheaf/solvers/profile.hpp>
#include <sheaf/solvers/splits.hpp>

#include "core/text.hpp"
#include "data/describe/near_leak.hpp"
#include "data/describe/scales.hpp"

namespace sheaf {
namespace {

using Level = Finding::Level;
using Findings = std::vector<Finding>;

std::string count_of(std::int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", grouped(count), thing, count == 1 ? "" : "s");
}

void unlabelled(const Profile& p, Findings& out) {
  if (!p.labelled) out.push_back({Level::note, "no-label", "there is no label, so no model can be trained"});
}

void one_class(const Profile& p, Findings& out) {
  if (!p.classification) {
    if (p.labelled && p.summary.target_standard_deviation == 0)
      out.push_back({Level::warning, "constant-label", "all rows carry the same label; there is nothing to learn"});
    return;
  }
  const auto present =
      p.summary.class_counts.size() -
      static_cast<std::size_t>(std::count(p.summary.class_counts.begin(), p.summary.class_counts.end(), 0));
  if (present <= 1)
    out.push_back({Level::warning, "one-class", "all rows are of one class; there is nothing to learn"});
}

void small_classes(const Profile& p, Findings& out) {
  const int folds = SplitOptions{}.count;
  const auto& counts = p.summary.class_counts;
  std::int64_t small = 0;
  std::size_t smallest = 0;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    small += counts[c] < folds ? 1 : 0;
    if (counts[c] < counts[smallest]) smallest = c;
  }
  if (small > 0)
    out.push_back({Level::warning, "tiny-classes",
                   fmt::format("{} with fewer than {} rows (the smallest, {}, has {}): not one for each of {} "
                               "folds; merge or drop such classes, or use fewer folds",
                               counted(small, "class"), folds, p.class_names[smallest], counts[smallest], folds)});
}

void imbalance(const Profile& p, Findings& out) {
  const auto& counts = p.summary.class_counts;
  if (counts.size() < 2) return;
  const auto [smallest, largest] = std::minmax_element(counts.begin(), counts.end());
  if (*smallest > 0 && *largest >= 10 * *smallest)
    out.push_back({Level::warning, "imbalance",
                   fmt::format("the largest class has {:.0f} times the rows of the smallest; accuracy will flatter, "
                               "so weight the classes and look at balanced scores",
                               static_cast<double>(*largest) / static_cast<double>(*smallest))});
}

void empty_rows(const Profile& p, Findings& out) {
  if (p.summary.empty_rows > 0)
    out.push_back(
        {Level::warning, "empty-rows",
         fmt::format("{} nothing but zeros; {} prediction rests on the intercept alone",
                     p.summary.empty_rows == 1 ? "1 row has" : count_of(p.summary.empty_rows, "row") + " have",
                     p.summary.empty_rows == 1 ? "its" : "their")});
}

void constant_features(const Profile& p, Findings& out) {
  const auto constant = p.summary.constant_features;
  const auto zero = p.summary.zero_features;
  if (constant == 0) return;
  std::string message = count_of(constant, "feature") + (constant == 1 ? " never changes" : " never change");
  if (zero == constant)
    message = count_of(zero, "feature") + (zero == 1 ? " is zero in every row" : " are zero in every row");
  else if (zero > 0)
    message += fmt::format(" ({} always zero)", grouped(zero));
  out.push_back({Level::warning, "constant-features",
                 message + fmt::format("; there is nothing to learn from {}", constant == 1 ? "it" : "them")});
}

void duplicate_names(const Profile& p, Findings& out) {
  std::set<std::string_view> seen;
  std::set<std::string_view> twice;
  for (const auto& name : p.feature_names)
    if (!seen.insert(name).second) twice.insert(name);
  if (!twice.empty())
    out.push_back({Level::warning, "duplicate-names",
                   fmt::format("{} {} used by several features (such as '{}'); results name them by position too",
                               counted(twice.size(), "name"), twice.size() == 1 ? "is" : "are", *twice.begin())});
}

void unscaled(const Profile& p, Findings& out) {
  const double ratio = scale_ratio(p.summary.per_feature);
  if (ratio >= different_scales)
    out.push_back(
        {Level::warning, "unscaled",
         fmt::format(
             "the features' standard deviations differ by a factor of {:.0f} (5th to 95th percentile); "
             "penalties and distances favour the large ones. fit and search scale dense data for models that "
             "compare features (svm, knn, elastic nets); for others say --scale standard, for sparse data maxabs",
             ratio)});
}

void leak(const Profile& p, Findings& out) {
  if (p.strongest.empty()) return;
  const auto best = p.strongest.front().feature;
  if (nearly_determines(p.associations, best, p.summary.rows, std::ssize(p.summary.class_counts)))
    out.push_back({Level::warning, "leak", near_leak_message(p.feature_name(best))});
}

void wide(const Profile& p, Findings& out) {
  if (p.summary.features > p.summary.rows)
    out.push_back({Level::note, "wide",
                   fmt::format("{:.1f} features for each row: some will fit the label by chance, so select features "
                               "inside each fold, never before",
                               static_cast<double>(p.summary.features) /
                                   static_cast<double>(std::max<std::int64_t>(p.summary.rows, 1)))});
}

void counts(const Profile& p, Findings& out) {
  const bool many = p.summary.minimum >= 0 && p.summary.maximum > 20;
  if (p.summary.integers_only && many && p.summary.nonzeros > 0)
    out.push_back({Level::note, "counts",
                   "all values are whole numbers from 0, like counts; logarithms or shares of the row's total often "
                   "serve linear models better"});
}

void stored_zeros(const Profile& p, Findings& out) {
  if (p.summary.sparse && p.summary.stored > p.summary.nonzeros)
    out.push_back({Level::note, "stored-zeros",
                   fmt::format("{} of the stored entries are zeros", p.summary.stored - p.summary.nonzeros)});
}

void no_signal(const Profile& p, Findings& out) {
  if (p.strongest.empty() || p.associations.shuffles == 0) return;
  const auto best = static_cast<std::size_t>(p.strongest.front().feature);
  if (std::abs(p.associations.correlation[best]) <= p.associations.chance)
    out.push_back(
        {Level::note, "no-single-feature",
         "no feature alone goes with the label more strongly than chance allows; only several together could"});
}

}  // namespace

std::vector<Finding> findings(const Profile& profile) {
  Findings found;
  for (const auto examine : {unlabelled, one_class, small_classes, imbalance, leak, empty_rows, constant_features,
                             duplicate_names, unscaled, stored_zeros, counts, wide, no_signal})
    examine(profile, found);
  return found;
}

}  // namespace sheaf

// Rescored peptide-spectrum matches as tables.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <sheaf/bindings/value.hpp>
#include <sheaf/sheaf.hpp>

namespace sheaf::bindings {

inline RescoreResult rescore(const Context& context, bool single, const std::vector<std::string>& files,
                             const RescoreOptions& options) {
  return single ? rescore_psms<float>(context, files, options) : rescore_psms<double>(context, files, options);
}

/// PSMs or peptides, from the best to the worst.
inline Value level_table(const RescoreResult& result, const RescoreLevel& level) {
  return Table(level.rows)
      .places("row", [](std::int32_t row) { return row; })
      .column("id", [&](std::int32_t row) { return result.text(row).id; })
      .column("target", [&](std::int32_t row) { return result.text(row).target; })
      .column("score", level.scores)
      .column("q", level.q)
      .column("pep", level.pep)
      .column("peptide", [&](std::int32_t row) { return result.text(row).peptide; })
      .column("proteins", [&](std::int32_t row) { return result.text(row).proteins; });
}

/// `peptides`: those of each, the best first.
inline Value proteins_table(const RescoreResult& result) {
  const auto peptides_of = [&](const RescoreProtein& one) {
    return column_of(one.peptides, [&](std::int32_t row) { return result.text(row).peptide; });
  };
  return Table(result.proteins)
      .column("protein", &RescoreProtein::name)
      .column("target", &RescoreProtein::target)
      .column("score", &RescoreProtein::score)
      .column("q", &RescoreProtein::q)
      .column("pep", &RescoreProtein::pep)
      .column("peptides", peptides_of);
}

/// All of a result: tables of PSMs, peptides and proteins, weights of each fold, the bias last, and how it came about.
inline List rescored(const RescoreResult& result) {
  const auto& model = result.model;
  List list;
  list.add("psms", level_table(result, result.psms)).add("peptides", level_table(result, result.peptides));
  list.add("proteins", proteins_table(result));
  list.add("feature_names", model.feature_names).add("raw", model.raw).add("normalised", model.normalised);
  list.add("folds", std::vector<std::int32_t>(result.folds.begin(), result.folds.end()));
  list.add("accepted", result.psms.accepted).add("accepted_peptides", result.peptides.accepted);
  list.add("initial", result.initial_accepted).add("fell_back", result.fell_back).add("pi0", result.psms.pi0);
  list.add("estimated", column_of(result.iterations, [](const auto& one) { return std::int64_t{one.estimated}; }));
  list.add("tested", column_of(result.iterations, [](const auto& one) { return std::int64_t{one.tested}; }));
  return list.add("warnings", result.warnings);
}

}  // namespace sheaf::bindings

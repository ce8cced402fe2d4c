#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sheaf/report.hpp>
#include <sheaf/version.hpp>

#include "core/text.hpp"
#include "data/parameter_json.hpp"
#include "report/page.hpp"
#include "report/rescore_charts.hpp"
#include "report/svg.hpp"

namespace sheaf {
namespace {

using namespace report;  // NOLINT(google-build-using-namespace): this file only arranges what lives there
using Json = nlohmann::ordered_json;

const char* name_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::competition:
      return "target-decoy competition";
    case Confidence::mix_max:
      return "mix-max";
    default:
      return "decoys per target";
  }
}

Json level_json(const RescoreLevel& level) {
  return {{"targets", level.targets}, {"decoys", level.decoys}, {"accepted", level.accepted}, {"pi0", level.pi0}};
}

std::string header_tiles(const RescoreResult& r, const RescoreOptions& options) {
  const auto rate = percent(options.test_fdr);
  std::vector<Tile> list{{grouped(r.psms.accepted), "PSMs at " + rate}};
  if (options.peptides) list.push_back({grouped(r.peptides.accepted), "peptides at " + rate});
  list.push_back({grouped(r.psms.targets), "target PSMs"});
  list.push_back({grouped(r.psms.decoys), "decoy PSMs"});
  if (r.initial_accepted > 0)
    list.push_back(
        {fmt::format("{:+.1f} %",
                     100 * (static_cast<double>(r.trained_accepted) / static_cast<double>(r.initial_accepted) - 1)),
         "against the first direction"});
  return tiles(list);
}

std::string warnings_card(const RescoreResult& r) {
  if (r.warnings.empty()) return {};
  std::string list = "<ul class=\"findings\">\n";
  for (const auto& warning : r.warnings) list += fmt::format("<li class=\"note\">{}</li>\n", escaped(warning));
  return card("Warnings", "", list + "</ul>\n", true);
}

std::string weights_card(const RescoreResult& r) {
  std::vector<std::vector<std::string>> rows{{"feature"}};
  std::string alignment = "l";
  for (std::size_t f = 0; f < r.model.normalised.size(); ++f) {
    rows[0].push_back(fmt::format("fold {}", f + 1));
    alignment += 'r';
  }
  for (std::size_t j = 0; j < r.model.feature_names.size(); ++j) {
    rows.push_back({r.model.feature_names[j]});
    for (const auto& w : r.model.normalised) rows.back().push_back(fmt::format("{:.4f}", w[j]));
  }
  return card("Weights",
              "Of features on one scale, for scores whose 0 is the accepted boundary and whose -1 is the "
              "median decoy.",
              report::table(rows, alignment));
}

std::string iterations_card(const RescoreResult& r) {
  if (r.iterations.empty()) return {};
  std::vector<std::vector<std::string>> rows{{"iteration", "trained on", "accepted in test folds"}};
  for (std::size_t k = 0; k < r.iterations.size(); ++k) {
    std::int64_t positives = 0;
    for (const auto& fold : r.iterations[k].folds) positives += fold.positives;
    rows.push_back({std::to_string(k + 1), grouped(positives), grouped(r.iterations[k].tested)});
  }
  return card("Iterations",
              "Positives of the three folds, and target PSMs that models accept among those they did "
              "not see.",
              report::table(rows, "rrr"));
}

/// Target PSMs and accepted ones of each group or file. `place`: where a row is in `names`.
template <class Place>
std::string counts_table(const RescoreResult& r, const RescoreOptions& options, const char* what,
                         const std::vector<std::string>& names, const Place& place) {
  std::vector<std::vector<std::string>> rows{{what, "target PSMs", "accepted", "peptides accepted"}};
  std::vector<std::array<std::int64_t, 3>> counts(names.size());
  const auto add = [&](const RescoreLevel& level, std::size_t all, std::size_t accepted) {
    for (std::size_t k = 0; k < level.rows.size(); ++k) {
      if (!r.is_target(level.rows[k])) continue;
      auto& mine = counts[static_cast<std::size_t>(place(level.rows[k]))];
      if (all < mine.size()) ++mine[all];
      mine[accepted] += level.q[k] < options.test_fdr ? 1 : 0;
    }
  };
  add(r.psms, 0, 1);
  add(r.peptides, counts[0].size(), 2);
  for (std::size_t g = 0; g < names.size(); ++g)
    rows.push_back({names[g], grouped(counts[g][0]), grouped(counts[g][1]), grouped(counts[g][2])});
  return report::table(rows, "lrrr");
}

std::string groups_card(const RescoreResult& r, const RescoreOptions& options) {
  if (r.group_names.empty()) return {};
  return card("Groups", "q-values are those within each group.",
              counts_table(r, options, "group", r.group_names,
                           [&](std::int32_t row) { return r.groups[static_cast<std::size_t>(row)]; }),
              true);
}

std::string files_card(const RescoreResult& r, const RescoreOptions& options) {
  if (r.file_names.size() < 2 || options.group == "file") return {};
  return card("Files",
              "One model for all files. A peptide counts in the file of its best PSM. --group file gives each file "
              "q-values of its own.",
              counts_table(r, options, "file", r.file_names, r.file), true);
}

}  // namespace

std::string rescore_json(const RescoreResult& result, const RescoreOptions& options) {
  Json json;
  json["version"] = SHEAF_VERSION;
  json["options"] = parameters_json(options);
  json["search"] = result.search == SearchType::separate ? "separate" : "concatenated";
  json["confidence"] = name_of(result.confidence);
  json["initial_accepted"] = result.initial_accepted;
  json["trained_accepted"] = result.trained_accepted;
  json["fell_back"] = result.fell_back;
  json["psms"] = level_json(result.psms);
  if (options.peptides) json["peptides"] = level_json(result.peptides);
  json["iterations"] = Json::array();
  for (const auto& iteration : result.iterations) {
    Json one{{"estimated", iteration.estimated}, {"tested", iteration.tested}, {"folds", Json::array()}};
    for (const auto& fold : iteration.folds)
      one["folds"].push_back({{"positives", fold.positives},
                              {"cost_positive", fold.cost_positive},
                              {"cost_ratio", fold.cost_ratio},
                              {"accepted", fold.accepted}});
    json["iterations"].push_back(std::move(one));
  }
  json["features"] = result.model.feature_names;
  json["normalised_weights"] = result.model.normalised;
  json["weights"] = result.model.raw;
  json["groups"] = result.group_names;
  json["warnings"] = result.warnings;
  return json.dump(2) + "\n";
}

std::string rescore_html(const RescoreResult& r, const RescoreOptions& options) {
  const std::string about =
      fmt::format("{} searches, {}; {}, seed {}", r.search == SearchType::separate ? "separate" : "concatenated",
                  name_of(r.confidence), counted(r.model.feature_names.size(), "feature"), options.seed);
  std::string body = header_tiles(r, options) + "<div class=\"cards\">\n" + warnings_card(r);
  body += card("Accepted targets", "Target PSMs and peptides with at most this q-value.",
               legend({{"f0", "PSMs"}, {"f1", "peptides"}}) + accepted_curve(r));
  body += card("Scores", "Targets and decoys; the line is the lowest accepted score.",
               legend({{"f0", "targets"}, {"f1", "decoys"}}) + score_histogram(r, options.test_fdr));
  body += card("Posterior error probabilities",
               "Mean PEP of all targets up to each q-value: near the diagonal where both agree.",
               legend({{"f0", "PSMs"}, {"f1", "peptides"}}) + calibration_curve(r));
  body += iterations_card(r) + weights_card(r) + groups_card(r, options) + files_card(r, options) + "</div>\n";
  return page("Rescoring", about, body, fmt::format("Sheaf {}", SHEAF_VERSION));
}

}  // namespace sheaf

#include <sheaf/study_directory.hpp>

#include <nlohmann/json.hpp>

#include "core/sha256.hpp"
#include "search/journal.hpp"
#include "search/result_folder.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;

/// Long lists are compared by their checksums.
template <class Number>
Json checksum(const std::vector<Number>& numbers) {
  if (numbers.empty()) return nullptr;
  return search::sha256({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
}

Json net_json(const NetOptions& net) {
  Json weights = Json::array();
  for (const auto& [name, weight] : net.class_weights) weights.push_back({name, weight});
  return {{"loss", net.loss == Loss::logistic ? "logistic" : "squared"},
          {"labels", static_cast<int>(net.labels)},
          {"intercept", net.intercept},
          {"standardise", net.standardise},
          {"solver", to_string(net.solver)},
          {"parallel", net.parallel},
          {"tolerance", net.tolerance},
          {"max_epochs", net.max_epochs},
          {"penalty_factors", checksum(net.penalty_factors)},
          {"class_weights", weights},
          {"balanced", net.balanced}};
}

Json devices_json(const std::vector<Device>& devices) {
  Json names = Json::array();
  for (const auto device : devices) names.push_back(to_string(device));
  return names;
}

/// min_frequency and path_split decide only what is told at the end.
Json options_json(const StudyOptions& options, const std::vector<float>& row_weights) {
  return {{"l1_ratios", options.l1_ratios},
          {"alphas", options.alphas},
          {"alpha_count", options.alpha_count},
          {"smallest_share", options.smallest_share},
          {"splits", options.splits},
          {"split", to_string(options.split)},
          {"test_fraction", options.test_fraction},
          {"folds", options.folds},
          {"score", info(*options.score).name},
          {"choose", options.choice == Choice::best ? "best" : "one-standard-error"},
          {"strategy", to_string(options.strategy)},
          {"trials", options.trials},
          {"batch", options.batch},
          {"also", devices_json(options.also)},
          {"row_weights", checksum(row_weights)},
          {"training", net_json(options.net)}};
}

}  // namespace

struct StudyDirectory::State {
  State(std::string path, Existing existing)
      : folder(std::move(path), existing, {"results.json", "features.csv", "splits.csv", "report.html"}),
        journal(folder.journal()) {
    if (existing != Existing::resume) journal.clear();
  }
  search::ResultFolder folder;
  search::StudyJournal journal;
};

StudyDirectory::StudyDirectory(std::string path, Existing existing)
    : state_(std::make_unique<State>(std::move(path), existing)) {}

StudyDirectory::~StudyDirectory() {
  if (state_->journal.empty()) state_->folder.undo();
}

void StudyDirectory::begin(const StudySettings& settings) {
  const auto& s = settings;
  if (state_->folder.begin(search::settings_json({s.command, s.data, s.reading, s.device, s.precision, s.seed},
                                                 options_json(s.options, s.row_weights))))
    state_->journal.clear();
}

StudyLog& StudyDirectory::log() { return state_->journal; }

std::size_t StudyDirectory::finished() const { return state_->journal.found(); }

void StudyDirectory::finish(const StudyResult& result) const {
  const auto file = [&](const char* name) { return state_->folder.file(name); };
  write_text_file(file("features.csv"), study_features_csv(result));
  write_text_file(file("splits.csv"), study_splits_csv(result));
  write_text_file(file("report.html"), study_html(result));
  write_text_file(file("results.json"), study_json(result));
}

}  // namespace sheaf

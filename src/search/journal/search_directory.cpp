#include <optional>

#include <sheaf/search.hpp>
#include <sheaf/version.hpp>

#include "core/hash/sha256.hpp"
#include "data/parameter_json.hpp"
#include "data/sheaf_file/file.hpp"
#include "search/journal/journal.hpp"
#include "search/journal/result_folder.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t weight_bytes = 50;  // of the text of one weight in two files, names and reports included

/// Long lists are compared by their checksums.
template <class Number>
Json checksum(const std::vector<Number>& numbers) {
  if (numbers.empty()) return nullptr;
  return sha256({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
}

Json space_json(const SearchSpace& space) {
  Json tried = Json::object();
  Json training = Json::object();
  for (const auto& row : parameters_of(space.options)) {
    const auto name = json_name(row.name);
    if (row.list) tried[name] = row.list->numbers ? Json(space.numbers(row.name)) : Json(space.names(row.name));
    training[name] =
        row.vector ? checksum(row.vector->get(space.options)) : value_json(row.type, row.get(space.options));
  }
  return {{"family", space.options.family_name()}, {"space", std::move(tried)}, {"training", std::move(training)}};
}

/// The candidates of a search of several models, or its one model.
Json models_json(const SearchSpace& space) {
  if (space.candidates.empty()) return space_json(space);
  Json list = Json::array();
  for (const auto& candidate : space.candidates) {
    auto json = space_json(candidate.space);
    json["name"] = candidate.name;
    json["pipeline"] = parameters_json(candidate.pipeline);
    json["strategy"] = to_string(candidate.strategy);
    json["extend"] = candidate.extend;
    list.push_back(std::move(json));
  }
  return list;
}

/// Without options that decide only what is made of the search at its end, or when that is.
Json settings_json(const SearchSettings& s) {
  const auto hash = sheaf_file::hash_dataset_file(s.data);
  Json also = Json::array();
  for (const auto device : s.options.also) also.push_back(to_string(device));
  return {{"sheaf", SHEAF_VERSION},
          {"journal", engine::journal_version},
          {"command", s.command},
          {"data", {{"path", s.data}, {"bytes", hash.size}, {"sha256", hash.sha256}}},
          {"seed", s.seed},
          {"device", s.device.is_cpu() ? "cpu" : "cuda"},
          {"also", std::move(also)},
          {"precision", s.precision == Precision::float32 ? "float" : "double"},
          {"full", s.options.full},
          {"extend", s.options.extend},
          {"options",
           parameters_json(s.options, {"min-frequency", "path-split", "time", "predictions", "calibrate", "threshold",
                                       "learning-curve", "permutation-importance", "permutation-test", "stack"})},
          {"pipeline", parameters_json(s.options.pipeline)},
          {"row_weights", checksum(s.options.row_weights)},
          {"model", models_json(s.space)},
          {"reading", parameters_json(s.reading, {"verify", "cache"})}};
}

const std::vector<std::string>& result_files() {
  static const std::vector<std::string> names{"results.json",    "scores.csv",         "outer.csv",    "features.csv",
                                              "predictions.csv", "coefficients.csv",   "curves.csv",   "report.html",
                                              "confusion.csv",   "learning_curve.csv", "stack.csv",    "importance.csv",
                                              "reliability.csv", "model.liblinear",    "model.libsvm", "model.txt"};
  return names;
}

}  // namespace

/// The folder is locked by its journal from the beginning. An earlier search in it stays until the engine asks for the
/// plan: then all that can be wrong with data and options has been checked.
struct SearchDirectory::State : SearchLog {
  State(std::string path, Existing existing)
      : folder(std::move(path), existing, result_files()), journal(folder.journal()) {
    try {
      folder.check(journal.is_journal());
      if (existing == Existing::resume) journal.read();
    } catch (...) {
      folder.undo(false, journal.is_new());
      throw;
    }
  }

  BatchPlan agree(const BatchPlan& proposed) override {
    folder.remove_leftovers();
    if (settings) {
      folder.remove_results();
      journal.clear();  // before the settings are others: records of one search never stand beside another's settings
      folder.write_settings(*settings);
      settings.reset();
      wrote_settings = true;
    }
    return journal.agree(proposed);
  }
  const std::vector<ModelScores>* recall(std::int32_t batch) override { return journal.recall(batch); }
  void keep(std::int32_t batch, const std::vector<ModelScores>& models) override { journal.keep(batch, models); }

  engine::ResultFolder folder;
  engine::Journal journal;
  std::optional<Json> settings;  ///< of a search that has not begun yet
  bool wrote_settings = false;
};

SearchDirectory::SearchDirectory(std::string path, Existing existing)
    : state_(std::make_unique<State>(std::move(path), existing)) {}

SearchDirectory::~SearchDirectory() {
  const bool failed = state_->wrote_settings && state_->journal.empty();
  state_->folder.undo(failed, failed || (!state_->wrote_settings && state_->journal.is_new()));
}

std::optional<Device> SearchDirectory::device() const {
  const auto settings = state_->folder.settings();
  if (!settings || !settings->contains("device")) return std::nullopt;
  return (*settings)["device"] == "cpu" ? Device::cpu() : Device::cuda();
}

void SearchDirectory::begin(const SearchSettings& settings) {
  auto now = settings_json(settings);
  if (const auto then = state_->folder.settings())
    state_->folder.compare(*then, now);
  else
    state_->settings = std::move(now);
}

void SearchDirectory::check_room(std::int64_t weights) const { state_->folder.check_room(weights * weight_bytes); }

SearchLog& SearchDirectory::log() { return *state_; }

std::size_t SearchDirectory::finished() const { return state_->journal.found(); }

void SearchDirectory::write(const std::string& name, std::string_view text) const { state_->folder.write(name, text); }

}  // namespace sheaf

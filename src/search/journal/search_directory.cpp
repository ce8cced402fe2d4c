#include <memory>
#include <optional>

#include <sheaf/search.hpp>
#include <sheaf/version.hpp>

#include "core/fail.hpp"
#include "core/hash/sha256.hpp"
#include "data/parameter_json.hpp"
#include "data/sheaf_file/file.hpp"
#include "family/family.hpp"
#include "search/journal/journal.hpp"
#include "search/journal/result_folder.hpp"
#include "search/journal/shared_batches.hpp"
#include "search/results/calibrated_scores.hpp"

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

/// Bins matter to selections alone.
Json pipeline_json(const PipelineOptions& options) {
  if (!options.select.empty()) return parameters_json(options);
  return parameters_json(options, {"bins", "binning", "target-bins", "target-binning"});
}

/// The candidates of a search of several models, or its one model.
Json models_json(const SearchSpace& space) {
  if (space.candidates.empty()) return space_json(space);
  Json list = Json::array();
  for (const auto& candidate : space.candidates) {
    auto json = space_json(candidate.space);
    json["name"] = candidate.name;
    json["pipeline"] = pipeline_json(candidate.pipeline);
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
  for (const auto device : s.options.extra_devices) also.push_back(to_string(device));
  auto options =
      parameters_json(s.options, {"min-frequency", "path-split", "time", "predictions", "calibrate", "threshold",
                                  "learning-curve", "permutation-importance", "permutation-test", "stack"});
  if (engine::chooses_by_calibrated(s.options)) options["calibrate"] = to_string(*s.options.calibrate);
  return {{"sheaf", SHEAF_VERSION},
          {"journal", engine::search_journal.version},
          {"command", s.command},
          {"data", {{"path", s.data}, {"bytes", hash.size}, {"sha256", hash.sha256}}},
          {"seed", s.seed},
          {"device", s.device.is_cpu() ? "cpu" : "cuda"},
          {"also", std::move(also)},
          {"precision", s.precision == Precision::float32 ? "float" : "double"},
          {"full", s.options.full},
          {"extend", s.options.extend},
          {"options", std::move(options)},
          {"pipeline", pipeline_json(s.options.pipeline)},
          {"row_weights", checksum(s.options.row_weights)},
          {"model", models_json(s.space)},
          {"reading", parameters_json(s.reading, {"verify", "cache"})}};
}

/// The settings of a search for which nothing was chosen, of the same families. An option that a later version adds
/// stands there for journals of earlier versions, which lack it.
Json default_settings(const SearchSettings& s) {
  SearchSpace plain = s.space;
  const auto reset = [](SearchSpace& space) { space.options = space.options.family().kinds().front().options; };
  reset(plain);
  for (auto& candidate : plain.candidates) {
    reset(candidate.space);
    candidate.pipeline = default_pipeline();
  }
  return {{"options", parameters_json(SearchOptions())},
          {"pipeline", parameters_json(default_pipeline())},
          {"model", models_json(plain)},
          {"reading", parameters_json(ReadOptions())}};
}

const std::vector<std::string>& result_files() {
  static const std::vector<std::string> names{
      "results.json", "scores.csv",      "outer.csv",       "features.csv",       "predictions.csv", "coefficients.csv",
      "curves.csv",   "report.html",     "confusion.csv",   "learning_curve.csv", "stack.csv",       "importance.csv",
      "path.csv",     "reliability.csv", "model.liblinear", "model.libsvm",       "model.txt"};
  return names;
}

}  // namespace

/// The folder is locked by its journal from the beginning. An earlier search in it stays until the engine asks for the
/// plan: then all that can be wrong with data and options has been checked. Processes that share a search only read the
/// journal; the one that publishes the results puts a complete one in its place.
struct SearchDirectory::State : SearchLog {
  State(std::string path, Existing how, const Joining& as)
      : existing(how), joining(as), folder(std::move(path), existing, result_files()) {
    open_journal();
    try {
      folder.check(journal->is_journal());
      if (existing == Existing::resume || joins()) journal->read();
      if (existing == Existing::resume) left = engine::finished_batches(folder.units());
    } catch (...) {
      folder.undo(false, journal->is_new());
      throw;
    }
  }

  bool joins() const { return existing == Existing::join; }
  /// The lock of the one that was open before is held until then.
  void open_journal() {
    journal = std::make_unique<engine::SearchJournal>(
        folder.journal(), joins() ? queue::Journal::Access::shared : queue::Journal::Access::alone);
  }

  /// Settings were edited, or copied without their journal.
  void check_journal() const {
    if (!journal->empty() && journal->work() != work)
      fail("{}: is the journal of another search than that of settings.json; {}", folder.journal(),
           engine::search_journal.remedy);
  }

  BatchPlan agree(const BatchPlan& proposed) override {
    if (joins()) return join(proposed);
    folder.remove_leftovers();
    if (settings) {
      folder.remove_results();
      // Before the settings are others: batches of one search never stand beside another's settings.
      folder.remove_units();
      left = {};
      journal->clear();
      folder.write_settings(*settings);
      settings.reset();
      wrote_settings = true;
    }
    if (journal->empty()) journal->begin(work);
    auto agreed = journal->agree(left.plan ? engine::plan_from(*left.plan) : proposed);
    journal->add(left.batches);
    folder.remove_units();
    return agreed;
  }
  /// The journal is read again: it is complete if another process has just published the results.
  BatchPlan join(const BatchPlan& proposed) {
    if (settings) {
      if (const auto first = folder.write_first_settings(*settings)) folder.compare(*first, *settings, defaults);
      settings.reset();
    }
    shared.emplace(folder.units(), joining);
    read_again();
    shared_plan = journal->plan() ? *journal->plan() : shared->agree(proposed);
    return engine::plan_from(shared_plan);
  }
  void read_again() {
    open_journal();
    journal->read();
    check_journal();
  }

  std::optional<std::vector<ModelScores>> recall(std::int32_t batch) override {
    auto models = journal->recall(batch);
    if (models || !shared) return models;
    if ((models = shared->recall(batch)) || !shared->is_over()) return models;
    models = recall_published(batch);
    if (!models) fail("{}: is no longer that of this search; another process has begun again", folder.journal());
    return models;
  }
  /// The journal of a search that another process has published holds all its batches.
  std::optional<std::vector<ModelScores>> recall_published(std::int32_t batch) {
    if (!was_published) read_again();
    was_published = true;
    return journal->recall(batch);
  }
  void keep(std::int32_t batch, const std::vector<ModelScores>& models) override {
    keeps_batches = true;
    if (shared)
      shared->keep(batch, models);
    else
      journal->keep(batch, models);
  }
  bool claim(std::int32_t batch) override { return !shared || shared->claim(batch); }
  SearchEnding claim_ending() override {
    if (shared && joining.follows && journal->ended()) return SearchEnding::published;
    return shared ? shared->claim_ending() : SearchEnding::here;
  }
  bool agree_to_end(std::int32_t next, bool over) override {
    if (!shared) return over;
    return shared->is_over() ? !recall_published(next) : shared->agree_to_end(next, over);
  }

  bool is_publisher() const { return !shared || shared->is_publisher(); }
  /// A process that was stopped for long may have lost the search to another one, which writes the same, and removes
  /// what is under construction.
  template <class Content>
  void write(const std::string& name, const Content& content) const try {
    if (is_publisher()) folder.write(name, content);
  } catch (const Error&) {
    if (is_publisher()) throw;
  }
  void finish() {
    if (!shared) return journal->end();
    const auto text = journal->text_with(work, shared_plan, engine::finished_batches(folder.units()).batches);
    if (!is_publisher()) return;  // asked after the batches were read: they were all there
    folder.write_journal(text);
    folder.remove_leftovers();
    open_journal();  // so that none but processes that share the search are at work until it is over
    shared->end();
  }
  /// Leaves nothing of a search that failed before its first batch.
  void undo() noexcept try {
    const bool joined = shared.has_value();
    shared.reset();
    if (joins()) return undo_join(joined);
    const bool failed = wrote_settings && !keeps_batches;
    folder.undo(failed, failed || (!wrote_settings && journal->is_new()));
  } catch (...) {  // memory is at its end
  }
  /// Batches are looked for first: they are removed when the journal holds them.
  void undo_join(bool joined) {
    if (!engine::finished_batches(folder.units()).batches.empty() || !folder.has_empty_journal()) return;
    if (!journal->is_alone()) return;
    folder.remove_units();
    folder.undo(joined, true);
  }

  Existing existing;
  Joining joining;
  engine::ResultFolder folder;
  std::unique_ptr<engine::SearchJournal> journal;
  std::string work;              ///< which search it is
  Json defaults;                 ///< see default_settings()
  std::optional<Json> settings;  ///< of a search that has not begun yet
  engine::FinishedBatches left;  ///< by processes that shared the search, none of which has published it
  std::optional<engine::SharedBatches> shared;
  nlohmann::json shared_plan;
  bool was_published = false;  ///< by another process, whose journal was read
  bool wrote_settings = false;
  bool keeps_batches = false;  ///< of this process
};

SearchDirectory::SearchDirectory(std::string path, Existing existing, const Joining& joining)
    : state_(std::make_unique<State>(std::move(path), existing, joining)) {}

SearchDirectory::~SearchDirectory() { state_->undo(); }

std::optional<Device> SearchDirectory::device() const {
  const auto settings = state_->folder.settings();
  if (!settings || !settings->contains("device")) return std::nullopt;
  return (*settings)["device"] == "cpu" ? Device::cpu() : Device::cuda();
}

void SearchDirectory::begin(const SearchSettings& settings) {
  auto now = settings_json(settings);
  state_->work = engine::ResultFolder::fingerprint(now);
  state_->defaults = default_settings(settings);
  if (const auto then = state_->folder.settings()) {
    auto same = now;
    if (!state_->joins()) same.erase("sheaf");  // processes that share a search are of one version
    state_->folder.compare(*then, same, state_->defaults);
    state_->work = engine::ResultFolder::fingerprint(*then);
    state_->check_journal();
  } else {
    state_->settings = std::move(now);
  }
}

void SearchDirectory::check_room(std::int64_t weights) const { state_->folder.check_room(weights * weight_bytes); }

SearchLog& SearchDirectory::log() { return *state_; }

std::size_t SearchDirectory::finished() const { return state_->journal->found() + state_->left.batches.size(); }

void SearchDirectory::write(const std::string& name, std::string_view text) const { state_->write(name, text); }
void SearchDirectory::write(const std::string& name, const Model& model) const { state_->write(name, model); }

void SearchDirectory::finish() const try { state_->finish(); } catch (const Error&) {
  if (state_->is_publisher()) throw;
}

}  // namespace sheaf

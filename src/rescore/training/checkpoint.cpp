#include "rescore/training/checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/fail.hpp"
#include "queue/progress_name.hpp"

namespace sheaf::rescore {
namespace {

using Json = nlohmann::json;

constexpr queue::JournalKind rescoring_journal{"rescoring", 2, 2, "delete it, or name another folder"};
constexpr std::uint64_t most_rows = std::numeric_limits<std::int32_t>::max();  // of PSMs

std::int64_t count_from(const Json& json) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > most_rows) throw queue::DamagedRecord();
  return json.get<std::int64_t>();
}

double cost_from(const Json& json) {
  const auto value = json.get<double>();
  if (!(value > 0)) throw queue::DamagedRecord();
  return value;
}

Json to_json(const RescoreIteration& iteration) {
  Json folds = Json::array();
  for (const FoldStep& fold : iteration.folds)
    folds.push_back({fold.positives, fold.cost_positive, fold.cost_ratio, fold.accepted});
  return {{"estimated", iteration.estimated}, {"tested", iteration.tested}, {"folds", folds}};
}

RescoreIteration iteration_from(const Json& json) {
  RescoreIteration iteration{count_from(json.at("estimated")), count_from(json.at("tested")), {}};
  for (const Json& fold : json.at("folds"))
    iteration.folds.push_back(
        {count_from(fold.at(0)), cost_from(fold.at(1)), cost_from(fold.at(2)), count_from(fold.at(3))});
  return iteration;
}

Json to_json(const Checkpoint& checkpoint) {
  Json iterations = Json::array();
  for (const auto& iteration : checkpoint.iterations) iterations.push_back(to_json(iteration));
  return {{"iterations", std::move(iterations)},       {"initial_accepted", checkpoint.initial_accepted},
          {"start_weights", checkpoint.start_weights}, {"weights", checkpoint.weights},
          {"svm_weights", checkpoint.svm_weights},     {"warnings", checkpoint.warnings}};
}

Checkpoint checkpoint_from(const Json& json) {
  Checkpoint checkpoint;
  for (const Json& one : json.at("iterations")) checkpoint.iterations.push_back(iteration_from(one));
  checkpoint.initial_accepted = count_from(json.at("initial_accepted"));
  json.at("start_weights").get_to(checkpoint.start_weights);
  json.at("weights").get_to(checkpoint.weights);
  json.at("svm_weights").get_to(checkpoint.svm_weights);
  json.at("warnings").get_to(checkpoint.warnings);
  return checkpoint;
}

bool fits(const std::vector<std::vector<double>>& models, std::size_t count, std::size_t weights) {
  return models.size() == count && std::all_of(models.begin(), models.end(), [&](const auto& model) {
           return model.size() == weights &&
                  std::all_of(model.begin(), model.end(), [](double w) { return std::isfinite(w); });
         });
}

bool fits(const Checkpoint& checkpoint, const CheckpointShape& shape) {
  const auto& done = checkpoint.iterations;
  return !done.empty() && done.size() <= shape.iterations &&
         std::all_of(done.begin(), done.end(), [&](const auto& one) { return one.folds.size() == shape.folds; }) &&
         fits(checkpoint.start_weights, shape.folds, shape.weights) &&
         fits(checkpoint.weights, shape.folds, shape.weights) &&
         fits(checkpoint.svm_weights, shape.svms, shape.weights);
}

bool make_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) return false;
  std::error_code error;
  const bool made = std::filesystem::create_directories(folder, error);
  if (error) fail("{}: the folder cannot be made: {}", folder.string(), error.message());
  return made;
}

}  // namespace

CheckpointFile::CheckpointFile(std::string path, bool resume)
    : path_(std::move(path)), resume_(resume), made_folder_(make_folder_of(path_)), journal_(rescoring_journal, path_) {
  if (!journal_.is_journal())
    fail("{}: its first line is damaged, or it is no journal of Sheaf; delete it, or name another folder", path_);
  journal_.read([&](std::int64_t, const Json& result) { last_ = checkpoint_from(result); });
  had_ended_ = journal_.ended();
  resumable_ = !journal_.work().empty();
}

CheckpointFile::~CheckpointFile() {
  if (resumable_) return;
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  if (!made_folder_) return;
  const auto folder = std::filesystem::path(path_).parent_path();
  std::filesystem::remove(folder / queue::progress_name, ignored);
  std::filesystem::remove(folder, ignored);
}

void CheckpointFile::begin(const std::string& run) {
  if (resume_ && !journal_.work().empty()) {
    if (journal_.work() == run) return;
    fail(
        "{}: the run in it has other options, other PSMs or another version of Sheaf; repeat its command, begin anew "
        "(--force), or name another folder",
        path_);
  }
  last_.reset();
  had_ended_ = resumable_ = false;
  journal_.begin(run);
}

std::optional<Checkpoint> CheckpointFile::read(const CheckpointShape& shape) const {
  if (last_ && !fits(*last_, shape))
    fail("{}: its last checkpoint does not fit the run; delete the file, and training begins anew", path_);
  return last_;
}

void CheckpointFile::write(const Checkpoint& checkpoint) {
  journal_.keep(std::ssize(checkpoint.iterations), to_json(checkpoint));
  resumable_ = true;
}

void CheckpointFile::end() {
  journal_.end();
  resumable_ = true;
}

}  // namespace sheaf::rescore

#include "rescore/training/checkpoint.hpp"

#include <filesystem>

#include <nlohmann/json.hpp>

#include <sheaf/io.hpp>
#include <sheaf/progress.hpp>

#include "core/fail.hpp"
#include "data/read/text_source.hpp"

namespace sheaf::rescore {
namespace {

using Json = nlohmann::json;

Json to_json(const RescoreIteration& iteration) {
  Json folds = Json::array();
  for (const FoldStep& fold : iteration.folds)
    folds.push_back({fold.positives, fold.cost_positive, fold.cost_ratio, fold.accepted});
  return {{"estimated", iteration.estimated}, {"tested", iteration.tested}, {"folds", folds}};
}

RescoreIteration iteration_of(const Json& json) {
  RescoreIteration iteration{json.at("estimated"), json.at("tested"), {}};
  for (const Json& fold : json.at("folds")) iteration.folds.push_back({fold.at(0), fold.at(1), fold.at(2), fold.at(3)});
  return iteration;
}

}  // namespace

std::optional<Checkpoint> CheckpointFile::read() const {
  if (!resume || path.empty() || !std::filesystem::exists(path)) return std::nullopt;
  const TextSource source(path, silent_progress());
  const Json json = Json::parse(source.text(), nullptr, false);
  if (json.is_discarded() || !json.contains("run"))
    fail("{}: is not what a run has saved; delete it, and training begins anew", path);
  if (json["run"] != run)
    fail(
        "{}: was saved by a run with other options, other PSMs or another version; repeat that one, or delete the file",
        path);
  Checkpoint checkpoint;
  for (const Json& one : json.at("iterations")) checkpoint.iterations.push_back(iteration_of(one));
  json.at("initial_accepted").get_to(checkpoint.initial_accepted);
  json.at("start_weights").get_to(checkpoint.start_weights);
  json.at("weights").get_to(checkpoint.weights);
  json.at("svm_weights").get_to(checkpoint.svm_weights);
  json.at("warnings").get_to(checkpoint.warnings);
  return checkpoint;
}

void CheckpointFile::write(const Checkpoint& checkpoint) const {
  if (path.empty()) return;
  const auto folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) fail("{}: the folder cannot be made: {}", folder.string(), error.message());
  Json json{{"run", run},
            {"iterations", Json::array()},
            {"initial_accepted", checkpoint.initial_accepted},
            {"start_weights", checkpoint.start_weights},
            {"weights", checkpoint.weights},
            {"svm_weights", checkpoint.svm_weights},
            {"warnings", checkpoint.warnings}};
  for (const auto& iteration : checkpoint.iterations) json["iterations"].push_back(to_json(iteration));
  write_text_file(path, json.dump() + "\n");
}

}  // namespace sheaf::rescore

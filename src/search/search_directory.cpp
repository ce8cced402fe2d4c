#include <sheaf/search_directory.hpp>

#include <filesystem>
#include <optional>

#include <nlohmann/json.hpp>

#include <sheaf/error.hpp>

#include "search/journal.hpp"
#include "search/result_folder.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t weight_bytes = 50;  // of the text of one weight in two files, names and reports included

Json linear_json(const LinearOptions& options) {
  Json weights = Json::array();
  for (const auto& [name, weight] : options.class_weights) weights.push_back({name, weight});
  return {{"loss", linear_solver(options.loss).name},
          {"epsilon", options.epsilon},
          {"tolerance", options.tolerance},
          {"max_iterations", options.max_iterations},
          {"bias", options.bias},
          {"penalise_bias", options.penalise_bias},
          {"rule", options.rule == StepRule::line_search ? "line-search" : "trust-region"},
          {"class_weights", weights},
          {"balanced", options.balanced}};
}

Json options_json(const SearchOptions& options) {
  return {{"costs", options.costs},
          {"split", to_string(*options.split)},
          {"folds", options.folds},
          {"test_fraction", options.test_fraction},
          {"outer", options.outer},
          {"score", info(*options.score).name},
          {"choose", options.choice == Choice::best ? "best" : "one-standard-error"},
          {"batch", options.batch},
          {"training", linear_json(options.linear)}};
}

std::optional<std::string> liblinear_text(const LinearModel& model) {
  try {
    return format_model(model, ModelFormat::liblinear);
  } catch (const Error&) {  // classes that are no integers
    return std::nullopt;
  }
}

}  // namespace

struct SearchDirectory::State {
  State(std::string path, Existing existing)
      : folder(std::move(path), existing,
               {"results.json", "scores.csv", "report.html", "model.txt", "model.liblinear", "model.libsvm"}),
        journal(folder.journal()) {
    if (existing != Existing::resume) journal.clear();
  }
  search::ResultFolder folder;
  search::Journal journal;
};

SearchDirectory::SearchDirectory(std::string path, Existing existing)
    : state_(std::make_unique<State>(std::move(path), existing)) {}

SearchDirectory::~SearchDirectory() {
  if (state_->journal.empty()) state_->folder.undo();
}

void SearchDirectory::begin(const SearchSettings& settings) {
  const auto& s = settings;
  auto json = search::settings_json({s.command, s.data, s.reading, s.device, s.precision, s.seed},
                                    options_json(decided(s.options)));
  json["family"] = s.family.empty() ? Json() : Json::parse(s.family);
  if (state_->folder.begin(json)) state_->journal.clear();
}

void SearchDirectory::check_room(std::int64_t weights) const { state_->folder.check_room(weights * weight_bytes); }

SearchLog& SearchDirectory::log() { return state_->journal; }

std::size_t SearchDirectory::finished() const { return state_->journal.found(); }

void SearchDirectory::finish(const SearchResult& result) const {
  const auto file = [&](const char* name) { return state_->folder.file(name); };
  save_model(result.model, file("model.txt"));
  if (const auto text = liblinear_text(result.model)) write_text_file(file("model.liblinear"), *text);
  write_text_file(file("scores.csv"), search_csv(result));
  write_text_file(file("report.html"), search_html(result));
  write_text_file(file("results.json"), search_json(result));
}

void SearchDirectory::finish(const SvmSearchResult& result) const {
  const auto file = [&](const char* name) { return state_->folder.file(name); };
  save_svm(result.model, file("model.txt"));
  try {
    write_text_file(file("model.libsvm"), format_svm(result.model, SvmFormat::libsvm));
  } catch (const Error&) {  // classes that are no integers, or one against the rest
    std::filesystem::remove(file("model.libsvm"));
  }
  write_text_file(file("scores.csv"), search_csv(result));
  write_text_file(file("report.html"), search_html(result));
  write_text_file(file("results.json"), search_json(result));
}

}  // namespace sheaf

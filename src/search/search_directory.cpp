#include <sheaf/search_directory.hpp>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <nlohmann/json.hpp>

#include <sheaf/error.hpp>

#include "search/journal.hpp"
#include "search/sha256.hpp"

namespace sheaf {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* settings_name = "settings.json";
constexpr const char* journal_name = "journal.txt";
constexpr std::int64_t weight_bytes = 50;  // of the text of one weight in two files, names and reports included
constexpr const char* result_names[] = {"results.json", "scores.csv",      "report.html",
                                        "model.txt",    "model.liblinear", "model.libsvm"};

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

Json reading_json(const ReadOptions& reading) {
  return {{"format", reading.format},
          {"storage", static_cast<int>(reading.storage)},
          {"missing", static_cast<int>(reading.missing)},
          {"features", reading.features},
          {"header", static_cast<int>(reading.header)},
          {"delimiter", reading.delimiter == 0 ? "" : std::string(1, reading.delimiter)},
          {"label", reading.label},
          {"group", reading.group},
          {"ignore", reading.ignore}};
}

Json settings_json(const SearchSettings& settings) {
  const auto hash = search::hash_file(settings.data);
  Json json{{"sheaf", SHEAF_VERSION},
            {"command", settings.command},
            {"data", {{"path", settings.data}, {"bytes", hash.size}, {"sha256", hash.sha256}}},
            {"seed", settings.seed},
            {"device", settings.device.is_cpu() ? "cpu" : "cuda"},
            {"precision", settings.precision == Precision::float32 ? "float" : "double"},
            {"options", options_json(decided(settings.options))},
            {"reading", reading_json(settings.reading)}};
  json["family"] = settings.family.empty() ? Json() : Json::parse(settings.family);
  return json;
}

/// The first difference, as "options/folds: 5 then, 10 now"; empty: none. What does not change results is left out.
std::string difference(const Json& then, const Json& now, const std::string& where) {
  if (!then.is_object() || !now.is_object()) {
    if (then == now) return {};
    return fmt::format("{} was {} then and is {} now", where, then.dump(), now.dump());
  }
  for (const auto& [key, value] : now.items()) {
    if (key == "command" || key == "path") continue;
    const auto name = where.empty() ? key : fmt::format("{}/{}", where, key);
    auto found = difference(then.contains(key) ? then[key] : Json(), value, name);
    if (!found.empty()) return found;
  }
  return {};
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool make_folder(const std::string& path) {
  std::error_code error;
  const bool made = fs::create_directories(path, error);
  if (error) fail("{}: the folder cannot be made: {}", path, error.message());
  return made;
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
  explicit State(const std::string& journal_path) : journal(journal_path) {}
  search::Journal journal;
};

SearchDirectory::SearchDirectory(std::string path, Existing existing) : path_(std::move(path)) {
  std::error_code error;
  const bool there = fs::exists(path_, error);
  if (there && !fs::is_directory(path_, error)) fail("{}: is no folder; name another one for the search", path_);
  const bool occupied = there && !fs::is_empty(path_, error);
  if (occupied && existing == Existing::refuse)
    fail("{}: exists already; go on with the search in it (--resume), begin again (--force), or name another folder",
         path_);
  if (occupied && !fs::exists(file(settings_name)) && !fs::exists(file(journal_name)))
    fail("{}: holds other things and no search; name another folder", path_);
  made_ = make_folder(path_);
  state_ = std::make_unique<State>(file(journal_name));
  if (existing != Existing::resume) {
    state_->journal.clear();
    fs::remove(file(settings_name));
    for (const char* name : result_names) fs::remove(file(name));
  }
  remove_leftovers();
}

SearchDirectory::~SearchDirectory() {
  if (!state_ || !state_->journal.empty()) return;
  std::error_code ignored;
  fs::remove(file(settings_name), ignored);
  fs::remove(file(journal_name), ignored);
  if (made_) fs::remove(path_, ignored);
}

/// Files under construction when an earlier run was killed.
void SearchDirectory::remove_leftovers() const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_))
    if (entry.path().extension() == ".part") fs::remove(entry.path(), ignored);
}

void SearchDirectory::begin(const SearchSettings& settings) {
  const auto now = settings_json(settings);
  if (!fs::exists(file(settings_name))) {
    state_->journal.clear();
    write_text_file(file(settings_name), now.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    return;
  }
  const auto then = Json::parse(text_of(file(settings_name)), nullptr, false);
  if (!then.is_object()) fail("{}: is damaged; begin again with --force", file(settings_name));
  const auto found = difference(then, now, "");
  if (!found.empty())
    fail(
        "{}: the search in it is another one: {}; give the command it began with (see {}), begin again (--force), or "
        "name another folder",
        path_, found, file(settings_name));
}

void SearchDirectory::check_room(std::int64_t weights) const {
  std::error_code error;
  const auto space = fs::space(path_, error);
  const auto need = weights * weight_bytes;
  if (!error && static_cast<std::int64_t>(space.available) < need)
    fail("{}: the model may take {}, but the disk has only {} left", path_, format_bytes(need),
         format_bytes(static_cast<std::int64_t>(space.available)));
}

SearchLog& SearchDirectory::log() { return state_->journal; }

std::size_t SearchDirectory::finished() const { return state_->journal.found(); }

void SearchDirectory::finish(const SearchResult& result) const {
  save_model(result.model, file("model.txt"));
  if (const auto text = liblinear_text(result.model)) write_text_file(file("model.liblinear"), *text);
  write_text_file(file("scores.csv"), search_csv(result));
  write_text_file(file("report.html"), search_html(result));
  write_text_file(file("results.json"), search_json(result));
}

void SearchDirectory::finish(const SvmSearchResult& result) const {
  save_svm(result.model, file("model.txt"));
  try {
    write_text_file(file("model.libsvm"), format_svm(result.model, SvmFormat::libsvm));
  } catch (const Error&) {  // classes that are no integers, or one against the rest
    fs::remove(file("model.libsvm"));
  }
  write_text_file(file("scores.csv"), search_csv(result));
  write_text_file(file("report.html"), search_html(result));
  write_text_file(file("results.json"), search_json(result));
}

}  // namespace sheaf

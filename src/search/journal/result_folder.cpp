#include "search/journal/result_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <new>

#include <sheaf/context.hpp>

#include "core/fail.hpp"
#include "core/files/small_file.hpp"
#include "core/hash/sha256.hpp"
#include "core/temporary.hpp"
#include "data/bytes/sink.hpp"
#include "data/text/json_text.hpp"
#include "model/lines.hpp"
#include "queue/progress_name.hpp"
#include "search/journal/journal.hpp"

namespace sheaf::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* settings_name = "settings.json";
constexpr const char* journal_name = "journal.txt";

/// Settings that do not change results.
bool is_ignored(const std::string& key) { return key == "command" || key == "path"; }

void remove_ignored(Json& json) {
  if (!json.is_object()) return;
  for (auto entry = json.begin(); entry != json.end();) {
    if (is_ignored(entry.key())) {
      entry = json.erase(entry);
    } else {
      remove_ignored(*entry);
      ++entry;
    }
  }
}

Json member_of(const Json& json, const std::string& key) { return json.contains(key) ? json[key] : Json(); }

/// The first difference, as "options/folds: 5 then, 10 now"; empty: none. `defaults`: what members mean that an earlier
/// version did not have.
std::string difference(const Json& then, const Json& now, const Json& defaults, const std::string& where) {
  if (then.is_array() && now.is_array() && then.size() == now.size()) {
    for (std::size_t k = 0; k < now.size(); ++k) {
      const auto own = defaults.is_array() && k < defaults.size() ? defaults[k] : Json();
      auto found = difference(then[k], now[k], own, fmt::format("{}/{}", where, k + 1));
      if (!found.empty()) return found;
    }
    return {};
  }
  if (!then.is_object() || !now.is_object()) {
    if (then == now) return {};
    return fmt::format("{} was {} then and is {} now", where, then.dump(), now.dump());
  }
  for (const auto& [key, value] : now.items()) {
    if (is_ignored(key)) continue;
    const auto name = where.empty() ? key : fmt::format("{}/{}", where, key);
    const auto automatic = member_of(defaults, key);
    auto found = difference(then.contains(key) ? then[key] : automatic, value, automatic, name);
    if (!found.empty()) return found;
  }
  return {};
}

std::string text_of(const std::string& path) {
  auto text = small_file(path);
  if (!text) fail("{}: cannot be read", path);
  return *std::move(text);
}

std::string settings_text(const Json& settings) {
  return settings.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool make_folder(const std::string& path) {
  std::error_code error;
  const bool made = fs::create_directories(path, error);
  if (error) fail("{}: the folder cannot be made: {}", path, error.message());
  return made;
}

/// The file that `sheaf search` has written; not known: it was damaged.
enum class Origin { ours, others, unknown };

Origin origin_of(const Json& settings) {
  if (settings.is_discarded()) return Origin::unknown;
  return settings.is_object() && settings.contains("sheaf") && settings.contains("journal") ? Origin::ours
                                                                                            : Origin::others;
}

}  // namespace

ResultFolder::ResultFolder(std::string path, Existing existing, std::vector<std::string> results)
    : path_(std::move(path)), existing_(existing), results_(std::move(results)) {
  std::error_code error;
  const bool there = fs::exists(path_, error);
  if (there && !fs::is_directory(path_, error)) fail("{}: is no folder; name another one for the search", path_);
  const bool occupied = there && !fs::is_empty(path_, error);
  if (occupied && existing == Existing::refuse)
    fail("{}: exists already; go on with the search in it (--resume), begin again (--force), or name another folder",
         path_);
  if (occupied && !fs::exists(file(settings_name)) && !fs::exists(journal()))
    fail("{}: holds other things and no search; name another folder", path_);
  made_ = make_folder(path_);
}

std::string ResultFolder::journal() const { return file(journal_name); }

bool ResultFolder::has_settings() const { return fs::is_regular_file(fs::symlink_status(file(settings_name))); }

void ResultFolder::check(bool journal_is_ours) const {
  const auto settings = has_settings() ? parse_json<Json>(text_of(file(settings_name))) : Json();
  const auto origin = has_settings() ? origin_of(settings) : Origin::unknown;
  if (origin == Origin::others || (origin == Origin::unknown && !journal_is_ours))
    fail("{}: holds other things and no search; name another folder", path_);
  if (!goes_on()) return;
  if (!journal_is_ours)
    fail(
        "{}: is no journal of a search, or is damaged from its first line; begin again (--force), or name another "
        "folder",
        journal());
  if (has_settings() && origin == Origin::unknown)
    fail("{}: is damaged; begin again with --force", file(settings_name));
  if (!has_settings() && fs::file_size(journal()) > 0)
    fail("{}: is missing, so that nobody knows what search the journal is of; begin again with --force",
         file(settings_name));
}

std::optional<Json> ResultFolder::settings() const {
  if (!goes_on() || !has_settings()) return std::nullopt;
  return parse_json<Json>(text_of(file(settings_name)));
}

void ResultFolder::remove_results() const {
  for (const auto& name : results_) fs::remove(file(name));
}

void ResultFolder::remove_units() const {
  std::error_code error;
  fs::remove_all(units(), error);
  if (error) fail("{}: cannot be removed: {}", units(), error.message());
}

bool ResultFolder::has_empty_journal() const {
  std::error_code error;
  return fs::file_size(journal(), error) == 0 && !error;
}

void ResultFolder::write_journal(std::string_view text) const { write_file(journal(), text, Links::replace); }

void ResultFolder::remove_leftovers() const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_, ignored)) {
    const auto name = entry.path().filename().string();
    const auto is_of = [&](const std::string& result) { return is_temporary_name(name, result); };
    if (name == queue::progress_name || is_of(settings_name) || is_of(journal_name) ||
        std::any_of(results_.begin(), results_.end(), is_of))
      fs::remove(entry.path(), ignored);
    if (name.starts_with("units.") && name.ends_with(".done")) fs::remove_all(entry.path(), ignored);
  }
}

void ResultFolder::write(const std::string& name, std::string_view text) const {
  write_file(file(name), text, Links::replace);
}

void ResultFolder::write(const std::string& name, const Model& model) const {
  save_model(model, file(name), Links::replace);
}

void ResultFolder::write_settings(const Json& settings) const { write(settings_name, settings_text(settings)); }

std::optional<Json> ResultFolder::write_first_settings(const Json& settings) const {
  try {
    if (write_new_file(file(settings_name), settings_text(settings))) return std::nullopt;
  } catch (const Error&) {
    // Another process has finished the search meanwhile, and removed what was under construction.
    if (!has_settings()) throw;
  }
  return parse_json<Json>(text_of(file(settings_name)));
}

void ResultFolder::undo(bool settings, bool journal_too) const noexcept try {
  std::error_code ignored;
  if (settings) fs::remove(file(settings_name), ignored);
  if (journal_too) fs::remove(journal(), ignored);
  if (!made_) return;
  fs::remove(file(queue::progress_name), ignored);
  fs::remove(path_, ignored);
} catch (const std::bad_alloc&) {  // the names do not fit in memory
}

void ResultFolder::compare(const Json& then, const Json& now, const Json& defaults) const {
  const auto& version = then["journal"];
  const bool is_read =
      version.is_number_integer() && version >= search_journal.oldest && version <= search_journal.version;
  if (!is_read)
    fail(
        "{}: the search in it was begun by another version of Sheaf, whose journal this one does not read; begin again "
        "(--force), or name another folder",
        path_);
  auto same = now;
  same.erase("journal");
  const auto found = difference(then, same, defaults, "");
  if (!found.empty())
    fail(
        "{}: the search in it is another one: {}; give the command it began with (see {}), begin again (--force), or "
        "name another folder",
        path_, found, file(settings_name));
}

std::string ResultFolder::fingerprint(Json settings) {
  remove_ignored(settings);
  return sha256(settings.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void ResultFolder::check_room(std::int64_t bytes) const {
  std::error_code error;
  const auto space = fs::space(path_, error);
  if (!error && static_cast<std::int64_t>(space.available) < bytes)
    fail("{}: the model may take {}, but the disk has only {} left", path_, format_bytes(bytes),
         format_bytes(static_cast<std::int64_t>(space.available)));
}

}  // namespace sheaf::engine

#include "search/journal/result_folder.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <sheaf/context.hpp>
#include <sheaf/io.hpp>

#include "core/fail.hpp"

namespace sheaf::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* settings_name = "settings.json";

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

}  // namespace

ResultFolder::ResultFolder(std::string path, Existing existing, const std::vector<std::string>& results)
    : path_(std::move(path)) {
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
  if (existing != Existing::resume) {
    fs::remove(file(settings_name));
    for (const auto& name : results) fs::remove(file(name));
  }
  remove_leftovers();
}

/// Files under construction when an earlier run was killed.
void ResultFolder::remove_leftovers() const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_))
    if (entry.path().extension() == ".part") fs::remove(entry.path(), ignored);
}

void ResultFolder::undo() const noexcept {
  std::error_code ignored;
  fs::remove(file(settings_name), ignored);
  fs::remove(journal(), ignored);
  if (made_) fs::remove(path_, ignored);
}

bool ResultFolder::begin(const Json& settings) const {
  if (!fs::exists(file(settings_name))) {
    write_text_file(file(settings_name), settings.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    return true;
  }
  const auto then = Json::parse(text_of(file(settings_name)), nullptr, false);
  if (!then.is_object()) fail("{}: is damaged; begin again with --force", file(settings_name));
  if (!then.contains("journal") || then["journal"] != journal_version)
    fail(
        "{}: the search in it was begun by another version of Sheaf, whose journal this one does not read; begin again "
        "(--force), or name another folder",
        path_);
  const auto found = difference(then, settings, "");
  if (!found.empty())
    fail(
        "{}: the search in it is another one: {}; give the command it began with (see {}), begin again (--force), or "
        "name another folder",
        path_, found, file(settings_name));
  return false;
}

void ResultFolder::check_room(std::int64_t bytes) const {
  std::error_code error;
  const auto space = fs::space(path_, error);
  if (!error && static_cast<std::int64_t>(space.available) < bytes)
    fail("{}: the model may take {}, but the disk has only {} left", path_, format_bytes(bytes),
         format_bytes(static_cast<std::int64_t>(space.available)));
}

}  // namespace sheaf::engine

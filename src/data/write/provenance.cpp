#include "data/write/provenance.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sheaf/io.hpp>

#include "core/fail.hpp"
#include "core/files/small_file.hpp"
#include "core/hash/sha256.hpp"
#include "data/text/json_text.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string provenance_path(const std::string& path) {
  return path.empty() || path == "-" ? std::string() : path + ".made.json";
}

void keep_provenance(const Provenance& made, const std::string& path) {
  if (path == "-") return;
  const Json json{{"made_by", "sheaf " + made.command},
                  {"learnt_on_all_rows_of", made.source},
                  {"instead", made.instead},
                  {"sha256", hash_file(path).sha256}};
  write_text_file(provenance_path(path), json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::optional<Provenance> find_provenance(const std::string& path) {
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(provenance_path(path), error)) return std::nullopt;
  const auto saved = small_file(provenance_path(path));
  if (!saved) fail("{}: cannot be read; it says how {} was made", provenance_path(path), path);
  const auto json = parse_json<Json>(*saved);
  const auto text = [&](const char* key) {
    return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
  };
  constexpr std::string_view program = "sheaf ";
  const auto command = text("made_by");
  if (!command.starts_with(program) || text("sha256") != hash_file(path).sha256) return std::nullopt;
  return Provenance{command.substr(program.size()), text("learnt_on_all_rows_of"), text("instead")};
}

std::string warning_of(const Provenance& made, const std::string& path) {
  return fmt::format(
      "{}: was made by sheaf {} from all rows of {}, so that held-out rows are not new to the models and scores will "
      "be "
      "too good; search {} with {} instead, which learns on the training rows of each split alone",
      path, made.command, made.source, made.source, made.instead);
}

}  // namespace sheaf

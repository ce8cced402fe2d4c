// A folder of results: what was asked, what is finished, and in the end all results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <sheaf/search.hpp>

namespace sheaf::engine {

class ResultFolder {
 public:
  /// Makes the folder if it is missing. What is in it is looked at, never changed: `results`, names of the files
  /// that are written at the end, stay until remove_results().
  ResultFolder(std::string path, Existing existing, std::vector<std::string> results);

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string journal() const;
  /// Batches of a search that several processes share: see queue/claims.hpp.
  std::string units() const { return file("units"); }
  /// The settings of the search in it that goes on; none: a search begins.
  std::optional<nlohmann::ordered_json> settings() const;
  /// Once nobody else can work there: a folder without a search of ours is an Error. `journal`: whether that is one.
  void check(bool journal) const;
  /// Settings other than those that the search in it began with are an Error. `defaults`: what members mean that an
  /// earlier version did not write.
  void compare(const nlohmann::ordered_json& then, const nlohmann::ordered_json& now,
               const nlohmann::ordered_json& defaults) const;
  /// The same text for all searches with the same settings.
  static std::string fingerprint(nlohmann::ordered_json settings);
  /// Removes results of an earlier search.
  void remove_results() const;
  /// Removes what processes that shared the search have left.
  void remove_units() const;
  void write_journal(std::string_view text) const;
  bool has_empty_journal() const;
  /// Removes files that were under construction when an earlier run was killed.
  void remove_leftovers() const;
  /// A link in the place of the file is replaced, not followed.
  void write(const std::string& name, std::string_view text) const;
  void write(const std::string& name, const Model& model) const;
  void write_settings(const nlohmann::ordered_json& settings) const;
  /// The settings in the folder if they are not the first.
  std::optional<nlohmann::ordered_json> write_first_settings(const nlohmann::ordered_json& settings) const;
  /// Too little room on the disk is an Error.
  void check_room(std::int64_t bytes) const;
  /// Leaves nothing of a search that failed before its first batch: the files that it made, and the folder likewise.
  void undo(bool settings, bool journal) const noexcept;

 private:
  bool has_settings() const;
  bool goes_on() const { return existing_ == Existing::resume || existing_ == Existing::join; }

  std::string path_;
  Existing existing_;
  std::vector<std::string> results_;
  bool made_ = false;
};

}  // namespace sheaf::engine

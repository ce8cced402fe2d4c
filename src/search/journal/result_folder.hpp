// A folder of results: what was asked, what is finished, and in the end all results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <sheaf/search.hpp>

namespace sheaf::engine {

/// The version of settings and journals; those of another version are refused.
inline constexpr int journal_version = 5;

class ResultFolder {
 public:
  /// Makes the folder where it is missing. `results`: names of the files that are written at the end.
  ResultFolder(std::string path, Existing existing, const std::vector<std::string>& results);

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string journal() const { return file("journal.txt"); }
  /// Writes the settings, or compares them with those that the search in it began with. True: it begins anew.
  bool begin(const nlohmann::ordered_json& settings) const;
  /// Too little room on the disk is an Error.
  void check_room(std::int64_t bytes) const;
  /// Leaves nothing of a search that failed before its first batch.
  void undo() const noexcept;

 private:
  void remove_leftovers() const;

  std::string path_;

  bool made_ = false;
};

}  // namespace sheaf::engine

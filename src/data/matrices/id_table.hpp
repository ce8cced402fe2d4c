// A CSV or TSV file with a header, whose lines belong to ids: metadata of samples, annotations of features.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/read/reading.hpp"

namespace sheaf {

class IdTable {
 public:
  /// Reads the file `path`; `wanted_id` names the column of ids (empty: the first). A .qza is opened as the archive it
  /// is. An id that stands twice is an Error.
  IdTable(const Reading& reading, const std::string& path, const std::string& wanted_id);

  const std::vector<std::string>& names() const { return names_; }
  std::size_t id() const { return id_; }
  std::int64_t lines() const { return static_cast<std::int64_t>(cells_[id_].size()); }
  /// The line of an id; -1: it has none.
  std::int64_t line_of(const std::string& id) const {
    const auto found = lines_.find(id);
    return found == lines_.end() ? -1 : found->second;
  }
  const std::vector<std::string>& cells(std::size_t column) const { return cells_[column]; }

 private:
  std::size_t find_id(const std::string& wanted) const;
  void read_rows(const Reading& own, char delimiter, const char* body);

  std::string name_;
  std::vector<std::string> names_;
  std::size_t id_ = 0;
  std::vector<std::vector<std::string>> cells_;  // of each column
  std::unordered_map<std::string, std::int64_t> lines_;
};

}  // namespace sheaf

// A file of records that survive the end of the process: one line each, appended and synchronised before the next
// begins. A line is 16 hexadecimal digits that check the rest of it, a blank, and JSON; the first one that is torn or
// damaged ends the file, and is cut off.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sheaf::engine {

class RecordFile {
 public:
  /// Opens or makes the file, locks it (another process at work there is an Error) and hands each record to `take`.
  RecordFile(std::string path, const std::function<void(const nlohmann::json&)>& take);
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;
  ~RecordFile();

  void clear();
  /// Returns when the record will survive.
  void append(const nlohmann::json& record);

 private:
  std::string read_all() const;

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace sheaf::engine

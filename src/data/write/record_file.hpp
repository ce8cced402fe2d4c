// A file of records that survive the end of the process: one line each, appended and synchronised before the next
// begins. A line is 16 hexadecimal digits that check the rest of it, a blank, and JSON; the first one that is torn or
// damaged ends the file, and is cut off when the next one is written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sheaf {

class RecordFile {
 public:
  /// Opens or makes the file and locks it: another process at work there is an Error. Nothing in it is changed.
  explicit RecordFile(std::string path);
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;
  ~RecordFile();

  /// The file was not there before.
  bool is_new() const { return new_; }
  /// Whether it begins with a record, whole or torn, or is empty.
  bool is_record_file() const;
  /// Passes each record to `take`.
  void read(const std::function<void(const nlohmann::json&)>& take);
  void clear();
  /// Returns when the record will survive.
  void append(const nlohmann::json& record);

 private:
  bool open_and_lock();
  void synchronise();

  std::string path_;
  int descriptor_ = -1;
  bool new_ = false;
  std::string text_;        // all bytes, until they are read
  std::int64_t good_ = -1;  // bytes of whole records, where others follow
};

}  // namespace sheaf

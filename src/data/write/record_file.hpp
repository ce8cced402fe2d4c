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

/// A record as the line of a file, and the other way round; discarded: the line is torn or damaged.
std::string record_line(const nlohmann::json& record);
nlohmann::json parse_record(std::string_view line);

class RecordFile {
 public:
  enum class Access : std::uint8_t {
    alone,
    shared,  ///< for reading, beside others that only read; a file system without such locks is no Error
  };
  /// Opens or makes the file and locks it: another process at work there is an Error. Nothing in it is changed.
  explicit RecordFile(std::string path, Access access = Access::alone);
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;
  ~RecordFile();

  /// The file was not there before.
  bool is_new() const { return new_; }
  /// Whether it begins with a record, whole or torn, or is empty.
  bool is_record_file() const;
  /// Locks it for this process alone. False: others have it open.
  bool is_alone();
  /// Passes each record to `take`.
  void read(const std::function<void(const nlohmann::json&)>& take);
  void clear();
  /// Returns when the record will survive.
  void append(const nlohmann::json& record);

 private:
  bool open_and_lock();
  void lock();
  void synchronise();

  std::string path_;
  Access access_;
  int descriptor_ = -1;
  bool new_ = false;
  std::string text_;        // all bytes, until they are read
  std::int64_t good_ = -1;  // bytes of whole records, where others follow
};

}  // namespace sheaf

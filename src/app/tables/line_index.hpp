// Rows of a large text table by their numbers: places of some rows are kept, the rest is read from the file.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "app/files/listing.hpp"
#include "app/http/message.hpp"

namespace sheaf::app {

/// The fields of a record: quotes are taken off, and "" in quotes is ".
std::vector<std::string> split_record(std::string_view record, char delimiter);

class LineIndex {
 public:
  /// Reads the heading. An ARFF file's columns are its attributes. A 404 Refusal if the file is gone.
  explicit LineIndex(std::string path);

  /// Identifies the version of the file that is indexed.
  const FileFacts& facts() const { return facts_; }
  const std::vector<std::string>& columns() const { return columns_; }
  char delimiter() const { return delimiter_; }

  struct Page {
    std::vector<std::string> records;
    std::int64_t rows = 0;  ///< found so far
    bool complete = false;  ///< these are all
  };
  /// Looks for rows for so long at most.
  Page read(std::int64_t from, std::int64_t count, std::chrono::milliseconds time);

 private:
  void read_heading();
  bool read_arff_heading(std::string_view text);
  void scan(std::chrono::steady_clock::time_point deadline, std::int64_t wanted);

  std::string path_;
  FileFacts facts_;
  char delimiter_ = ',';
  std::vector<std::string> columns_;
  std::mutex mutex_;
  std::uint64_t begin_ = 0;            // of the first row
  std::vector<std::uint64_t> places_;  // of every so-many-th row
  std::uint64_t scanned_ = 0;          // bytes
  std::int64_t rows_ = 0;              // ended before them
  bool in_quotes_ = false, in_row_ = false, complete_ = false;
};

/// Whether a text is a number, or looks like a date.
bool is_number(std::string_view text);
bool is_date(std::string_view text);

}  // namespace sheaf::app

// The folder of one study; as that of a search, it can go on whatever ended the process.
#pragma once

#include <memory>
#include <string>

#include <sheaf/search_directory.hpp>
#include <sheaf/study.hpp>

namespace sheaf {

/// What decides the results, bit for bit, and what helps to repeat them.
struct StudySettings {
  std::string command;  ///< for people; not compared
  std::string data;     ///< path of the table; its contents are compared, not its name
  ReadOptions reading;
  StudyOptions options;            ///< with everything decided
  std::vector<float> row_weights;  ///< may be empty
  Device device;
  Precision precision = Precision::float64;
  std::uint64_t seed = 0;
};

class StudyDirectory {
 public:
  /// Makes the folder where it is missing. One that cannot be written is an Error here, before any work.
  StudyDirectory(std::string path, Existing existing);
  StudyDirectory(const StudyDirectory&) = delete;
  StudyDirectory& operator=(const StudyDirectory&) = delete;
  /// A study that failed before its first batch leaves nothing behind.
  ~StudyDirectory();

  /// Writes the settings, or compares them with those that the study in it began with.
  void begin(const StudySettings& settings);
  StudyLog& log();
  /// Batches that an earlier run has finished.
  std::size_t finished() const;
  /// results.json, features.csv, splits.csv and report.html.
  void finish(const StudyResult& result) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sheaf

// The folder of one search: what was asked, what is finished, and in the end all results. Whatever ends the process,
// the same search can go on from there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <sheaf/io.hpp>
#include <sheaf/parameters.hpp>
#include <sheaf/search.hpp>

namespace sheaf {

/// What decides the results, bit for bit, and what helps to repeat them.
struct SearchSettings {
  std::string command;  ///< for people; not compared
  std::string data;     ///< path of the dataset; its contents are compared, not its name
  ReadOptions reading;
  FamilySearch family;    ///< with everything decided, see decide()
  SearchOptions options;  ///< likewise
  Device device;
  Precision precision = Precision::float64;
  std::uint64_t seed = 0;
};

enum class Existing : std::uint8_t {
  refuse,   ///< an existing folder that is not empty is an Error
  resume,   ///< goes on with the search in it; other settings, other data or another version are an Error
  replace,  ///< forgets the search in it
};

class SearchDirectory {
 public:
  /// Makes the folder where it is missing. One that cannot be written is an Error here, before any work.
  SearchDirectory(std::string path, Existing existing);
  SearchDirectory(const SearchDirectory&) = delete;
  SearchDirectory& operator=(const SearchDirectory&) = delete;
  /// A search that failed before its first batch leaves nothing behind.
  ~SearchDirectory();

  /// Writes the settings, or compares them with those that the search in it began with.
  void begin(const SearchSettings& settings);
  /// Too little room on the disk for a model of so many weights is an Error.
  void check_room(std::int64_t weights) const;
  SearchLog& log();
  /// Batches that an earlier run has finished.
  std::size_t finished() const;
  /// results.json and report.html; of the search over all rows scores.csv, model.txt and, where the program that the
  /// family stands in for can hold it, model.liblinear or model.libsvm; of outer folds outer.csv; of a study
  /// features.csv.
  void finish(const SearchResult& result) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sheaf

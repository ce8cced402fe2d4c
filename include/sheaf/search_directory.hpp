// The folder of one search: what was asked, what is finished, and in the end all results. Whatever ends the process,
// the same search can go on from there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <sheaf/io.hpp>
#include <sheaf/parameters.hpp>
#include <sheaf/search.hpp>
#include <sheaf/svm_search.hpp>

namespace sheaf {

/// What decides the results, bit for bit, and what helps to repeat them.
struct SearchSettings {
  std::string command;  ///< for people; not compared
  std::string data;     ///< path of the table; its contents are compared, not its name
  ReadOptions reading;
  SearchOptions options;
  Device device;
  Precision precision = Precision::float64;
  std::uint64_t seed = 0;
  std::string family = {};  ///< further options as JSON text, of models that are not linear
};

enum class Existing : std::uint8_t {
  refuse,   ///< an existing folder that is not empty is an Error
  resume,   ///< goes on with the search in it; other settings or other data are an Error
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
  /// results.json, scores.csv, report.html, model.txt and, where LIBLINEAR's format can hold it, model.liblinear.
  void finish(const SearchResult& result) const;
  /// The same with model.libsvm where LIBSVM's format can hold it.
  void finish(const SvmSearchResult& result) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sheaf

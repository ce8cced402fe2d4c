// Reading and writing tables: LIBSVM/svmlight, CSV and ARFF, plain or compressed (.gz, .xz, .zst), file or standard input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

namespace sheaf {

enum class Storage : std::uint8_t { automatic, dense, sparse };
enum class Header : std::uint8_t { automatic, yes, no };
/// What to do with a missing value ("", "?", "NA", "NaN", ... in CSV, "?" in ARFF).
enum class Missing : std::uint8_t { error, mean, median, most_frequent, zero };

struct ReadOptions {
  std::string format = "auto";  ///< a name from format_names(), or auto: by file name, else by content
  Storage storage = Storage::automatic;
  Missing missing = Missing::error;
  std::int64_t features = 0;  ///< LIBSVM: columns to make at least (0: as many as the largest index)

  // CSV (label, group and ignored columns also for ARFF)
  Header header = Header::automatic;
  char delimiter = 0;  ///< 0: found out from the first line among , ; tab |
  std::string label;   ///< a column's name, its position from 1, negative from the end, "none"; empty: a column named
                       ///< label, class, target or y (any case), else the last
  std::string group;   ///< name or position of the column whose values group the rows; empty: none
  std::vector<std::string> ignore;  ///< names or positions of columns to leave out
};

/// One row of the format table.
struct Format {
  std::string_view name;
  std::string_view endings;  ///< space-separated, without compression endings
  std::string_view about;
};
std::span<const Format> formats();

/// Reads a table; "-" is standard input. Every defect is a ParseError that names file:line:column, or an Error for what
/// concerns the file as a whole (not there, a directory, empty).
template <class T>
Dataset<T> read_dataset(const Context& context, const std::string& path, const ReadOptions& options = {});

/// The same from text in memory; `name` stands for the file in messages. `options.format` must name a format.
template <class T>
Dataset<T> parse_dataset(const Context& context, std::string_view text, const std::string& name,
                         const ReadOptions& options);

struct WriteOptions {
  std::string format = "auto";  ///< by the ending of the file's name
  bool header = true;           ///< CSV: names in the first line
  char delimiter = ',';
  int digits = 0;  ///< significant digits; 0: the fewest that read back as the same number
};

/// Writes to a temporary beside `path` and renames it; "-" is standard output. Compresses by ending.
template <class T>
void write_dataset(const Context& context, const Dataset<T>& dataset, const std::string& path,
                   const WriteOptions& options = {});

/// Writes text to `path` through a temporary that is renamed at the end; nothing is left behind on failure.
void write_text_file(const std::string& path, std::string_view text);

}  // namespace sheaf

// Shared by the writers of all formats. A writer is a function of a Writing. Text formats write a preamble and rows:
// chunks of rows are formatted by all threads and written in order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sheaf/io.hpp>

namespace sheaf {

/// Arguments of a writer.
template <class T>
struct Writing {
  const Context& context;
  const Dataset<T>& dataset;
  const std::string& path;  ///< "-": standard output
  const WriteOptions& options;
};

/// Writes a dataset as text. Several threads may call row() at once.
template <class T>
class RowWriter {
 public:
  RowWriter() = default;
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;
  virtual ~RowWriter() = default;
  virtual std::string preamble() const = 0;
  virtual void row(std::int64_t i, std::string& out) const = 0;
  /// Whether a row has a value for each feature, also if it is not stored.
  virtual bool writes_zeros() const { return false; }
};

/// For formats with a column for each feature: an Error if nearly all of so many are empty. An index far out would fill
/// the disk with names and zeros.
template <class T>
void check_columns(const Writing<T>& writing);

/// Writes the preamble and all rows to the path of `writing`.
template <class T>
void write_rows(const Writing<T>& writing, const RowWriter<T>& writer);

/// Appends a number; `digits` as in WriteOptions.
void append_number(std::string& out, double value, int digits);
void append_number(std::string& out, float value, int digits);

/// The label of a row: its class as spelled, else its number; "0" without a target.
template <class T>
void append_label(std::string& out, const Dataset<T>& dataset, std::int64_t row);

/// `wanted`, followed by underscores until it differs from all feature names.
template <class T>
std::string unused_name(const Dataset<T>& dataset, std::string wanted);

}  // namespace sheaf

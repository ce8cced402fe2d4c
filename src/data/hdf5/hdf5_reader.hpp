// The interface to HDF5 files, implemented by a reader of the file's bytes, and by libhdf5.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "data/read/reading.hpp"

namespace sheaf::hdf5 {

/// The type of an array's elements; numbers of other sizes are held by the larger type.
enum class Elements { texts, truths, whole_numbers, floats, doubles };

/// Memory for numbers of one of the types that are read.
using Numbers = std::variant<std::span<float>, std::span<double>, std::span<std::int32_t>, std::span<std::int64_t>>;

/// Functions that meet a defect throw an Error that names the file and the path.
class Reader {
 public:
  explicit Reader(const Reading& reading) : reading_(reading) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  virtual ~Reader() = default;

  virtual bool has(const std::string& path) = 0;
  virtual bool is_group(const std::string& path) = 0;
  /// The names in a group, sorted.
  virtual std::vector<std::string> members(const std::string& group) = 0;
  virtual std::vector<std::int64_t> shape(const std::string& array) = 0;
  /// Elements of an array; an Error if the file cannot hold as many.
  virtual std::int64_t count(const std::string& array) = 0;
  virtual Elements elements(const std::string& array) = 0;
  /// All numbers of an array, or some of one dimension from `first` on.
  virtual void numbers(const std::string& array, std::int64_t first, const Numbers& to) = 0;
  virtual std::vector<std::string> texts(const std::string& array) = 0;
  virtual bool has_attribute(const std::string& path, const std::string& name) = 0;
  virtual std::string text_attribute(const std::string& path, const std::string& name) = 0;
  virtual std::vector<std::int64_t> number_attribute(const std::string& path, const std::string& name) = 0;

 protected:
  const Reading& reading() const { return reading_; }
  [[noreturn]] void fail_path(const std::string& path, std::string_view problem) const;
  /// The Error unless `stored` bytes of a file, deflated perhaps, can hold an array of this shape; its elements. An
  /// array that was never written has none and is all zeros.
  std::int64_t checked_count(const std::string& path, const std::vector<std::int64_t>& shape, std::size_t element_bytes,
                             std::int64_t stored) const;
  /// A text up to its first NUL; nothing is the Error of a text that is not in the file.
  std::string checked_text(const std::string& path, std::optional<std::string_view> text) const;
  [[noreturn]] void fail_no_attribute(const std::string& path, const std::string& name) const;
  [[noreturn]] void fail_not_one_text(const std::string& path, const std::string& name) const;
  [[noreturn]] void fail_no_number_list(const std::string& path, const std::string& name) const;

  /// Whole numbers of the longest list that an attribute may be.
  static constexpr std::int64_t longest_list = 16;

 private:
  const Reading& reading_;
};

/// Reads the bytes of the file; NotKnown: what later versions of the format added (hdf5_objects.hpp).
std::unique_ptr<Reader> read_by_bytes(const Reading& reading);

/// libhdf5, if this build has it; one thread at a time. For what is NotKnown: large groups and many attributes of later
/// versions of the format, new indices of chunks, other filters and types.
std::unique_ptr<Reader> read_by_library(const Reading& reading);

}  // namespace sheaf::hdf5

// HDF5 files. What is not known here of later versions of the format is read by libhdf5 if this build has it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/solvers/array.hpp>

#include "data/read/reading.hpp"

namespace sheaf {

bool is_hdf5(std::string_view bytes);

/// An HDF5 file over bytes in memory, which must outlive it. Paths are such as "obs/cell_type". Every defect is an
/// Error that names the file. hdf5_reader.hpp says who reads it.
class Hdf5File {
 public:
  explicit Hdf5File(const Reading& reading);
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;
  ~Hdf5File();

  bool has(const std::string& path) const;
  bool is_group(const std::string& path) const;
  /// The names in a group, sorted.
  std::vector<std::string> members(const std::string& group) const;
  std::vector<std::int64_t> shape(const std::string& dataset) const;
  /// Elements of a dataset; an Error if the file cannot hold as many.
  std::int64_t count(const std::string& dataset) const;

  /// All numbers of a dataset. Sizes are compared with the memory budget before memory is taken.
  template <class Number>
  Array<Number> numbers(const std::string& dataset) const;
  /// Some numbers of a dataset of one dimension, from `first` on.
  template <class Number>
  void numbers(const std::string& dataset, std::int64_t first, std::span<Number> to) const;
  /// Whether a dataset holds texts, and not numbers.
  bool is_text(const std::string& dataset) const;
  /// All entries as texts that read back as the same; NaN is "".
  std::vector<std::string> texts(const std::string& dataset) const;

  bool has_attribute(const std::string& path, const std::string& name) const;
  /// Attributes of one text, or of a list of whole numbers; an Error if it is none.
  std::string text_attribute(const std::string& path, const std::string& name) const;
  std::vector<std::int64_t> number_attribute(const std::string& path, const std::string& name) const;

 private:
  struct Readers;
  template <class Question>
  auto ask(const Question& question) const;
  template <class Number, class Text>
  std::vector<std::string> number_texts(const std::string& dataset, const Text& text) const;

  const Reading& reading_;
  std::unique_ptr<Readers> readers_;
};

/// Whether all paths are in the file, for looks_like functions. False if it is no HDF5 file, or damaged.
bool hdf5_has(std::string_view bytes, std::initializer_list<std::string_view> paths);

/// The Error of a build without libhdf5.
[[noreturn]] void fail_without_hdf5(std::string_view file);

/// A name as it can stand in a path: / becomes _.
std::string hdf5_name(std::string name);

/// A new HDF5 file, which appears under its name when finish() is called. Groups must be made before their members.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::string& path);
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;
  ~Hdf5Writer();

  void group(const std::string& path);
  /// `shape` empty: one dimension.
  template <class Number>
  void numbers(const std::string& path, std::span<const Number> values, std::vector<std::int64_t> shape = {});
  void texts(const std::string& path, const std::vector<std::string>& values, std::vector<std::int64_t> shape = {});
  void attribute(const std::string& path, const std::string& name, const std::string& value);
  void attribute(const std::string& path, const std::string& name, const std::vector<std::string>& values);
  void attribute(const std::string& path, const std::string& name, const std::vector<std::int64_t>& values);
  void attribute(const std::string& path, const std::string& name, std::int64_t value);
  /// Stored as h5py stores truth values.
  void truth_attribute(const std::string& path, const std::string& name, bool value);
  void finish();

 private:
  struct Handles;
  std::string path_;
  std::unique_ptr<Handles> handles_;
};

}  // namespace sheaf

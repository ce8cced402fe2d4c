// What hdf5_objects.hpp does not know of HDF5 files, read by libhdf5 if this build has it: large groups and many
// attributes of later versions of the format, new indices of chunks, other filters and types.
#pragma once

#include "data/hdf5/hdf5.hpp"

namespace sheaf {

/// The functions of Hdf5File. One thread at a time uses the library.
class Hdf5ByLibrary {
 public:
  explicit Hdf5ByLibrary(const Reading& reading);
  Hdf5ByLibrary(const Hdf5ByLibrary&) = delete;
  Hdf5ByLibrary& operator=(const Hdf5ByLibrary&) = delete;
  ~Hdf5ByLibrary();

  bool has(const std::string& path) const;
  bool is_group(const std::string& path) const;
  std::vector<std::string> members(const std::string& group) const;
  std::vector<std::int64_t> shape(const std::string& dataset) const;
  std::int64_t count(const std::string& dataset) const;
  template <class Number>
  Array<Number> numbers(const std::string& dataset) const;
  template <class Number>
  void numbers(const std::string& dataset, std::int64_t first, std::span<Number> to) const;
  bool is_text(const std::string& dataset) const;
  std::vector<std::string> texts(const std::string& dataset) const;
  bool has_attribute(const std::string& path, const std::string& name) const;
  std::string text_attribute(const std::string& path, const std::string& name) const;
  std::vector<std::int64_t> number_attribute(const std::string& path, const std::string& name) const;

 private:
  struct Handles;
  const Reading& reading_;
  std::unique_ptr<Handles> handles_;
};

}  // namespace sheaf

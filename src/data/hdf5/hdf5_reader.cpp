#include "data/hdf5/hdf5_reader.hpp"

#include <fmt/format.h>

#include "core/fail.hpp"
#include "data/hdf5/hdf5_objects.hpp"

namespace sheaf::hdf5 {

void Reader::fail_path(const std::string& path, std::string_view problem) const {
  fail("{}: '{}' {}", reading_.name, path, problem);
}

std::int64_t Reader::checked_count(const std::string& path, const std::vector<std::int64_t>& shape,
                                   std::size_t element_bytes, std::int64_t stored) const {
  constexpr double most = 9e15;
  double elements = 1;
  for (const auto size : shape) elements *= static_cast<double>(size);
  const auto bytes = elements * static_cast<double>(element_bytes);
  if (elements > most || (stored != 0 && bytes > static_cast<double>(stored) * static_cast<double>(best_ratio)))
    fail_path(path, fmt::format("declares {:.0f} elements, more than its {} stored bytes can hold", elements, stored));
  return static_cast<std::int64_t>(elements);
}

std::string Reader::checked_text(const std::string& path, std::optional<std::string_view> text) const {
  if (!text) fail_path(path, "holds a text at a wrong place of the file; the file is damaged");
  return std::string(text->substr(0, text->find('\0')));
}

void Reader::fail_no_attribute(const std::string& path, const std::string& name) const {
  fail_path(path, fmt::format("has no attribute '{}'", name));
}

void Reader::fail_not_one_text(const std::string& path, const std::string& name) const {
  fail_path(path, fmt::format("has the attribute '{}', which is not one text", name));
}

void Reader::fail_no_number_list(const std::string& path, const std::string& name) const {
  fail_path(path, fmt::format("has the attribute '{}', which is no list of whole numbers", name));
}

}  // namespace sheaf::hdf5

// A .sheaf file over bytes that somebody else may have written: every number of it is compared with its length before
// it is used.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <sheaf/context.hpp>

#include "core/fail.hpp"
#include "core/hash/sha256.hpp"
#include "data/sheaf_file/layout.hpp"

namespace sheaf::sheaf_file {

static_assert(std::endian::native == std::endian::little, ".sheaf files are used as they lie on the disk");

/// An Error for a file whose bytes are not those that were written.
template <class... Args>
[[noreturn]] void fail_damaged(const std::string& name, fmt::format_string<Args...> format, Args&&... args) {
  fail("{}: is damaged: {}; make it again (sheaf convert)", name, fmt::format(format, std::forward<Args>(args)...));
}

class File {
 public:
  struct Section {
    SectionKind kind;
    std::string_view bytes;
    Hash hash;
  };

  /// Checks the header, the table and the sizes of sections. The bytes must outlive the file.
  File(const std::string& name, std::string_view bytes);

  const Header& header() const { return header_; }
  /// nullptr: there is none.
  const Section* find(SectionKind kind) const;
  std::vector<const Section*> all(SectionKind kind) const;

  /// Compares hashes: those of the sections that are no part of the matrix, or of all.
  void check_hashes(const Context& context, bool matrix) const;

  /// The elements of a section; none: there is no such section. An Error unless there are none or `count`.
  template <class Element>
  std::span<const Element> elements(SectionKind kind, std::int64_t count, std::string_view what) const {
    const auto* section = find(kind);
    if (section == nullptr) return {};
    if (section->bytes.size() / sizeof(Element) != static_cast<std::size_t>(count) ||
        section->bytes.size() % sizeof(Element) != 0)
      damaged(fmt::format("its {} take {} bytes, and {} of {} bytes are expected", what, section->bytes.size(), count,
                          sizeof(Element)));
    return {reinterpret_cast<const Element*>(section->bytes.data()), static_cast<std::size_t>(count)};
  }
  /// UTF-8 texts; `count` -1: any number of them.
  std::vector<std::string> texts(SectionKind kind, std::int64_t count, std::string_view what) const;
  std::vector<std::string> texts(const Section& section, std::int64_t count, std::string_view what) const;

  [[noreturn]] void damaged(const std::string& what) const { fail_damaged(name_, "{}", what); }

 private:
  void check_header(std::string_view bytes) const;
  void find_sections(std::string_view bytes);
  void check_matrix() const;

  std::string name_;
  Header header_{};
  std::vector<Section> sections_;
};

/// Size and hash of a dataset's file. A .sheaf file is known by the hash of its header, which covers the hashes of all
/// its sections: a large one is not read for that.
FileHash hash_dataset_file(const std::string& path);

/// Bytes of a value of the .sheaf file at `path`; 0: there is no such file. Reads its first bytes alone.
int stored_element_bytes(const std::string& path);

}  // namespace sheaf::sheaf_file

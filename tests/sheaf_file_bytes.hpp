// The bytes of a .sheaf file, to be changed as somebody would who knows the layout.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include <sheaf/context.hpp>

#include "data/sheaf_file/hash.hpp"
#include "data/sheaf_file/layout.hpp"

namespace sheaf::test {

struct SheafFileBytes {
  std::string bytes;

  sheaf_file::Header header() const {
    sheaf_file::Header result{};
    std::memcpy(&result, bytes.data(), sizeof result);
    return result;
  }
  static std::size_t entry_at(std::size_t k) {
    return sizeof(sheaf_file::Header) + k * sizeof(sheaf_file::SectionEntry);
  }
  sheaf_file::SectionEntry entry(std::size_t k) const {
    sheaf_file::SectionEntry result{};
    std::memcpy(&result, bytes.data() + entry_at(k), sizeof result);
    return result;
  }
  std::size_t section(sheaf_file::SectionKind kind) const {
    std::size_t k = 0;
    while (entry(k).kind != static_cast<std::uint32_t>(kind)) ++k;
    return k;
  }
  SheafFileBytes& set(const std::function<void(sheaf_file::Header&)>& change) {
    auto result = header();
    change(result);
    std::memcpy(bytes.data(), &result, sizeof result);
    return *this;
  }
  SheafFileBytes& set(sheaf_file::SectionKind kind, const std::function<void(sheaf_file::SectionEntry&)>& change) {
    const auto k = section(kind);
    auto result = entry(k);
    change(result);
    std::memcpy(bytes.data() + entry_at(k), &result, sizeof result);
    return *this;
  }
  template <class Element>
  SheafFileBytes& put(sheaf_file::SectionKind kind, std::size_t at, Element value) {
    std::memcpy(bytes.data() + entry(section(kind)).offset + at * sizeof(Element), &value, sizeof value);
    return *this;
  }
  /// All checksums are right again.
  const std::string& sealed() {
    for (std::size_t k = 0; k < header().sections; ++k) {
      auto one = entry(k);
      if (one.offset <= bytes.size() && one.bytes <= bytes.size() - one.offset)
        one.hash =
            sheaf_file::hash_section(Context({.threads = 1}), std::string_view(bytes).substr(one.offset, one.bytes));
      std::memcpy(bytes.data() + entry_at(k), &one, sizeof one);
    }
    return sealed_header();
  }
  const std::string& sealed_header() {
    const auto size = std::clamp<std::size_t>(header().header_bytes, sizeof(sheaf_file::Header), bytes.size());
    return set([&](sheaf_file::Header& h) {
             h.hash = sheaf_file::hash_header(std::string_view(bytes).substr(0, size));
           })
        .bytes;
  }
};

}  // namespace sheaf::test

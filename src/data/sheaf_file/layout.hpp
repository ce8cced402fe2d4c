// The layout of .sheaf files, as docs/formats.md states it: a header of 128 bytes, a table of sections, sections. All
// numbers are little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sheaf::sheaf_file {

inline constexpr std::uint32_t layout_version = 1;
inline constexpr std::int64_t alignment = 64;
inline constexpr std::int64_t page = 4096;           ///< sections of the matrix begin at pages
inline constexpr std::int64_t hash_block = 1 << 20;  ///< bytes that are hashed at once
inline constexpr std::uint32_t most_sections = 65536;

using Hash = std::array<unsigned char, 32>;

/// The numbers are part of the layout.
enum class SectionKind : std::uint32_t {
  about = 1,  ///< JSON: what is short
  summary = 2,
  feature_names = 3,
  row_names = 4,
  level_counts = 5,  ///< of each feature
  levels = 6,
  class_names = 7,
  classes = 8,
  label_values = 9,
  events = 10,
  further_labels = 11,  ///< target after target
  groups = 12,
  group_names = 13,
  weights = 14,
  times = 15,
  folds = 16,
  kept_column = 17,  ///< one section a column
  annotation = 18,   ///< one section a column of texts of the features
  entries = 19,      ///< survival
  strata = 20,       ///< likewise
  values = 32,
  indices = 33,
  offsets = 34,
};

/// Sections of the matrix are as large as it; the others are checked whenever a file is opened.
constexpr bool is_matrix(SectionKind kind) { return kind >= SectionKind::values; }

struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t sections;
  std::uint64_t file_bytes;
  std::uint64_t header_bytes;  ///< with the table of sections
  Hash hash;                   ///< of so many bytes, these 32 taken as zeros
  std::int64_t rows;
  std::int64_t features;
  std::int64_t stored;  ///< entries
  std::uint32_t element_bytes;
  std::uint32_t compressed_rows;  ///< 1; 0: dense rows
  std::uint32_t missing;          ///< 1: there are NaN, which are missing values
  std::array<char, 28> reserved;
};
static_assert(sizeof(Header) == 128 && std::is_trivially_copyable_v<Header>);

struct SectionEntry {
  std::uint32_t kind;
  std::uint32_t reserved;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t reserved_too;
  Hash hash;
};
static_assert(sizeof(SectionEntry) == 64 && std::is_trivially_copyable_v<SectionEntry>);

/// A feature in the section of the summary, behind SummaryHead and the histogram.
struct FeatureEntry {
  std::int64_t nonzeros;
  std::int64_t missing;
  double minimum;
  double maximum;
  double mean;
  double standard_deviation;
};
static_assert(sizeof(FeatureEntry) == 48);

struct SummaryHead {
  std::int64_t nonzeros;
  std::int64_t integers_only;  ///< 0 or 1
  std::int64_t shortest_row;
  std::int64_t longest_row;
  std::int64_t buckets;  ///< of the histogram of rows by non-zeros: 64-bit counts
};
static_assert(sizeof(SummaryHead) == 40);

}  // namespace sheaf::sheaf_file

#include "data/sheaf_file/file.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include "data/bytes/mapped_file.hpp"
#include "data/read/reading.hpp"
#include "data/sheaf_file/hash.hpp"

namespace sheaf::sheaf_file {

File::File(const std::string& name, std::string_view bytes) : name_(name) {
  if (bytes.size() < sizeof(Header)) damaged(fmt::format("it has {} bytes, less than a header", bytes.size()));
  std::memcpy(&header_, bytes.data(), sizeof(Header));
  check_header(bytes);
  find_sections(bytes);
  check_matrix();
}

void File::check_header(std::string_view bytes) const {
  if (!bytes.starts_with(sheaf_magic)) fail("{}: is no .sheaf file: it does not begin as one", name_);
  if (header_.version > layout_version)
    fail(
        "{}: has version {} of the layout, and this Sheaf reads version {} and earlier ones; read it with a newer "
        "Sheaf, or convert it there",
        name_, header_.version, layout_version);
  if (header_.version == 0) damaged("it has no version");
  if (header_.file_bytes != bytes.size())
    damaged(fmt::format("it has {} bytes, and its header says {}", bytes.size(), header_.file_bytes));
  const auto table = sizeof(Header) + std::uint64_t{header_.sections} * sizeof(SectionEntry);
  if (header_.sections > most_sections || header_.header_bytes != table || table > bytes.size())
    damaged(fmt::format("its header of {} bytes does not have {} sections", header_.header_bytes, header_.sections));
  if (hash_header(bytes.substr(0, table)) != header_.hash) damaged("the checksum of its header is another one");
}

void File::find_sections(std::string_view bytes) {
  std::uint64_t end = header_.header_bytes;
  for (std::uint32_t k = 0; k < header_.sections; ++k) {
    SectionEntry entry{};
    std::memcpy(&entry, bytes.data() + sizeof(Header) + k * sizeof(SectionEntry), sizeof(SectionEntry));
    const bool fits = entry.offset % alignment == 0 && entry.offset >= end && entry.offset <= bytes.size() &&
                      entry.bytes <= bytes.size() - entry.offset;
    if (!fits)
      damaged(fmt::format("section {} has {} bytes from byte {} on, which is no place for it", k + 1, entry.bytes,
                          entry.offset));
    end = entry.offset + entry.bytes;
    sections_.push_back({static_cast<SectionKind>(entry.kind), bytes.substr(entry.offset, entry.bytes), entry.hash});
  }
}

void File::check_matrix() const {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() - 1;
  const auto& h = header_;
  if (h.rows < 1 || h.rows > most || h.features < 0 || h.features > most || h.stored < 0)
    damaged(fmt::format("it declares {} rows, {} features and {} values", h.rows, h.features, h.stored));
  if ((h.element_bytes != 4 && h.element_bytes != 8) || h.compressed_rows > 1)
    damaged(fmt::format("it declares values of {} bytes in layout {}", h.element_bytes, h.compressed_rows));
  const auto check = [&](SectionKind kind, std::int64_t count, std::int64_t bytes, std::string_view what) {
    const auto* section = find(kind);
    const auto size = section == nullptr ? 0 : section->bytes.size();
    if (section == nullptr || size / static_cast<std::size_t>(bytes) != static_cast<std::size_t>(count) ||
        size % static_cast<std::size_t>(bytes) != 0)
      damaged(fmt::format("its {} take {} bytes, and {} of {} bytes are expected", what, size, count, bytes));
  };
  if (h.compressed_rows == 0 && h.stored != h.rows * h.features)  // both fit 31 bits
    damaged(fmt::format("{} rows of {} features do not have {} values", h.rows, h.features, h.stored));
  check(SectionKind::values, h.stored, h.element_bytes, "values");
  if (h.compressed_rows == 0) return;
  check(SectionKind::indices, h.stored, 4, "indices");
  check(SectionKind::offsets, h.rows + 1, 8, "offsets");
}

const File::Section* File::find(SectionKind kind) const {
  const auto found =
      std::find_if(sections_.begin(), sections_.end(), [&](const auto& one) { return one.kind == kind; });
  return found == sections_.end() ? nullptr : &*found;
}

std::vector<const File::Section*> File::all(SectionKind kind) const {
  std::vector<const Section*> found;
  for (const auto& section : sections_)
    if (section.kind == kind) found.push_back(&section);
  return found;
}

void File::check_hashes(const Context& context, bool matrix) const {
  for (std::size_t k = 0; k < sections_.size(); ++k)
    if (matrix || !is_matrix(sections_[k].kind))
      if (hash_section(context, sections_[k].bytes) != sections_[k].hash)
        damaged(fmt::format("the checksum of section {} (kind {}) is another one", k + 1,
                            static_cast<std::uint32_t>(sections_[k].kind)));
}

std::vector<std::string> File::texts(SectionKind kind, std::int64_t count, std::string_view what) const {
  const auto* section = find(kind);
  return section == nullptr ? std::vector<std::string>() : texts(*section, count, what);
}

/// The number of texts, where each ends, and their bytes.
std::vector<std::string> File::texts(const Section& section, std::int64_t count, std::string_view what) const {
  constexpr std::size_t word = sizeof(std::uint64_t);
  const auto bytes = section.bytes;
  const auto number = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at * word, word);
    return value;
  };
  const auto declared = bytes.size() < word ? 0 : number(0);
  if (bytes.size() < word || declared > bytes.size() / word - 1 ||
      (count >= 0 && declared != static_cast<std::uint64_t>(count)))
    damaged(fmt::format("its {} are {} in {} bytes, and {} are expected", what, declared, bytes.size(), count));
  const auto letters = bytes.substr((1 + declared) * word);
  std::vector<std::string> texts;
  texts.reserve(declared);
  std::uint64_t begin = 0;
  for (std::size_t k = 1; k <= declared; ++k) {
    const auto end = number(k);
    if (end < begin || end > letters.size()) damaged(fmt::format("number {} of its {} ends nowhere", k, what));
    texts.emplace_back(letters.substr(begin, end - begin));
    if (!is_utf8(texts.back())) damaged(fmt::format("number {} of its {} is no UTF-8 text", k, what));
    begin = end;
  }
  return texts;
}

namespace {

/// The identity of the .sheaf file at `path`; none: there is no such file.
std::optional<Header> header_at(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  Header header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return {};
  if (std::string_view(header.magic.data(), header.magic.size()) != sheaf_magic) return {};
  return header;
}

}  // namespace

FileHash hash_dataset_file(const std::string& path) {
  const auto header = header_at(path);
  if (!header) return hash_file(path);
  return {static_cast<std::int64_t>(header->file_bytes), hash_text(header->hash)};
}

int stored_element_bytes(const std::string& path) {
  const auto header = header_at(path);
  return header ? static_cast<int>(header->element_bytes) : 0;
}

}  // namespace sheaf::sheaf_file

// Zip archives: the container of .npz, .xlsx and .qza. Members are stored or deflated; archives may be larger than 4
// GiB (zip64).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/solvers/array.hpp>

#include "data/bytes/sink.hpp"

namespace sheaf {

/// Whether the bytes begin as those of a zip archive with members.
bool is_zip(std::string_view bytes);

/// The members of an archive. Every defect is an Error that names the file.
class ZipArchive {
 public:
  struct Member {
    std::string name;
    std::uint64_t packed_bytes = 0;
    std::uint64_t bytes = 0;   ///< declared; what is unpacked must be as many
    std::uint64_t header = 0;  ///< offset of the local header
    std::uint32_t checksum = 0;
    std::uint16_t method = 0;
    bool encrypted = false;
  };
  /// The content of a member: a view of the archive, or unpacked memory.
  struct Content {
    Array<char> memory;
    std::string_view bytes;
  };

  /// `bytes` and `file` must outlive the archive.
  ZipArchive(std::string_view bytes, const std::string& file);

  const std::vector<Member>& members() const { return members_; }
  /// nullptr: there is none.
  const Member* find(std::string_view name) const;
  /// The declared size is compared with the packed bytes and with `most` before memory is taken.
  Content read(const Member& member, std::int64_t most) const;

 private:
  std::string_view piece(std::uint64_t at, std::uint64_t size, std::string_view what) const;
  void read_directory();
  Member read_member(std::uint64_t& at) const;

  std::string_view bytes_;
  const std::string& file_;
  std::vector<Member> members_;
};

/// Writes an archive whose members are stored as they are.
class ZipWriter {
 public:
  explicit ZipWriter(Sink& sink) : sink_(sink) {}
  /// A member whose content is that of the pieces, one after the other.
  void add(const std::string& name, std::initializer_list<std::string_view> pieces);
  /// Writes the directory. The sink is not finished.
  void finish();

 private:
  Sink& sink_;
  std::uint64_t at_ = 0;
  std::string directory_;
  std::uint64_t count_ = 0;
};

}  // namespace sheaf

#include "data/bytes/sink.hpp"

#include <cerrno>
#include <cstring>

#include <unistd.h>

#include <sheaf/io.hpp>

#include "core/fail.hpp"
#include "data/bytes/compression.hpp"

namespace sheaf {
namespace {

void write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
    if (done >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(done));
    else if (errno != EINTR)
      fail("{}: cannot be written: {}", path, std::strerror(errno));
  }
}

class StandardOutput : public Sink {
 public:
  void write(std::string_view bytes) override { write_all(STDOUT_FILENO, bytes, "standard output"); }
  void finish() override {}
};

class FileSink : public Sink {
 public:
  explicit FileSink(const std::string& path, Links links = Links::follow) : path_(path), temporary_(path, links) {}
  void write(std::string_view bytes) override { write_all(temporary_.descriptor(), bytes, path_); }
  void finish() override { temporary_.publish(); }

 private:
  std::string path_;
  TemporaryFile temporary_;
};

/// A compressor and the file behind it.
class CompressedFile : public Sink {
 public:
  CompressedFile(const std::string& path, const Compression& compression)
      : file_(path), compressor_(compression.compress(file_)) {}
  void write(std::string_view bytes) override { compressor_->write(bytes); }
  void finish() override {
    compressor_->finish();
    file_.finish();
  }

 private:
  FileSink file_;
  std::unique_ptr<Sink> compressor_;
};

}  // namespace

std::unique_ptr<Sink> open_sink(const std::string& path) {
  if (path == "-") return std::make_unique<StandardOutput>();
  if (const Compression* compression = find_compression_by_ending(path))
    return std::make_unique<CompressedFile>(path, *compression);
  return std::make_unique<FileSink>(path);
}

void write_text_file(const std::string& path, std::string_view text) { write_file(path, text, Links::follow); }

std::unique_ptr<Sink> open_plain_file(const std::string& path, Links links) {
  return std::make_unique<FileSink>(path, links);
}

void write_file(const std::string& path, std::string_view text, Links links) {
  FileSink file(path, links);
  file.write(text);
  file.finish();
}

bool write_new_file(const std::string& path, std::string_view text) {
  TemporaryFile file(path, Links::replace);
  write_all(file.descriptor(), text, path);
  return file.publish_first();
}

}  // namespace sheaf

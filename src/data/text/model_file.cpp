#include "data/text/model_file.hpp"

#include <algorithm>

#include "core/hash/sha256.hpp"

namespace sheaf {
namespace {

constexpr std::string_view checksum_key = "checksum ";
constexpr std::size_t checksum_digits = 16;

/// Line ends count as \n, so that files survive programs that change them to \r\n.
std::string checksum_of(std::string_view text) {
  if (text.find('\r') == std::string_view::npos) return sha256(text).substr(0, checksum_digits);
  std::string plain(text);
  for (std::size_t at = 0; (at = plain.find("\r\n", at)) != std::string::npos;) plain.erase(at, 1);
  return sha256(plain).substr(0, checksum_digits);
}

class HashedSink : public Sink {
 public:
  explicit HashedSink(Sink& to) : to_(to) {}
  void write(std::string_view bytes) override {
    hash.add(bytes);
    to_.write(bytes);
  }
  void finish() override {}

  Sha256 hash;

 private:
  Sink& to_;
};

}  // namespace

std::string read_model_family(ModelReader& reader, std::span<const std::string> known) {
  if (reader.peek() == "sheaf-linear-model" || reader.peek() == "sheaf-svm-model")
    reader.fail_here("an earlier version of Sheaf wrote this model; train it again");
  reader.heading(model_file_magic, model_file_version);
  std::size_t family = 0;
  choice_line(reader, "family", family, known);
  return known[family];
}

void write_model_file(Sink& to, std::string_view family, int version, const std::function<void(ModelWriter&)>& write) {
  HashedSink hashed(to);
  ModelWriter file(hashed);
  file.text() += fmt::format("{} {}\nfamily {}\n", model_file_magic, version, family);
  write(file);
  file.flush();
  to.write(fmt::format("{}{}\n", checksum_key, hashed.hash.finish().substr(0, checksum_digits)));
}

std::string_view without_checksum(std::string_view text, const std::string& name) {
  const auto heading = text.substr(0, text.find_first_of("\r\n"));
  const bool has_checksum = heading == fmt::format("{} {}", model_file_magic, plain_model_version) ||
                            heading == fmt::format("{} {}", model_file_magic, model_file_version);
  if (!has_checksum) return text;
  const auto end = text.find_last_not_of("\r\n");
  const auto begin = end == std::string_view::npos ? 0 : text.rfind('\n', end) + 1;  // npos + 1: the first byte
  const auto line =
      static_cast<std::int64_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n')) + 1;
  const auto last = end == std::string_view::npos ? std::string_view() : text.substr(begin, end + 1 - begin);
  if (!last.starts_with(checksum_key))
    throw ParseError({name, line, 1}, "expected the checksum in the last line: the end of the file is missing");
  const auto body = text.substr(0, begin);
  if (last.substr(checksum_key.size()) != checksum_of(body))
    throw ParseError(
        {name, line, static_cast<std::int64_t>(checksum_key.size()) + 1},
        "the checksum is that of another text: the file was damaged or changed since it was written (if it was "
        "changed on purpose, make its version 1 and remove this line)");
  return body;
}

}  // namespace sheaf

// Messages between a server and the site behind it. Nothing here knows how bytes travel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

namespace sheaf::app {

/// Takes a body as it arrives. Destroyed before its request was answered with success, it leaves nothing behind.
class BodySink {
 public:
  BodySink() = default;
  BodySink(const BodySink&) = delete;
  BodySink& operator=(const BodySink&) = delete;
  virtual ~BodySink() = default;
  virtual void write(std::string_view bytes) = 0;
};

struct Request {
  std::string method;
  std::string path;   ///< as it was sent, from the first / on; its % are followed by digits
  std::string query;  ///< encoded, without the ?
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case
  std::optional<std::uint64_t> length;                       ///< of the body, if the client says it
  std::string body;
  std::unique_ptr<BodySink> sink;  ///< has the body instead

  /// Empty if there is no such header.
  std::string_view header(std::string_view name) const {
    for (const auto& [known, value] : headers)
      if (known == name) return value;
    return {};
  }
};

/// Server-sent events, asked for again and again on one thread at a time.
class EventStream {
 public:
  EventStream() = default;
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;
  virtual ~EventStream() = default;
  /// False: next() would have nothing. Quick, and touches no file: on the thread of the network.
  virtual bool is_due() const { return true; }
  /// News as text of such a stream; empty: there are none.
  virtual std::string next() = 0;
  /// Nothing will follow.
  virtual bool ended() const = 0;
};

/// Bytes of an open file.
class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

struct Response {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string_view constant = {};     ///< or bytes that live as long as the program
  std::optional<OpenFile> file = {};  ///< or a part of a file
  std::uint64_t file_begin = 0, file_length = 0;
  std::unique_ptr<EventStream> events = {};
};

/// An answer other than success, thrown by whatever finds out.
struct Refusal {
  int status = 400;
  std::string code;     ///< stable, for programs
  std::string message;  ///< for people
  std::string field = {};
};

/// How the body of a request is taken.
struct BodyPlan {
  std::uint64_t limit = 0;  ///< a longer one is refused
  std::unique_ptr<BodySink> sink = {};
};

/// The site behind a server. Functions are called from several threads.
class Site {
 public:
  Site() = default;
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  virtual ~Site() = default;
  /// Before the body is read, quickly: an answer that refuses the request, or none. May shorten its path.
  virtual std::optional<Response> refuse(Request& request) = 0;
  /// Then.
  virtual BodyPlan take_body(const Request& request) = 0;
  /// With its body.
  virtual Response answer(Request& request) = 0;
  virtual Response describe(const Refusal& refusal) = 0;
};

}  // namespace sheaf::app

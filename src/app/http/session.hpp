// A connection of a server, encrypted or not.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <list>
#include <memory>
#include <type_traits>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "app/http/server.hpp"
#include "app/http/url.hpp"

namespace sheaf::app {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

using PlainStream = beast::tcp_stream;

constexpr std::size_t part_bytes = std::size_t{256} << 10U;
constexpr std::chrono::milliseconds event_interval{100};
constexpr std::chrono::seconds heartbeat{15};

/// Serves a connection of either kind.
class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;
  virtual void close() = 0;
};

/// The state that all connections share. It belongs to the thread of the network.
struct Shared {
  Site& site;
  ServerLimits limits;
  asio::thread_pool& workers;
  std::size_t connections = 0;
  std::list<Connection*> waiting;  // for a request, the longest first
};

inline std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// A connection. Its functions run on the thread of the network; the site answers on others.
template <class Stream>
class Session : public Connection, public std::enable_shared_from_this<Session<Stream>> {
 public:
  /// `arguments`: of the stream.
  template <class... Arguments>
  explicit Session(Shared& shared, Arguments&&... arguments)
      : stream_(std::forward<Arguments>(arguments)...), timer_(stream_.get_executor()), shared_(shared) {
    ++shared_.connections;
  }
  ~Session() override {
    stop_waiting();
    leave();
  }

  void start() {
    const auto time = shared_.limits.first_request;
    if constexpr (encrypted) {
      wait_for_client(time);
      stream_.async_handshake(Stream::server, [self = kept(), time](error_code error) {
        self->stop_waiting();
        if (!error) self->read_header(time);
      });
    } else {
      read_header(time);
    }
  }

  void close() override {
    stop_waiting();
    leave();
    error_code ignored;
    socket().shutdown(tcp::socket::shutdown_both, ignored);
    socket().close(ignored);
  }

 private:
  using Parser = http::request_parser<http::buffer_body>;
  static constexpr bool encrypted = !std::is_same_v<Stream, PlainStream>;

  auto kept() { return this->shared_from_this(); }
  beast::tcp_stream& connection() { return beast::get_lowest_layer(stream_); }
  tcp::socket& socket() { return connection().socket(); }

  void leave() {
    if (counted_) --shared_.connections;
    counted_ = false;
  }

  void wait_for_client(std::chrono::seconds time) {
    place_ = shared_.waiting.insert(shared_.waiting.end(), this);
    waits_ = true;
    connection().expires_after(time);
  }

  void stop_waiting() {
    if (!waits_) return;
    shared_.waiting.erase(place_);
    waits_ = false;
  }

  void read_header(std::chrono::seconds time) {
    parser_.emplace();
    parser_->header_limit(shared_.limits.header_bytes);
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());  // the site's limit is checked in take_part()
    request_ = {};
    received_ = 0;
    wait_for_client(time);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = kept()](error_code error, std::size_t) { self->on_header(error); });
  }

  void on_header(error_code error) {
    stop_waiting();
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return refuse({431, "too_large", "the header of the request is too long"});
    if (error && error.category() == http::make_error_code(http::error::bad_target).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message)
      return refuse({400, "bad_request", "this is not HTTP"});
    if (error) return;
    if (!take_header()) return refuse({400, "bad_request", "the address of the request is damaged"});
    begin();
  }

  bool take_header() {
    const auto& message = parser_->get();
    const std::string_view target(message.target().data(), message.target().size());
    const auto mark = std::min(target.find('?'), target.size());
    if (!target.starts_with('/') || !percent_decoded(target.substr(0, mark))) return false;
    const auto method = message.method_string();
    request_.method.assign(method.data(), method.size());
    request_.path = target.substr(0, mark);
    request_.query = target.substr(std::min(mark + 1, target.size()));
    for (const auto& field : message)
      request_.headers.emplace_back(lower({field.name_string().data(), field.name_string().size()}),
                                    std::string(field.value().data(), field.value().size()));
    if (const auto length = parser_->content_length()) request_.length = *length;
    keep_alive_ = message.keep_alive();
    head_ = message.method() == http::verb::head;
    return true;
  }

  void begin() {
    try {
      if (auto refused = shared_.site.refuse(request_)) {
        keep_alive_ = keep_alive_ && parser_->is_done();
        return respond(std::move(*refused));
      }
      plan_ = shared_.site.take_body(request_);
    } catch (const Refusal& refusal) {
      return refuse(refusal);
    }
    if (request_.length && *request_.length > plan_.limit) return refuse_body();
    if (parser_->is_done()) return answer();
    request_.sink = std::move(plan_.sink);
    if (!request_.sink) connection().expires_after(shared_.limits.body_part);
    if (lower(request_.header("expect")) != "100-continue") return read_body();
    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(go_on), [self = kept()](error_code error, std::size_t) {
      if (!error) self->read_body();
    });
  }

  void refuse_body() {
    refuse({413, "too_large", fmt::format("the body may have at most {} bytes here", plan_.limit)});
  }

  void read_body() {
    part_.resize(part_bytes);
    auto& body = parser_->get().body();
    body.data = part_.data();
    body.size = part_.size();
    body.more = true;
    if (request_.sink) connection().expires_after(shared_.limits.body_part);
    http::async_read(stream_, buffer_, *parser_, [self = kept()](error_code error, std::size_t) {
      if (error && error != http::error::need_buffer) return;  // gone, or too slow
      self->take_part();
    });
  }

  void take_part() {
    const auto bytes = part_.size() - parser_->get().body().size;
    received_ += bytes;
    if (received_ > plan_.limit) return refuse_body();
    if (!request_.sink) {
      request_.body.append(part_.data(), bytes);
      return parser_->is_done() ? answer() : read_body();
    }
    connection().expires_never();
    asio::post(shared_.workers, [self = kept(), bytes] {
      std::optional<Refusal> refusal;
      try {
        self->request_.sink->write({self->part_.data(), bytes});
      } catch (const Refusal& found) {
        refusal = found;
      } catch (const std::exception& error) {
        refusal = Refusal{500, "failed", error.what()};
      }
      asio::post(self->stream_.get_executor(), [self, refusal] {
        if (refusal) return self->refuse(*refusal);
        self->parser_->is_done() ? self->answer() : self->read_body();
      });
    });
  }

  void answer() {
    connection().expires_never();
    asio::post(shared_.workers, [self = kept()] {
      auto response = std::make_shared<Response>();
      try {
        *response = self->shared_.site.answer(self->request_);
      } catch (const Refusal& refusal) {
        *response = self->shared_.site.describe(refusal);
      } catch (const std::exception& error) {
        *response = self->shared_.site.describe({500, "failed", error.what()});
      }
      self->request_.sink.reset();
      asio::post(self->stream_.get_executor(), [self, response] { self->respond(std::move(*response)); });
    });
  }

  /// The rest of the request is not read.
  void refuse(const Refusal& refusal) {
    keep_alive_ = false;
    request_.sink.reset();
    respond(shared_.site.describe(refusal));
  }

  void respond(Response response) {
    response_ = std::move(response);
    head_message_ = http::response<http::empty_body>(static_cast<http::status>(response_.status), 11);
    for (const auto& [name, value] : response_.headers) head_message_.insert(name, value);
    sent_ = 0;
    length_ = response_.file ? response_.file_length : bytes().size();
    if (response_.events) keep_alive_ = false;
    if (!response_.events && response_.status != 204 && response_.status != 304)
      head_message_.set(http::field::content_length, std::to_string(length_));
    head_message_.keep_alive(keep_alive_);
    serializer_.emplace(head_message_);
    connection().expires_after(shared_.limits.write_part);
    http::async_write_header(stream_, *serializer_, [self = kept()](error_code error, std::size_t) {
      if (error) return;
      if (self->response_.events) return self->send_events();
      self->send_rest();
    });
  }

  std::string_view bytes() const { return response_.constant.empty() ? response_.body : response_.constant; }

  void send_rest() {
    if (head_ || sent_ >= length_) return finish();
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(part_bytes, length_ - sent_));
    std::string_view next;
    if (response_.file) {
      part_.resize(part_bytes);
      const auto got =
          ::pread(response_.file->descriptor(), part_.data(), size, static_cast<off_t>(response_.file_begin + sent_));
      if (got <= 0) return close();  // cut short: the client sees that bytes are missing
      next = {part_.data(), static_cast<std::size_t>(got)};
    } else {
      next = bytes().substr(static_cast<std::size_t>(sent_), size);
    }
    sent_ += next.size();
    connection().expires_after(shared_.limits.write_part);
    asio::async_write(stream_, asio::buffer(next), [self = kept()](error_code error, std::size_t) {
      if (!error) self->send_rest();
    });
  }

  void finish() {
    if (keep_alive_) {
      response_ = {};
      return read_header(shared_.limits.idle);
    }
    // The client may still be sending: it would not see the answer if the connection were closed now.
    end_sending([self = kept()] { self->discard(); });
  }

  template <class Next>
  void end_sending(Next next) {
    connection().expires_after(std::chrono::seconds(2));
    const auto end = [self = kept(), next] {
      error_code ignored;
      self->socket().shutdown(tcp::socket::shutdown_send, ignored);
      next();
    };
    if constexpr (encrypted)
      stream_.async_shutdown([end](error_code) { end(); });
    else
      end();
  }

  void discard() {
    part_.resize(part_bytes);
    connection().async_read_some(asio::buffer(part_), [self = kept()](error_code error, std::size_t bytes) {
      self->discarded_ += bytes;
      if (!error && self->discarded_ < 64 * part_bytes) self->discard();
    });
  }

  /// Events are asked for at intervals, and a client that has gone is noticed by its closed connection.
  void send_events() {
    connection().expires_never();
    watch();
    tick();
  }

  void watch() {
    stream_.async_read_some(asio::buffer(ignored_), [self = kept()](error_code error, std::size_t) {
      if (!error) return self->watch();
      self->gone_ = true;
      self->timer_.cancel();
    });
  }

  void tick() {
    if (!response_.events->is_due()) return send({});
    asio::post(shared_.workers, [self = kept()] {
      std::string text;
      try {
        text = self->response_.events->next();
      } catch (...) {
        self->failed_ = true;
      }
      asio::post(self->stream_.get_executor(),
                 [self, text = std::move(text)]() mutable { self->send(std::move(text)); });
    });
  }

  void send(std::string text) {
    if (gone_) return;
    const auto now = std::chrono::steady_clock::now();
    const bool last = failed_ || response_.events->ended();
    if (text.empty() && !last && now - spoken_ > heartbeat) text = ": \n\n";
    if (text.empty()) return last ? close() : wait();
    spoken_ = now;
    text_ = std::move(text);
    connection().expires_after(shared_.limits.write_part);
    asio::async_write(stream_, asio::buffer(text_), [self = kept(), last](error_code error, std::size_t) {
      if (error) return;
      self->connection().expires_never();
      last ? self->end_sending([] {}) : self->wait();
    });
  }

  void wait() {
    timer_.expires_after(event_interval);
    timer_.async_wait([self = kept()](error_code error) {
      if (!error && !self->gone_) self->tick();
    });
  }

  Stream stream_;
  asio::steady_timer timer_;
  Shared& shared_;
  beast::flat_buffer buffer_{std::size_t{128} << 10U};
  std::optional<Parser> parser_;
  Request request_;
  BodyPlan plan_;
  std::uint64_t received_ = 0, discarded_ = 0;
  std::vector<char> part_;
  bool keep_alive_ = false, head_ = false;
  Response response_;
  http::response<http::empty_body> head_message_;
  std::optional<http::response_serializer<http::empty_body>> serializer_;
  std::uint64_t sent_ = 0, length_ = 0;
  std::list<Connection*>::iterator place_;
  bool waits_ = false;
  bool counted_ = true;
  bool gone_ = false, failed_ = false;  // of events
  std::string text_;
  std::array<char, 64> ignored_{};
  std::chrono::steady_clock::time_point spoken_ = std::chrono::steady_clock::now();
};

}  // namespace sheaf::app

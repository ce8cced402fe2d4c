// HTTP/1.1 over TCP or TLS: one thread for the network, a few for answers. Boost.Beast parses; server.cpp alone sees
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "app/http/message.hpp"

namespace sheaf::app {

/// Limits of a client. A client beyond them is refused or dropped.
struct ServerLimits {
  std::uint32_t header_bytes = 16 * 1024;
  std::size_t connections = 200;           ///< beyond them, the one that has waited longest without a request is closed
  std::chrono::seconds first_request{10};  ///< for a whole header
  std::chrono::seconds idle{60};           ///< the same between requests
  std::chrono::seconds body_part{30};      ///< for each part of a body, and for a whole one that is kept in memory
  std::chrono::seconds write_part{30};     ///< for each part of an answer
  int threads = 4;                         ///< that answer
};

/// Files that make a server one of TLS: the chain of certificates, its own first, and the private key.
struct Certificate {
  std::string chain, key;
};

/// A port that is listened to.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;
  virtual std::uint16_t port() const = 0;
  /// Serves until `stop` is requested.
  virtual void run(const std::stop_token& stop) = 0;
};

class Server {
 public:
  /// Listens, without encryption if there is no certificate. Port 0: any that is free. An address or port that cannot
  /// be had and files that are no certificate are Errors.
  Server(Site& site, const std::string& address, std::uint16_t port, const std::optional<Certificate>& certificate = {},
         const ServerLimits& limits = {});

  std::uint16_t port() const { return listener_->port(); }
  /// Serves until `stop` is requested.
  void run(const std::stop_token& stop) { listener_->run(stop); }

 private:
  std::unique_ptr<Listener> listener_;
};

}  // namespace sheaf::app

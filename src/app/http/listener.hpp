// A port and all its connections. Included by the sources that know Boost: server.cpp and tls/tls_listener.cpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "app/http/session.hpp"
#include "core/fail.hpp"

namespace sheaf::app {

template <class Stream>
class PortListener : public Listener {
 public:
  /// `arguments`: of each connection's stream beside its socket; they must outlive this.
  template <class... Arguments>
  PortListener(Site& site, const std::string& address, std::uint16_t port, const ServerLimits& limits,
               Arguments&... arguments)
      : workers_(static_cast<std::size_t>(limits.threads)), shared_{site, limits, workers_, 0, {}} {
    begin_ = [this, &arguments...](tcp::socket socket) {
      std::make_shared<Session<Stream>>(shared_, std::move(socket), arguments...)->start();
    };
    listen(address, port);
  }

  std::uint16_t port() const override { return acceptor_.local_endpoint().port(); }
  void run(const std::stop_token& stop) override {
    accept();
    const std::stop_callback on_stop(stop, [this] { io_.stop(); });
    io_.run();
    workers_.join();
  }

 private:
  void listen(const std::string& address, std::uint16_t port) {
    error_code error;
    const auto where = asio::ip::make_address(address, error);
    if (error) fail("--host {}: is no address of this machine, such as 127.0.0.1 or ::1", address);
    const tcp::endpoint endpoint(where, port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    if (error)
      fail("{}:{}: cannot listen there: {}; give another --port, or 0 for any that is free", address, port,
           error.message());
  }

  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) {
        make_room();
        if (shared_.connections < shared_.limits.connections) begin_(std::move(socket));
        return accept();
      }
      pause_.expires_after(std::chrono::milliseconds(100));  // no descriptors are left, for instance
      pause_.async_wait([this](error_code) { accept(); });
    });
  }

  /// Connections that wait for a request give way to new ones.
  void make_room() {
    if (shared_.connections >= shared_.limits.connections && !shared_.waiting.empty()) shared_.waiting.front()->close();
  }

  asio::thread_pool workers_;
  Shared shared_;
  std::function<void(tcp::socket)> begin_;
  asio::io_context io_{1};  // its end is that of all connections, which use what stands above
  tcp::acceptor acceptor_{io_};
  asio::steady_timer pause_{io_};
};

}  // namespace sheaf::app

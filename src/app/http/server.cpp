#include "app/http/server.hpp"

#if SHEAF_BEAST

#include <optional>

#include "app/http/session.hpp"
#include "core/fail.hpp"

namespace sheaf::app {
namespace {

#if SHEAF_TLS

using Tls = asio::ssl::context;

/// Versions before 1.2 are refused.
Tls tls_of(const Certificate& certificate) {
  Tls tls(Tls::tls_server);
  tls.set_options(Tls::default_workarounds | Tls::no_sslv2 | Tls::no_sslv3 | Tls::no_tlsv1 | Tls::no_tlsv1_1);
  error_code error;
  tls.set_password_callback([](std::size_t, Tls::password_purpose) { return std::string(); }, error);
  tls.use_certificate_chain_file(certificate.chain, error);
  if (error)
    fail("--certificate {}: cannot be read as certificates (PEM), that of this machine first: {}", certificate.chain,
         error.message());
  tls.use_private_key_file(certificate.key, Tls::pem, error);
  if (error)
    fail("--key {}: cannot be read as the private key (PEM, without a password) of the certificate {}: {}",
         certificate.key, certificate.chain, error.message());
  return tls;
}

#else

struct Tls {};

Tls tls_of(const Certificate& certificate) {
  fail("--certificate {}: this program was built without OpenSSL; install libssl-dev and build it again",
       certificate.chain);
}

#endif

}  // namespace

struct Server::State {
  State(Site& site, const ServerLimits& limits, const std::optional<Certificate>& certificate)
      : workers(static_cast<std::size_t>(limits.threads)), shared{site, limits, workers, 0, {}} {
    if (certificate) tls.emplace(tls_of(*certificate));
  }

  void listen(const std::string& address, std::uint16_t port) {
    error_code error;
    const auto where = asio::ip::make_address(address, error);
    if (error) fail("--host {}: is no address of this machine, such as 127.0.0.1 or ::1", address);
    const tcp::endpoint endpoint(where, port);
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
    if (error)
      fail("{}:{}: cannot listen there: {}; give another --port, or 0 for any that is free", address, port,
           error.message());
  }

  void accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) {
        make_room();
        if (shared.connections < shared.limits.connections) begin(std::move(socket));
        return accept();
      }
      pause.expires_after(std::chrono::milliseconds(100));  // no descriptors are left, for instance
      pause.async_wait([this](error_code) { accept(); });
    });
  }

  void begin(tcp::socket socket) {
#if SHEAF_TLS
    if (tls) return std::make_shared<Session<TlsStream>>(shared, std::move(socket), *tls)->start();
#endif
    std::make_shared<Session<PlainStream>>(shared, std::move(socket))->start();
  }

  /// Connections that wait for a request give way to new ones.
  void make_room() {
    if (shared.connections >= shared.limits.connections && !shared.waiting.empty()) shared.waiting.front()->close();
  }

  std::optional<Tls> tls;
  asio::thread_pool workers;
  Shared shared;
  asio::io_context io{1};  // its end is that of all connections, which use what stands above
  tcp::acceptor acceptor{io};
  asio::steady_timer pause{io};
};

Server::Server(Site& site, const std::string& address, std::uint16_t port,
               const std::optional<Certificate>& certificate, const ServerLimits& limits)
    : state_(std::make_unique<State>(site, limits, certificate)) {
  state_->listen(address, port);
}

Server::~Server() = default;

std::uint16_t Server::port() const { return state_->acceptor.local_endpoint().port(); }

void Server::run(const std::stop_token& stop) {
  state_->accept();
  const std::stop_callback on_stop(stop, [this] { state_->io.stop(); });
  state_->io.run();
  state_->workers.join();
}

}  // namespace sheaf::app

#else

#include "core/fail.hpp"

namespace sheaf::app {

struct Server::State {};

Server::Server(Site&, const std::string&, std::uint16_t, const std::optional<Certificate>&, const ServerLimits&) {
  fail(
      "this program was built without Boost.Beast, so that it serves no page; install libboost-dev and build it again");
}
Server::~Server() = default;
std::uint16_t Server::port() const { return 0; }
void Server::run(const std::stop_token&) {}

}  // namespace sheaf::app

#endif

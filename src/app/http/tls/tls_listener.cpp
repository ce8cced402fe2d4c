// Makes sheaf-tls.so: a listener whose connections are encrypted by OpenSSL.
#include "app/http/tls_listener.hpp"

#include <boost/asio/ssl.hpp>
#include <boost/beast/ssl.hpp>

#include <sheaf/version.hpp>

#include "app/http/listener.hpp"

namespace sheaf::app {
namespace {

using Tls = asio::ssl::context;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

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

/// The context is there before the connections that use it, and after them.
struct Context {
  Tls tls;
};
class EncryptedListener : private Context, public PortListener<TlsStream> {
 public:
  EncryptedListener(Site& site, const std::string& address, std::uint16_t port, const Certificate& certificate,
                    const ServerLimits& limits)
      : Context{tls_of(certificate)}, PortListener<TlsStream>(site, address, port, limits, tls) {}
};

}  // namespace
}  // namespace sheaf::app

extern "C" {

__attribute__((visibility("default"))) extern const char* const sheaf_tls_version;
const char* const sheaf_tls_version = SHEAF_VERSION;

__attribute__((visibility("default"))) sheaf::app::Listener* sheaf_tls_listener(
    sheaf::app::Site& site, const std::string& address, std::uint16_t port, const sheaf::app::Certificate& certificate,
    const sheaf::app::ServerLimits& limits) {
  return new sheaf::app::EncryptedListener(site, address, port, certificate, limits);
}
}

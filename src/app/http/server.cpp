#include "app/http/server.hpp"

#include <dlfcn.h>

#include <filesystem>

#include <sheaf/version.hpp>

#include "app/http/tls_listener.hpp"
#include "core/fail.hpp"

#if SHEAF_BEAST

#include "app/http/listener.hpp"

namespace sheaf::app {
namespace {

namespace fs = std::filesystem;

/// Beside the program, or in the folder of the installed ones.
fs::path tls_file() {
  const auto folder = fs::read_symlink("/proc/self/exe").parent_path();
  const auto near = folder / "sheaf-tls.so";
  return fs::exists(near) ? near : folder / SHEAF_PARTS_FROM_PROGRAM / "sheaf-tls.so";
}

/// TLS is a file of its own, so that no other command loads OpenSSL, and the program starts where there is none.
TlsListener* tls_listener(const Certificate& certificate) {
  const auto path = tls_file().string();
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    fail(
        "--certificate {}: this program has no part for TLS ({}); build it with OpenSSL (libssl-dev), or let a proxy "
        "serve TLS",
        certificate.chain, ::dlerror());
  const auto* const version = static_cast<const char* const*>(::dlsym(library, "sheaf_tls_version"));
  if (version == nullptr || *version != std::string_view(SHEAF_VERSION))
    fail("{}: is not of this version of Sheaf", path);
  return reinterpret_cast<TlsListener*>(::dlsym(library, "sheaf_tls_listener"));
}

}  // namespace

Server::Server(Site& site, const std::string& address, std::uint16_t port,
               const std::optional<Certificate>& certificate, const ServerLimits& limits) {
  if (certificate)
    listener_.reset(tls_listener(*certificate)(site, address, port, *certificate, limits));
  else
    listener_ = std::make_unique<PortListener<PlainStream>>(site, address, port, limits);
}

}  // namespace sheaf::app

#else

namespace sheaf::app {

Server::Server(Site&, const std::string&, std::uint16_t, const std::optional<Certificate>&, const ServerLimits&) {
  fail(
      "this program was built without Boost.Beast, so that it serves no page; install libboost-dev and build it again");
}

}  // namespace sheaf::app

#endif

// The interface of the file sheaf-tls.so.
#pragma once

#include <cstdint>
#include <string>

#include "app/http/server.hpp"

namespace sheaf::app {

/// The type of the function sheaf_tls_listener, whose result is the caller's. Beside it stands sheaf_tls_version.
using TlsListener = Listener*(Site& site, const std::string& address, std::uint16_t port,
                              const Certificate& certificate, const ServerLimits& limits);

}  // namespace sheaf::app

// Errors with formatted messages, for everything that is not a public header. nvcc does not read fmt: kernels throw the
// types of <sheaf/error.hpp> themselves.
#pragma once

#include <utility>

#include <fmt/format.h>

#include <sheaf/error.hpp>

namespace sheaf {

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void fail_usage(fmt::format_string<Args...> format, Args&&... args) {
  throw UsageError(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace sheaf

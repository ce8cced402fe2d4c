// The option of commands whose work several processes share.
#pragma once

#include "arguments.hpp"
#include "data/parameter_rows.hpp"

namespace sheaf::cli {

inline void declare_lease(Arguments& arguments, double& lease) {
  constexpr double least = 0.1;
  constexpr double most = 1e6;
  arguments.add({"--lease", "SECONDS",
                 "with --join: a process without a sign of life for so long loses what it has begun", "60",
                 [&lease](const std::string& text) {
                   lease = parse_number<double>("lease", text, {least, most});
                 }});
}

}  // namespace sheaf::cli

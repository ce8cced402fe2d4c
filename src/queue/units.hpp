// One work that several devices share: numbered units, of which each device takes the next when it is free.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <sheaf/context.hpp>

#include "core/parallel.hpp"

namespace sheaf::queue {

/// The context's device and those that share its work, each with its own memory.
std::vector<Context> device_contexts(const Context& context, const std::vector<Device>& others);

/// Does the units on the device of that number. False: another process is doing them (see Claims); they are offered
/// again after the others.
using UnitWork = std::function<bool(std::size_t device, Range units)>;

/// How devices take units.
struct Sharing {
  std::span<const std::int64_t> at_once = {};  ///< units that each device takes at a time; empty: one
  std::stop_token stop = {};                   ///< asked while nothing can be done but wait for another process
};

/// Calls `work` for all of 0 .. units-1, in ascending order as devices become free; device 0 works on the calling
/// thread. After an error no unit is begun, and the first error is thrown once all devices have come to rest. `work`
/// asks its own context whether it is to stop.
void run_units(std::size_t devices, std::int64_t units, const UnitWork& work, const Sharing& sharing = {});

}  // namespace sheaf::queue

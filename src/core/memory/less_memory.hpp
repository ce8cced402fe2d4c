// A second try for work that ran out of a GPU's memory: other programs may have taken theirs since it was planned.
#pragma once

#include <algorithm>
#include <string>

#include <sheaf/context.hpp>

#include "core/fail.hpp"
#include "core/memory/out_of_memory.hpp"

namespace sheaf {

/// work(context). If it runs out of a GPU's memory, and has released its own, report(sentence) is called and the work
/// is done once more, with half of what is free then. Not by a process of a team: the others would wait for its part of
/// a sum that it begins anew.
template <class Work, class Report>
auto retry_in_less_memory(const Context& context, const Work& work, const Report& report) {
  try {
    return work(context);
  } catch (const OutOfMemory&) {
    if (context.device().is_cpu() || context.team() != nullptr) throw;
  }
  release_cached_memory(context.device());
  const auto free = describe(context.device()).free_bytes;
  const auto less = std::max<std::int64_t>(1, std::min(context.memory(), free) / 2);
  report(fmt::format("{} ran out of memory, which other programs may be using; the work was done again within {}",
                     to_string(context.device()), format_bytes(less)));
  return work(context.with({.memory = less}));
}

}  // namespace sheaf

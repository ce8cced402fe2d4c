#include "core/files/lost_input.hpp"

#include <atomic>
#include <string>

#include <sheaf/error.hpp>

namespace sheaf {
namespace {

std::atomic<const char*> lost = nullptr;
static_assert(std::atomic<const char*>::is_always_lock_free);

}  // namespace

void lose_input(const char* name) noexcept { lost = name; }

void forget_lost_input(const char* name) noexcept { lost.compare_exchange_strong(name, nullptr); }

void check_inputs() {
  if (const char* name = lost.load(std::memory_order_relaxed)) [[unlikely]]
    throw Error(std::string(name) +
                ": was cut short by another program while it was in use; begin again when it is complete");
}

}  // namespace sheaf

// The kernel rows in memory: slots for as many rows as fit; the row used longest ago is given up first. A row consists
// of parts (one per class), which are computed when a task needs them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sheaf::kernel {

class RowCache {
 public:
  RowCache(std::int64_t rows, std::int64_t slots, std::size_t parts)
      : parts_(parts),
        present_(static_cast<std::size_t>(slots) * parts, 0),
        slot_of_(static_cast<std::size_t>(rows), none),
        row_in_(static_cast<std::size_t>(slots), none),
        older_(static_cast<std::size_t>(slots), none),
        newer_(static_cast<std::size_t>(slots), none) {}

  std::int64_t slots() const { return static_cast<std::int64_t>(row_in_.size()); }

  /// The slot of a row, which becomes the newest. The rows of the last slots() calls are never given up.
  std::int32_t take(std::int32_t row) {
    std::int32_t slot = slot_of_[at(row)];
    if (slot != none) {
      if (row_in_.size() == slot_of_.size()) return slot;  // nothing is ever given up
      unlink(slot);
    } else {
      slot = filled_ < slots() ? static_cast<std::int32_t>(filled_++) : give_up_oldest();
      row_in_[at(slot)] = row;
      slot_of_[at(row)] = slot;
    }
    link_newest(slot);
    return slot;
  }
  /// Whether the caller must compute this part of the row in the slot; from then on it counts as present.
  bool must_compute(std::int32_t slot, std::size_t part) {
    std::uint8_t& present = present_[at(slot) * parts_ + part];
    const bool missing = present == 0;
    present = 1;
    return missing;
  }

 private:
  static constexpr std::int32_t none = -1;
  static std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

  std::int32_t give_up_oldest() {
    const std::int32_t slot = oldest_;
    unlink(slot);
    slot_of_[at(row_in_[at(slot)])] = none;
    for (std::size_t part = 0; part < parts_; ++part) present_[at(slot) * parts_ + part] = 0;
    return slot;
  }
  void unlink(std::int32_t slot) {
    const std::int32_t older = older_[at(slot)];
    const std::int32_t newer = newer_[at(slot)];
    (older == none ? oldest_ : newer_[at(older)]) = newer;
    (newer == none ? newest_ : older_[at(newer)]) = older;
  }
  void link_newest(std::int32_t slot) {
    older_[at(slot)] = newest_;
    newer_[at(slot)] = none;
    (newest_ == none ? oldest_ : newer_[at(newest_)]) = slot;
    newest_ = slot;
  }

  std::size_t parts_;
  std::vector<std::uint8_t> present_;
  std::vector<std::int32_t> slot_of_, row_in_, older_, newer_;
  std::int64_t filled_ = 0;
  std::int32_t oldest_ = none, newest_ = none;
};

}  // namespace sheaf::kernel

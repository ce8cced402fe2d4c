#include "family/summary.hpp"

#include <fmt/format.h>

#include "core/text.hpp"

namespace sheaf {

std::string shape_text(std::int64_t rows, std::int64_t features, std::size_t classes, std::size_t targets) {
  auto text = fmt::format("{} x {}", counted(rows, "row"), counted(features, "feature"));
  if (classes > 0) text += ", " + counted(classes, "class");
  if (targets > 0) text += ", " + counted(targets, "target");
  return text;
}

std::string counts_text(const KernelCounts& counts) {
  if (counts.computed == 0 || counts.unshared <= counts.computed) return {};
  return fmt::format("{} kernel values computed; without sharing, {} would have been computed ({:.1f} times as many)",
                     grouped(counts.computed), grouped(counts.unshared),
                     static_cast<double>(counts.unshared) / static_cast<double>(counts.computed));
}

}  // namespace sheaf

// Errors about classes that may be numbers.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <sheaf/dataset.hpp>
#include <sheaf/error.hpp>

namespace sheaf {

/// What work() returns; a UsageError of it about the rows of a class names --task regression too if the classes are
/// whole numbers of which nobody said that they are classes.
template <class Work>
auto hint_at_regression(const Target& target, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const UsageError& error) {
    const std::string_view message = error.what();
    const bool doubtful = target.kind == LabelKind::automatic && !target.values.empty() &&
                          target.class_names.size() > 2 && target.looks_like_classes();
    if (!doubtful || message.find("class ") == std::string_view::npos || message.find(" row") == std::string_view::npos)
      throw;
    throw UsageError(std::string(message) + "; if the labels are numbers rather than classes, say --task regression");
  }
}

}  // namespace sheaf

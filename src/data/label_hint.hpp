// Errors about classes that may be numbers.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <sheaf/dataset.hpp>
#include <sheaf/error.hpp>

namespace sheaf {

/// Whether the classes are whole numbers not stated to be classes, so that they may be a numeric target.
inline bool may_be_numbers(const Target& target) {
  return target.kind == LabelKind::automatic && !target.values.empty() && target.class_names.size() > 2 &&
         target.looks_like_classes();
}

/// Returns work(). If it throws a UsageError about the rows of a class and the classes may be numbers, the message
/// names
/// --task regression too.
template <class Work>
auto hint_at_regression(const Target& target, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const UsageError& error) {
    const std::string_view message = error.what();
    if (!may_be_numbers(target) || message.find("class ") == std::string_view::npos ||
        message.find(" row") == std::string_view::npos)
      throw;
    throw UsageError(std::string(message) + "; if the labels are numbers rather than classes, say --task regression");
  }
}

}  // namespace sheaf

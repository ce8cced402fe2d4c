// The target, in the first lines of every result: classes or a number, and the positive one of two classes.
#pragma once

#include <string>

#include <sheaf/dataset.hpp>

namespace sheaf::cli {

/// One indented line; nothing if there are no labels.
std::string label_text(const Target& target, bool regression);

/// `text` with the line behind its first one.
std::string with_label(std::string text, const Target& target, bool regression);

}  // namespace sheaf::cli

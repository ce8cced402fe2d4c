// The first lines of every result: the target (classes or a number, and the positive one of two classes), and the steps
// before the model.
#pragma once

#include <string>

#include <sheaf/dataset.hpp>

namespace sheaf::cli {

/// One indented line; nothing if there are no labels.
std::string label_text(const Target& target, bool regression);

/// `text` with a line of the steps before the model behind its first one; the same text if there are no steps.
std::string with_steps(std::string text, const std::string& steps);
/// `text` with the line behind its first one.
std::string with_label(std::string text, const Target& target, bool regression);

}  // namespace sheaf::cli

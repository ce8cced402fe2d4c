// XML, element by element.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/read/reading.hpp"

namespace sheaf {

/// The attributes of one element; views that live as long as its handler runs.
class Attributes {
 public:
  explicit Attributes(std::vector<std::pair<std::string_view, std::string_view>> all) : all_(std::move(all)) {}
  /// Empty if it is not there.
  std::string_view operator[](std::string_view name) const {
    for (const auto& [key, value] : all_)
      if (key == name) return value;
    return {};
  }

 private:
  std::vector<std::pair<std::string_view, std::string_view>> all_;
};

struct XmlHandlers {
  std::function<void(std::string_view element, const Attributes& attributes, const char* at)> begin;
  std::function<void(std::string_view element, const char* at)> end;
  std::function<void(std::string_view text)> text = {};  ///< between elements, perhaps in several pieces
};

/// Calls the handlers in the order of the file; names come without the prefix of a namespace. Text that is no
/// well-formed XML is a ParseError, and so is any XML in a build without expat.
void read_xml(const Reading& reading, const XmlHandlers& handlers);

}  // namespace sheaf

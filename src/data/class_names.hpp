// Classes by their names, as models of all kinds treat them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/dataset.hpp>
#include <sheaf/predictions.hpp>

namespace sheaf {

/// In the caller's order where it is fixed, else in the order of their first rows; but then -1 first and +1 second
/// change places, so that positive decisions speak for +1.
struct OrderedClasses {
  std::vector<std::string> names;
  std::vector<std::int32_t> rows;  ///< the class of each row
};
OrderedClasses order_classes(const Target& target);

/// The place of a class; a UsageError where there is none of that name.
std::size_t find_class(const std::vector<std::string>& names, const std::string& wanted);

/// For each of `labels` which of `names` it is; -1: none.
std::vector<std::int32_t> match_classes(std::span<const std::string> names, std::span<const std::string> labels);

/// The integer a class name stands for; an Error where it stands for none, for the model files of `program` hold no
/// other.
std::string integer_label(const std::string& name, std::string_view program);

}  // namespace sheaf

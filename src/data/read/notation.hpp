// Numbers as people and spreadsheets write them: decimal commas, thousands separators, per cent signs, limits of
// measurement, and codes for missing values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/text/number.hpp"

namespace sheaf {

/// Marks removed from a number to read it.
struct Spelling {
  bool grouped = false;  ///< separators between thousands
  bool percent = false;  ///< a per cent sign
  bool limit = false;    ///< <, > or another sign that the value lies beyond the number
};

template <class T>
struct WrittenNumber {
  T value;
  NumberStatus status;
  Spelling spelling;

  bool ok() const { return status == NumberStatus::ok; }
};

/// The number that `text` is, from its first to its last byte. `decimal`: '.' or ','; the other one, blanks and
/// apostrophes may stand between thousands, groups of three digits behind up to three others.
template <class T>
WrittenNumber<T> parse_written_number(std::string_view text, char decimal);

/// Evidence about the decimal sign of a table, from its numbers.
struct DecimalEvidence {
  bool comma = false;      ///< one needs a decimal comma
  bool point = false;      ///< one needs a decimal point
  bool ambiguous = false;  ///< one has a comma that can be either

  void add(std::string_view text);
};

/// Texts and numbers that stand for a missing value.
class MissingCodes {
 public:
  explicit MissingCodes(const std::vector<std::string>& codes);
  bool empty() const { return texts_.empty(); }
  /// `text` is one of the codes, or a number equal to one.
  bool hold(std::string_view text, char decimal) const;

 private:
  std::vector<std::string> texts_;
  std::vector<double> numbers_;
};

/// Without blanks and no-break spaces around.
std::string_view trimmed(std::string_view text);

}  // namespace sheaf

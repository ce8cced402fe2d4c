// Invariants for any bytes as a file of cuts: they are rules for bins, or an Error; and rules written and read again
// are the same.
#pragma once

#include <string_view>

#include "data/prepare/binning_file.hpp"
#include "fuzz/reader_check.hpp"

namespace sheaf::fuzz {

inline void check_cuts(std::string_view text) {
  // A copy that ends where its memory ends, so that a byte read too far is noticed.
  const Array<char> exact = Array<char>::copy_of(text);
  Binning binning;
  try {
    binning = parse_binning({exact.data(), static_cast<std::size_t>(exact.size())}, "input");
  } catch (const Error&) {
    return;
  }
  for (const BinRule& rule : binning.rules) expect(rule.states >= 1 && rule.states <= 65536, "states can be numbered");
  expect(binning.feature_names.empty() || binning.feature_names.size() == binning.rules.size(),
         "every feature has a name, or none");
  const Binning again = parse_binning(binning_text(binning), "again");
  expect(again.rules == binning.rules && again.feature_names == binning.feature_names &&
             again.method == binning.method && again.missing == binning.missing,
         "what is written reads back the same");
}

}  // namespace sheaf::fuzz

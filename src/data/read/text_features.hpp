// Columns of text among the features of a CSV file: levels of nominal features, or dates, ids and free text, which are
// left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/read/label_column.hpp"
#include "data/read/reading.hpp"

namespace sheaf {

/// "2021-03-14", "14.3.2021", "3/14/21", with or without a time behind it.
bool is_date(std::string_view text);

/// Whether a header cell means that its column numbers the rows: id, index, or something that ends in _id.
bool means_id(std::string_view name);

/// Whether a header cell means that its column identifies the source of rows: subject, patient, donor ...
bool means_group(std::string_view name);

struct TextFeature {
  std::vector<std::int32_t> levels;  ///< of each row; -1: missing
  std::vector<std::string> names;    ///< of the levels, sorted
  std::int64_t distinct = 0;         ///< different texts, missing ones aside
  std::string left_out;              ///< why it is no feature; empty: it is one
  bool dates = false;                ///< that is why
};

/// `cells`: a missing value is an empty text that is no number. `asked`: the column is nominal whatever is in it.
/// `first`: levels that come before the others.
TextFeature make_text_feature(const Reading& reading, const TextColumn& cells, bool asked,
                              const std::vector<std::string>& first);

/// The first row whose text is no number in a column that has numbers too; as many as there are rows: there is none.
std::int64_t find_mixed(const TextColumn& cells);

}  // namespace sheaf

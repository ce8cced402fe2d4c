// The short parts of a .sheaf file: names, roles and where the dataset came from, as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <sheaf/dataset.hpp>

#include "data/sheaf_file/file.hpp"

namespace sheaf::sheaf_file {

/// Members that are not there are as here.
struct About {
  std::string source;  ///< the file that was converted
  std::string format;  ///< the one that it had
  std::string label;
  LabelKind kind = LabelKind::automatic;
  bool fixed_order = false;
  std::int32_t positive = -1;
  std::vector<std::string> further_labels;
  std::string time_name, dates;
  std::vector<std::string> fold_names;
  std::vector<std::string> kept;         ///< names of kept columns
  std::vector<std::string> annotations;  ///< names of columns of text about the features
  nlohmann::ordered_json cache;          ///< of a file that is kept beside a text: see cache.hpp
};

template <class T>
About about(const Dataset<T>& dataset);

std::string encode_about(const About& about);
/// One of a wrong type is an Error.
About decode_about(const File& file);

}  // namespace sheaf::sheaf_file

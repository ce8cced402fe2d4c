// Annotations of features (taxonomy, gene symbol) as the last columns of CSV lines and tables about features.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <sheaf/dataset.hpp>

#include "report/csv_text.hpp"
#include "report/page.hpp"

namespace sheaf::report {

/// ",taxonomy,symbol"; "" without annotations.
inline std::string annotation_heading(const Annotations& annotations) {
  std::string text;
  for (const auto& name : annotations.columns) text += ',' + csv_field(name);
  return text;
}

/// The texts of a feature below that heading; empty ones if it has none.
inline std::string annotation_fields(const Annotations& annotations, std::string_view feature) {
  std::string text;
  for (const auto& field : annotations.of(feature)) text += ',' + csv_field(field);
  return text;
}

/// Adds the columns to the first row of a table, whose alignment they become part of.
inline void add_annotation_heading(const Annotations& annotations, std::vector<std::string>& row,
                                   std::string& alignment) {
  row.insert(row.end(), annotations.columns.begin(), annotations.columns.end());
  alignment.append(annotations.columns.size(), 'l');
}
inline void add_annotation_cells(const Annotations& annotations, std::string_view feature,
                                 std::vector<std::string>& row) {
  for (auto& text : annotations.of(feature)) row.push_back(std::move(text));
}

/// The texts of the features of a chart, in its order; "" if there are none.
inline std::string annotation_table(const Annotations& annotations, const std::vector<std::string>& features) {
  if (annotations.empty() || features.empty()) return {};
  std::vector<std::vector<std::string>> rows{{"feature"}};
  std::string alignment = "l";
  add_annotation_heading(annotations, rows[0], alignment);
  for (const auto& feature : features) {
    rows.push_back({feature});
    add_annotation_cells(annotations, feature, rows.back());
  }
  return scrolled(table(rows, alignment));
}

/// A member `annotations` of an object about a feature, if there are any.
inline void add_annotations(const Annotations& annotations, std::string_view feature, nlohmann::ordered_json& json) {
  const auto texts = annotations.of(feature);
  for (std::size_t c = 0; c < texts.size(); ++c)
    if (!texts[c].empty()) json["annotations"][annotations.columns[c]] = texts[c];
}

}  // namespace sheaf::report

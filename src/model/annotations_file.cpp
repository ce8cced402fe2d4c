#include "model/annotations_file.hpp"

namespace sheaf {

/// The names of the columns, then for each feature its name and a text for each column:
///
///     annotations 1
///     annotation taxonomy
///     annotated 2
///     about OTU_17
///     text k__Bacteria; p__Firmicutes
///     about OTU_3
///     text k__Bacteria; p__Bacteroidetes
void write_annotations(ModelWriter& file, const Annotations& annotations) {
  if (annotations.empty()) return;
  const auto columns = std::ssize(annotations.columns);
  file.count("annotations", columns, any_count);
  name_lines(file, "annotation", annotations.columns, columns);
  file.count("annotated", std::ssize(annotations.texts), any_count);
  for (const auto& [feature, texts] : annotations.texts) {
    file.keyword("about");
    file.name(feature, {});
    file.end_line();
    name_lines(file, "text", texts, columns);
  }
}

Annotations read_annotations(ModelReader& reader) {
  Annotations annotations;
  if (reader.peek() != "annotations") return annotations;
  std::int64_t columns = 0, features = 0;
  reader.count("annotations", columns, any_count);
  name_lines(reader, "annotation", annotations.columns, columns);
  reader.count("annotated", features, any_count);
  reader.check_room(features);
  for (std::int64_t k = 0; k < features; ++k) {
    std::string feature;
    std::vector<std::string> texts;
    reader.keyword("about");
    reader.name(feature, "the name of a feature");
    reader.end_line();
    name_lines(reader, "text", texts, columns);
    annotations.texts.insert_or_assign(std::move(feature), std::move(texts));
  }
  return annotations;
}

}  // namespace sheaf

// A model in the lines of a file, behind its family: lines of all families, then the family's own.
#pragma once

#include <string>
#include <string_view>

#include <sheaf/model.hpp>

#include "data/text/model_file.hpp"

namespace sheaf {

/// The whole file, written as it is made: the text of a model of neighbours may be several times its rows.
void save_model(const Model& model, const std::string& path, Links links);

void write_model_lines(ModelWriter& file, const Model& model);
Model read_model_lines(ModelReader& reader, std::string_view family);

}  // namespace sheaf

// How a dataset was made from another one by something that was learnt on its rows: kept beside it, so that a search of
// it can warn that its estimates will be too good.
#pragma once

#include <optional>
#include <string>

namespace sheaf {

struct Provenance {
  std::string command;  ///< "select" or "scale"
  std::string source;   ///< the dataset that it was learnt on
  std::string instead;  ///< the options of a search that do the same inside its folds
};

/// The file that is kept beside a dataset; empty for standard output or no dataset.
std::string provenance_path(const std::string& path);

/// Writes it. Nothing for standard output.
void keep_provenance(const Provenance& made, const std::string& path);

/// The record beside a dataset, if the dataset is still the file that was written.
std::optional<Provenance> find_provenance(const std::string& path);

/// A sentence for people.
std::string warning_of(const Provenance& made, const std::string& path);

}  // namespace sheaf

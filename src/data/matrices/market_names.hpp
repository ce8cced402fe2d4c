// Names files beside a Matrix Market file: features.tsv (or genes.tsv), barcodes.tsv, metadata.tsv.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/bytes/sink.hpp"
#include "data/matrices/matrix_file.hpp"

namespace sheaf {

/// The files that are there. Paths; empty: not there.
struct NamesFiles {
  std::string features, barcodes, metadata;

  explicit NamesFiles(const std::string& path);
};

/// The contents of the files beside a matrix.
struct MarketNames {
  bool features_are_rows = false;                        ///< of the matrix
  std::vector<std::vector<std::string>> about_features;  ///< columns of text behind the names
};

/// Names for the rows and columns of the dataset, from the files beside a matrix of so many rows and columns.
template <class T>
MarketNames read_market_names(const Reading& reading, std::int64_t rows, std::int64_t columns, const NamesFiles& files,
                              Dataset<T>& dataset);
/// The annotations among them; the dataset has its matrix.
template <class T>
void annotate_features(const Reading& reading, MarketNames names, Dataset<T>& dataset);

/// Writes the files beside a matrix; they appear when finish() is called.
class NamesWriter {
 public:
  template <class T>
  explicit NamesWriter(const Writing<T>& writing);
  void finish();

 private:
  std::vector<std::unique_ptr<Sink>> files_;
};

}  // namespace sheaf

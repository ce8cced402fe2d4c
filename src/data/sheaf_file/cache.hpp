// A .sheaf file beside a text file (x.csv.sheaf), read in its place as long as the text and the options of reading stay
// as they were.
#pragma once

#include <optional>
#include <string>

#include <sheaf/io.hpp>

namespace sheaf::sheaf_file {

/// The text as it was when it was read.
struct CacheKey {
  std::string path;  ///< of the .sheaf file; empty: this reading is not kept
  std::string text;  ///< JSON: size and time of the file and of its metadata, options, precision, version
};

template <class T>
CacheKey cache_key(const std::string& path, const ReadOptions& options);

/// None if there is no such file, or not of this key.
template <class T>
std::optional<Dataset<T>> read_cache(const Context& context, const std::string& path, const ReadOptions& options,
                                     const CacheKey& key);

/// A failure to write becomes a note of the dataset.
template <class T>
void write_cache(const Context& context, const CacheKey& key, Dataset<T>& dataset);

}  // namespace sheaf::sheaf_file

// Invariants for any bytes: they are a table, or an Error; nothing else. One thread with large chunks and two with tiny
// ones get the same result. A check that fails aborts, which a fuzzer notices.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/io.hpp>

#include "data/bytes/compression.hpp"
#include "data/read/reading.hpp"

namespace sheaf::fuzz {

inline void expect(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

inline Context context_of(int threads) {
  Context::Options options;
  options.threads = threads;
  options.memory = std::int64_t{1} << 26;
  return Context(options);
}

template <class T>
struct Outcome {
  std::optional<Dataset<T>> dataset;
  std::string message;
};

template <class T>
Outcome<T> read(std::string_view text, const ReadOptions& options, int threads, std::int64_t chunk_bytes) {
  // A copy that ends where its memory ends, so that a byte read too far is noticed.
  const Array<char> exact = Array<char>::copy_of(text);
  const Context context = context_of(threads);
  try {
    const std::string_view copy(exact.data(), static_cast<std::size_t>(exact.size()));
    return {parse_chunked<T>(context, copy, "input", options, chunk_bytes), {}};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

template <class T>
void check_values(const Array<T>& values) {
  for (const T value : values) expect(std::isfinite(value), "every value is finite");
}

template <class T>
void check_matrix(const DenseMatrix<T>& x) {
  expect(x.values.size() == x.rows * x.columns, "a dense matrix has all its values");
  check_values(x.values);
}

template <class T>
void check_matrix(const SparseMatrix<T>& x) {
  expect(x.offsets.size() == x.rows + 1 && x.offsets[0] == 0, "offsets begin with 0 and have one more than rows");
  expect(x.offsets[x.rows] == x.nonzeros() && x.indices.size() == x.nonzeros(), "offsets end with the entries");
  for (std::int64_t i = 0; i < x.rows; ++i) {
    expect(x.offsets[i] <= x.offsets[i + 1], "offsets ascend");
    for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k) {
      expect(x.indices[k] >= 0 && x.indices[k] < x.columns, "indices are columns");
      expect(k == x.offsets[i] || x.indices[k - 1] < x.indices[k], "indices ascend");
    }
  }
  check_values(x.values);
}

inline void check_ids(const std::vector<std::int32_t>& ids, std::size_t names) {
  std::vector<std::uint8_t> used(names, 0);
  for (const std::int32_t id : ids) {
    expect(id >= 0 && static_cast<std::size_t>(id) < names, "every number has a name");
    used[static_cast<std::size_t>(id)] = 1;
  }
  expect(std::find(used.begin(), used.end(), std::uint8_t{0}) == used.end(), "every name is used");
}

template <class T>
void check_dataset(const Dataset<T>& dataset) {
  const auto rows = static_cast<std::size_t>(dataset.rows());
  expect(rows > 0, "a dataset has rows");
  std::visit([](const auto& x) { check_matrix(x); }, dataset.x);
  const Target& target = dataset.target;
  expect(target.empty() || static_cast<std::size_t>(target.rows()) == rows, "every row has a label");
  expect(target.classes.empty() || target.classes.size() == rows, "every row has a class");
  for (const double value : target.values) expect(std::isfinite(value), "every label is finite");
  check_ids(target.classes, target.class_names.size());
  expect(dataset.groups.empty() || dataset.groups.size() == rows, "every row has a group");
  check_ids(dataset.groups, dataset.group_names.size());
  for (const auto& name : target.class_names) expect(is_utf8(name), "names are UTF-8");
  for (const auto& name : dataset.feature_names) expect(is_utf8(name), "names are UTF-8");
  expect(dataset.feature_names.empty() || static_cast<std::int64_t>(dataset.feature_names.size()) == dataset.features(),
         "every feature has a name");
}

template <class T>
bool same_bytes(const Array<T>& a, const Array<T>& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())) == 0);
}

template <class T>
bool same_matrix(const Matrix<T>& a, const Matrix<T>& b) {
  if (a.index() != b.index() || rows(a) != rows(b) || columns(a) != columns(b)) return false;
  if (!is_sparse(a)) return same_bytes(std::get<DenseMatrix<T>>(a).values, std::get<DenseMatrix<T>>(b).values);
  const auto& x = std::get<SparseMatrix<T>>(a);
  const auto& y = std::get<SparseMatrix<T>>(b);
  return same_bytes(x.offsets, y.offsets) && same_bytes(x.indices, y.indices) && same_bytes(x.values, y.values);
}

template <class T>
bool same_dataset(const Dataset<T>& a, const Dataset<T>& b) {
  return same_matrix(a.x, b.x) && a.target.values == b.target.values && a.target.classes == b.target.classes &&
         a.target.class_names == b.target.class_names && a.feature_names == b.feature_names && a.levels == b.levels &&
         a.groups == b.groups && a.group_names == b.group_names;
}

template <class T>
void check_reading(std::string_view text, const ReadOptions& options) {
  const auto one = read<T>(text, options, 1, std::int64_t{1} << 20);
  const auto two = read<T>(text, options, 2, 7);
  expect(one.message == two.message, "the message does not depend on threads and chunks");
  if (!one.dataset) return;
  check_dataset(*one.dataset);
  expect(same_dataset(*one.dataset, *two.dataset), "the dataset does not depend on threads and chunks");
}

/// Options that vary with the text, so that a fuzzer tries them all.
inline ReadOptions varied_options(const char* format, std::string_view text) {
  ReadOptions options;
  options.format = format;
  const std::size_t kind = text.size();
  options.storage = static_cast<Storage>(kind % 3);
  options.missing = static_cast<Missing>(kind / 3 % 5);
  options.header = static_cast<Header>(kind / 15 % 3);
  if (kind % 7 == 3) options.group = std::string("1");
  if (kind % 7 == 4) options.label = "none";
  if (kind % 7 == 5) options.ignore = {std::string("1")};
  return options;
}

inline void check_format(const char* format, std::string_view text) {
  const ReadOptions options = varied_options(format, text);
  if (text.size() % 2 == 0)
    check_reading<double>(text, options);
  else
    check_reading<float>(text, options);
}

/// Damaged compressed data are an Error, too.
inline void check_decompression(std::string_view bytes) {
  const Compression* compression = find_compression(bytes);
  if (compression == nullptr) return;
  ByteBuffer plain;
  Stage stage(silent_progress(), "", 0);
  try {
    compression->decompress(bytes, "input", stage, plain);
  } catch (const Error&) {
  }
}

}  // namespace sheaf::fuzz

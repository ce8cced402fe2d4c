// Arrays of NumPy, as .npy files and members of .npz archives hold them: "\x93NUMPY", a version, a header that is a
// Python dictionary, and the elements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/solvers/matrix.hpp>

#include "data/bytes/elements.hpp"
#include "data/read/reading.hpp"

namespace sheaf {

struct NpyArray {
  std::string what;   ///< for messages: "the array 'X'", "the array"
  std::string descr;  ///< NumPy's name of the type
  ElementType type;   ///< also of texts: kind U (UTF-32, 4 bytes a character) or S (bytes)
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::string_view data;  ///< as many bytes as the shape needs

  std::int64_t elements() const;
  std::string shape_text() const;
  bool is_text() const { return type.kind == 'U' || type.kind == 'S'; }
};

bool is_npy(std::string_view bytes);

/// The header is checked, and the shape against the number of bytes. Elements that are neither numbers nor texts
/// (pickled objects, records, complex numbers, dates) are an Error.
NpyArray parse_npy(const Reading& reading, std::string_view bytes, std::string what);

/// A matrix of numbers, of one dimension or two; one dimension is one column. `transpose`: rows and columns exchanged.
template <class T>
DenseMatrix<T> dense_of(const Reading& reading, const NpyArray& array, bool transpose);

/// Entry k as text that reads back as the same; NaN is "".
std::vector<std::string> texts_of(const Reading& reading, const NpyArray& array);

/// All elements of an array of numbers; one of integers that are too large for To is an Error.
template <class To>
Array<To> elements_of(const Reading& reading, const NpyArray& array);

/// The header of a .npy file with the elements of `descr`, in row-major order.
std::string npy_header(std::string_view descr, const std::vector<std::int64_t>& shape);

}  // namespace sheaf

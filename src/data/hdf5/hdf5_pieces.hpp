// The elements of HDF5 arrays, by all threads: libhdf5 inflates and converts with one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "data/hdf5/hdf5_objects.hpp"
#include "data/read/reading.hpp"

namespace sheaf::hdf5 {

/// Gets `count` elements from the element `first` on, as they are in the file. Is called by several threads at once.
using TakeElements = std::function<void(std::int64_t first, std::int64_t count, const char* from)>;

/// Hands out `count` elements from the element `first` on; arrays of two dimensions are read as a whole. A damaged
/// chunk is an Error that names `path`; NotKnown: filters that are not known here.
void read_elements(const Reading& reading, const StoredArray& array, const std::string& path, std::int64_t first,
                   std::int64_t count, const TakeElements& take);

/// The same as numbers. Fractions and numbers out of range are Errors if Number is a type of whole numbers.
template <class Number>
void read_numbers(const Reading& reading, const StoredArray& array, const std::string& path, std::int64_t first,
                  std::span<Number> to);

}  // namespace sheaf::hdf5

// The features that models are trained on, as a PIN file.
#pragma once

#include <string>

#include "rescore/input/psms.hpp"

namespace sheaf::rescore {

/// Targets, then decoys, in the order of their rows, with six significant digits, as Percolator's --tab-out writes
/// them.
template <class T>
void write_features(const Psms<T>& psms, const std::string& path);

}  // namespace sheaf::rescore

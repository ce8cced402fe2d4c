// Shared by the commands that bin values: their checks, and --missing with a bin of its own.
#pragma once

#include <sheaf/io.hpp>
#include <sheaf/solvers/binning.hpp>

#include "arguments.hpp"

namespace sheaf::cli {

/// The reading options if missing values may have a state of their own.
void declare_reading_with_bin(Arguments& arguments, ReadOptions& reading, BinningOptions& binning);

/// Missing values have a state of their own.
void keep_missing(ReadOptions& reading, BinningOptions& binning);

/// UsageErrors for --bins and --binning that contradict each other.
void check_bins(const Arguments& arguments, const BinningOptions& binning);

}  // namespace sheaf::cli

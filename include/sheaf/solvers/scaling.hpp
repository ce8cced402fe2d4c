// Per-feature scaling x -> (x - shift) * factor, learnt from one dataset, saved, and applied to others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

namespace sheaf {

enum class ScaleMethod : std::uint8_t {
  unit_interval,       ///< [0, 1]
  symmetric_interval,  ///< [-1, 1]
  standard,            ///< mean 0, standard deviation 1 (divided by n)
  max_abs,             ///< largest magnitude 1; zeros stay zeros, so sparse data stay sparse
  robust,              ///< median 0, quartiles 1 apart (linear interpolation between values)
};

/// "01", "-11", "standard", "maxabs", "robust". Unknown names are answered with the known ones.
ScaleMethod parse_scale_method(std::string_view text);
std::string_view to_string(ScaleMethod method);

struct Scaling {
  ScaleMethod method = ScaleMethod::max_abs;
  std::vector<double> shift;
  std::vector<double> factor;              ///< 0 never: constant features get factor 1 (and become the lower end, or 0)
  std::vector<std::string> feature_names;  ///< empty: features had no names

  std::int64_t features() const { return static_cast<std::int64_t>(shift.size()); }
};

/// The zeros that sparse data leave out count like any other value. Nominal features stay as they are (shift 0, factor
/// 1). A feature with infinite values, or so large that its range is beyond double, is an Error.
template <class T>
Scaling learn_scaling(const Context& context, const Dataset<T>& dataset, ScaleMethod method);

/// Applies in place; a dataset that borrows its memory gets a copy of its own. Values outside the range that was learnt
/// go outside [0, 1] alike. If a feature is shifted, sparse data turn dense; that this fits the memory budget is
/// checked first (an Error names the bytes and suggests maxabs). Other feature counts, other names if both are named,
/// and levels in a feature that the scaling changes are Errors.
template <class T>
void apply_scaling(const Context& context, const Scaling& scaling, Dataset<T>& dataset);

/// A readable text file, round-trip exact. A defect in it is a ParseError that names file:line:column.
void save_scaling(const Scaling& scaling, const std::string& path);
Scaling load_scaling(const std::string& path);

}  // namespace sheaf

// Features on one scale, and weights from one scale to the other.
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/rescore.hpp>
#include <sheaf/solvers/matrix.hpp>

#include "core/host_device.hpp"

namespace sheaf::rescore {

/// (x - shift) / scale of each feature.
struct Normaliser {
  std::vector<double> shift, scale;

  /// Weights of normalised features (the bias last) as weights of features as they are, and back.
  std::vector<double> raw(const std::vector<double>& w) const;
  std::vector<double> normalised(const std::vector<double>& raw) const;
};

/// Learns from all rows, and changes them in place, on the CPU or a GPU. Constant features keep their scale.
template <class T>
Normaliser normalise(const Context& context, DenseMatrix<T>& x, FeatureScaling scaling);

/// Totals computed over every column.
enum class ColumnTotal : std::uint8_t { sum, squares, least, most };

/// One value more in a total. `squares`: of the distances from `shift`.
SHEAF_HOST_DEVICE inline double joined(ColumnTotal kind, double total, double value, double shift) {
  if (kind == ColumnTotal::sum) return total + value;
  if (kind == ColumnTotal::squares) return total + (value - shift) * (value - shift);
  return (kind == ColumnTotal::least) == (value < total) ? value : total;
}
SHEAF_HOST_DEVICE inline double empty_total(ColumnTotal kind) {
  constexpr double largest = 1.7976931348623157e308;
  return kind == ColumnTotal::least ? largest : kind == ColumnTotal::most ? -largest : 0;
}
/// Two totals of different rows as one.
inline double joined(ColumnTotal kind, double total, double other) {
  return joined(kind == ColumnTotal::squares ? ColumnTotal::sum : kind, total, other, 0);
}

// The GPU's part, for normalise() alone: totals of all columns, and (x - shift) / scale.
template <class T>
std::vector<double> column_totals_cuda(const Context& context, const DenseMatrix<T>& x, ColumnTotal kind,
                                       const std::vector<double>& shift);
template <class T>
void apply_cuda(const Context& context, DenseMatrix<T>& x, const Normaliser& normaliser);

}  // namespace sheaf::rescore

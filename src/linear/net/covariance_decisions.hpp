// Decision values of a few models at once, row by row: for models that were trained without a visit of the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <sheaf/dataset.hpp>
#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/elastic_net.hpp>

#include "linear/net/covariance_columns.hpp"

namespace sheaf::linear::covariance {

/// The weights of at most `together` models, those of a feature side by side.
class ModelColumns {
 public:
  static constexpr std::int64_t together = 8;

  ModelColumns(std::span<const NetModel> models, std::int64_t features) : places_(at(features), -1) {
    for (const auto& model : models)
      for (const auto j : model.features) places_[at(j)] = 0;
    for (std::size_t j = 0; j < places_.size(); ++j) {
      if (places_[j] < 0) continue;
      places_[j] = static_cast<std::int32_t>(features_.size());
      features_.push_back(static_cast<std::int32_t>(j));
    }
    weights_.assign((features_.size() + 1) * together, 0.0);
    for (std::size_t m = 0; m < models.size(); ++m) {
      const auto& model = models[m];
      for (std::size_t k = 0; k < model.features.size(); ++k)
        weights_[at(places_[at(model.features[k])]) * together + m] = model.weights[k];
      weights_[features_.size() * together + m] = model.intercept;
    }
  }

  /// out(row, model) for the given rows.
  template <class T>
  void decide(const Matrix<T>& x, std::span<const std::int32_t> rows, BlockView<T> out) const {
    if (const auto* dense = std::get_if<DenseMatrix<T>>(&x))
      decide_dense(*dense, rows, out);
    else
      decide_sparse(std::get<SparseMatrix<T>>(x), rows, out);
  }

 private:
  static constexpr std::int64_t parts = together / lanes;

  const double* weights_at(std::size_t place) const { return weights_.data() + place * together; }
  const double* intercepts() const { return weights_at(features_.size()); }

  template <class T>
  void decide_dense(const DenseMatrix<T>& x, std::span<const std::int32_t> rows, BlockView<T> out) const {
    constexpr std::size_t at_once = 4;
    std::size_t k = 0;
    for (; k + at_once <= rows.size(); k += at_once) decide_some<at_once>(x, rows.data() + k, out);
    for (; k < rows.size(); ++k) decide_some<1>(x, rows.data() + k, out);
  }
  template <std::size_t Count, class T>
  void decide_some(const DenseMatrix<T>& x, const std::int32_t* rows, BlockView<T> out) const {
    Lanes sums[Count][parts];
    const T* values[Count];
    for (std::size_t r = 0; r < Count; ++r) {
      values[r] = x.values.data() + std::int64_t{rows[r]} * x.columns;
      for (std::int64_t p = 0; p < parts; ++p) sums[r][p] = load(intercepts() + p * lanes);
    }
    for (std::size_t f = 0; f < features_.size(); ++f)
      for (std::int64_t p = 0; p < parts; ++p) {
        const Lanes weights = load(weights_at(f) + p * lanes);
        for (std::size_t r = 0; r < Count; ++r) sums[r][p] += weights * double(values[r][features_[f]]);
      }
    for (std::size_t r = 0; r < Count; ++r) store(sums[r], out.data + std::int64_t{rows[r]} * out.stride, out.tasks);
  }
  template <class T>
  void decide_sparse(const SparseMatrix<T>& x, std::span<const std::int32_t> rows, BlockView<T> out) const {
    for (const auto row : rows) {
      Lanes sums[parts];
      for (std::int64_t p = 0; p < parts; ++p) sums[p] = load(intercepts() + p * lanes);
      for (std::int64_t e = x.offsets[row]; e < x.offsets[row + 1]; ++e) {
        const auto place = places_[at(x.indices[e])];
        if (place < 0) continue;
        for (std::int64_t p = 0; p < parts; ++p)
          sums[p] += load(weights_at(at(place)) + p * lanes) * double(x.values[e]);
      }
      store(sums, out.data + std::int64_t{row} * out.stride, out.tasks);
    }
  }
  template <class T>
  static void store(const Lanes* sums, T* out, std::int32_t count) {
    for (std::int32_t m = 0; m < count; ++m) out[m] = static_cast<T>(sums[m / lanes][m % lanes]);
  }

  std::vector<std::int32_t> places_;    // of features among those with a weight; -1: none
  std::vector<std::int32_t> features_;  // that some model has a weight for
  std::vector<double> weights_;         // of these, and the intercepts
};

}  // namespace sheaf::linear::covariance

// Newton's method for generalised linear models of few weights: d = -H^-1 g with the whole Hessian H on the CPU, and
// the line search of descent.cpp. The root of -g'd is the measure: half its square is the possible decrease of the
// objective.
//
// A multinomial model without a penalty is the same when a number is added to a feature's weights for all classes: H is
// singular there, g is 0, and any curvature in that direction gives the step that leaves their sum alone.
#include "linear/glm/newton_cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "linear/cholesky.hpp"
#include "linear/glm/information.hpp"

namespace sheaf::linear {

/// The penalty, and curvature in directions in which the model does not change.
template <class T>
void NewtonCholesky<T>::add_penalty(std::size_t place, std::vector<double>& matrix) const {
  const auto& objective = this->objective();
  const auto columns = static_cast<std::size_t>(objective.columns());
  const auto weights = static_cast<std::size_t>(this->ops().weights());
  const std::size_t size = weights * columns;
  const double alpha = objective.alphas()[place];
  for (std::size_t j = 0; j < weights; ++j) {
    const bool free = alpha == 0 || (objective.params().intercept && j + 1 == weights);
    double mean = 0;
    for (std::size_t k = 0; k < columns; ++k)
      mean += matrix[(j * columns + k) * (size + 1)] / static_cast<double>(columns);
    for (std::size_t k = 0; k < columns; ++k) {
      if (!free) matrix[(j * columns + k) * (size + 1)] += alpha;
      for (std::size_t other = 0; other < columns && free && columns > 1; ++other)
        matrix[(j * columns + k) * size + j * columns + other] += mean / static_cast<double>(columns);
    }
  }
}

template <class T>
std::vector<double> NewtonCholesky<T>::find_directions() {
  auto& objective = this->objective();
  const std::int32_t columns = objective.columns();
  const std::int64_t weights = this->ops().weights();
  std::vector<std::int32_t> all;
  for (const auto& state : this->states()) all.push_back(state.task);
  this->ops().synchronize();
  const Block<T> gradient = this->g_.to(Device::cpu());
  Block<T> directions(weights, this->d_.tasks());
  std::vector<double> measures;
  for (std::size_t t = 0; t < this->tasks(); ++t) {
    const auto place = static_cast<std::int32_t>(t);
    this->count_products(t, static_cast<int>(weights));  // a unit vector in each column of the task
    auto matrix = hessian(context_, objective, all[t], this->second_, place);
    objective.choose(all);
    add_penalty(t, matrix);
    std::vector<double> g;
    for (std::int64_t j = 0; j < weights; ++j)
      for (std::int32_t k = 0; k < columns; ++k) g.push_back(static_cast<double>(gradient(j, place * columns + k)));
    const Cholesky cholesky(matrix, intercepts_first(weights, columns, objective.params().intercept),
                            dependence_tolerance<T>());
    const auto x = cholesky.solve(g);
    double fall = 0;
    for (std::size_t e = 0; e < x.size(); ++e) {
      directions(static_cast<std::int64_t>(e) / columns, place * columns + static_cast<std::int32_t>(e) % columns) =
          static_cast<T>(-x[e]);
      fall += g[e] * x[e];
    }
    measures.push_back(std::sqrt(std::max(0.0, fall)));
  }
  this->d_ = directions.to(this->ops().device());
  return measures;
}

template class NewtonCholesky<float>;
template class NewtonCholesky<double>;

}  // namespace sheaf::linear

// LIBLINEAR's models with an L1 penalty, min over w of sum of |w| + sum of cost * loss, as elastic nets: those divide
// the losses by the sum S of the row weights, so that row weights of cost / (cost of the negative rows) and alpha = 1 /
// (S * cost of the negative rows) give the same optimum. The bias is one more feature of the dataset if it is
// penalised, and the intercept of the nets if it is not.
#include <algorithm>
#include <map>
#include <tuple>

#include <sheaf/solvers/elastic_net.hpp>

#include "linear/model/problem.hpp"

namespace sheaf::linear {
namespace {

template <class T>
DenseMatrix<T> with_constant(const DenseMatrix<T>& x, T value) {
  DenseMatrix<T> wider{x.rows, x.columns + 1, Array<T>(x.rows * (x.columns + 1))};
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const T* from = x.values.data() + i * x.columns;
    T* to = wider.values.data() + i * wider.columns;
    std::copy(from, from + x.columns, to);
    to[x.columns] = value;
  }
  return wider;
}

template <class T>
SparseMatrix<T> with_constant(const SparseMatrix<T>& x, T value) {
  SparseMatrix<T> wider{x.rows, x.columns + 1, Array<std::int64_t>(x.rows + 1),
                        Array<std::int32_t>(x.nonzeros() + x.rows), Array<T>(x.nonzeros() + x.rows)};
  wider.offsets[0] = 0;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const std::int64_t begin = x.offsets[i];
    const std::int64_t size = x.offsets[i + 1] - begin;
    const std::int64_t to = wider.offsets[i];
    std::copy_n(x.indices.data() + begin, size, wider.indices.data() + to);
    std::copy_n(x.values.data() + begin, size, wider.values.data() + to);
    wider.indices[to + size] = static_cast<std::int32_t>(x.columns);
    wider.values[to + size] = value;
    wider.offsets[i + 1] = to + size + 1;
  }
  return wider;
}

/// The matrix alone, with one more feature that is `value` everywhere.
template <class T>
Dataset<T> with_constant(const Dataset<T>& dataset, T value) {
  Dataset<T> wider;
  wider.x = std::visit([&](const auto& x) { return Matrix<T>(with_constant(x, value)); }, dataset.x);
  wider.source = dataset.source;
  return wider;
}

/// A path of one alpha for each task; and by what the objective of each net is to be multiplied.
struct L1Sheaf {
  NetSheaf nets;
  std::vector<double> scales;
};

/// Row weights of tasks that have the same rows and costs of both classes are one column.
class RowWeightColumns {
 public:
  explicit RowWeightColumns(const Sheaf& sheaf) : sheaf_(sheaf) {}

  std::int32_t column_of(const Task& task) {
    const double ratio = task.cost_positive / task.cost_negative;
    const auto found = known_.try_emplace({task.rows, ratio, ratio == 1 ? -1 : task.target}, count());
    if (found.second) add(task, ratio);
    return found.first->second;
  }
  std::int32_t count() const { return static_cast<std::int32_t>(columns_.size()); }
  double total(std::int32_t column) const { return totals_[static_cast<std::size_t>(column)]; }

  std::vector<float> table() const {
    std::vector<float> table;
    for (std::size_t i = 0; i < static_cast<std::size_t>(sheaf_.examples); ++i)
      for (const auto& column : columns_) table.push_back(column[i]);
    return table;
  }

 private:
  void add(const Task& task, double ratio) {
    std::vector<float> column;
    double total = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(sheaf_.examples); ++i) {
      const auto width = static_cast<std::size_t>(sheaf_.weight_columns);
      const float weight =
          sheaf_.row_weights.empty() ? 1.0F : sheaf_.row_weights[i * width + static_cast<std::size_t>(task.rows)];
      const double y =
          sheaf_.targets[i * static_cast<std::size_t>(sheaf_.target_columns) + static_cast<std::size_t>(task.target)];
      column.push_back(y > 0 ? static_cast<float>(static_cast<double>(weight) * ratio) : weight);
      total += static_cast<double>(column.back());
    }
    columns_.push_back(std::move(column));
    totals_.push_back(total);
  }

  const Sheaf& sheaf_;
  std::map<std::tuple<std::int32_t, double, std::int32_t>, std::int32_t> known_;
  std::vector<std::vector<float>> columns_;
  std::vector<double> totals_;
};

L1Sheaf l1_sheaf(const Sheaf& sheaf) {
  L1Sheaf made;
  made.nets.examples = sheaf.examples;
  made.nets.target_columns = sheaf.target_columns;
  made.nets.targets = sheaf.targets;
  RowWeightColumns columns(sheaf);
  for (const auto& task : sheaf.tasks) {
    const std::int32_t column = columns.column_of(task);
    made.scales.push_back(task.cost_negative * columns.total(column));
    made.nets.paths.push_back({column, task.target, 1.0, {1 / made.scales.back()}});
  }
  made.nets.weight_columns = columns.count();
  made.nets.row_weights = columns.table();
  return made;
}

NetParams l1_params(const LinearOptions& options) {
  NetParams params;
  params.loss = *options.loss;
  // The tolerance of nets is a share of the deviance, which is twice the losses.
  params.tolerance = (options.tolerance > 0 ? options.tolerance : 1e-4) / 2;
  params.max_epochs = options.max_iterations;
  params.intercept = options.bias > 0 && !*options.penalise_bias;
  return params;
}

}  // namespace

template <class T>
Fits<T> train_l1(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf, const LinearOptions& options) {
  const auto params = l1_params(options);
  const bool feature = options.bias > 0 && !params.intercept;
  const auto made = l1_sheaf(sheaf);
  const auto nets = feature
                        ? elastic_nets(context, with_constant(dataset, static_cast<T>(options.bias)), made.nets, params)
                        : elastic_nets(context, dataset, made.nets, params);
  Fits<T> fits;
  fits.weights =
      Block<T>(dataset.features() + (options.bias > 0 ? 1 : 0), static_cast<std::int32_t>(sheaf.tasks.size()));
  for (std::int32_t t = 0; t < fits.weights.tasks(); ++t) {
    const auto& net = nets[static_cast<std::size_t>(t)];
    const double scale = made.scales[static_cast<std::size_t>(t)];
    for (std::int64_t j = 0; j < fits.weights.rows(); ++j) fits.weights(j, t) = 0;
    for (std::size_t k = 0; k < net.features.size(); ++k)
      fits.weights(net.features[k], t) = static_cast<T>(net.weights[k]);
    if (params.intercept) fits.weights(dataset.features(), t) = static_cast<T>(net.intercept / options.bias);
    TaskFit fit;
    fit.objective = net.fit.objective * scale;
    fit.gradient_norm = net.fit.gap * scale;
    fit.tolerance = net.fit.tolerance * scale;
    fit.iterations = net.fit.epochs;
    fit.converged = net.fit.converged;
    fits.tasks.push_back(fit);
  }
  return fits;
}

template Fits<float> train_l1(const Context&, const Dataset<float>&, const Sheaf&, const LinearOptions&);
template Fits<double> train_l1(const Context&, const Dataset<double>&, const Sheaf&, const LinearOptions&);

}  // namespace sheaf::linear

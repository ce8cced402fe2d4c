// The verbs of the linear family: the only operations of solvers of linear models on a device. One object serves one
// dataset on one device. All blocks are task-minor, live on that device, and have the strides of block_stride().
//
// With bias > 0 every example has one more feature of that value, after the real ones, stored nowhere: blocks of
// weights then have features() + 1 rows. Verbs run in order; those that fill a host span have finished when they
// return.
//
// Tasks of a sheaf with column transforms see (x - shift) * factor. X stays as it is: a product takes the weights of x
// that do the same, whose shifts go into the bias, and its transpose is put right behind it. A backend therefore has a
// bias then; hide_bias() keeps it out of the blocks of weights of models that have none.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/linear.hpp>

#include "core/parallel.hpp"
#include "linear/losses/losses.hpp"
#include "statistics/risk_sets.hpp"

namespace sheaf::linear {

/// One flag per task; empty: all.
using Wanted = std::span<const std::uint8_t>;

/// sum over rows of a o b, each term divided by `over` if that is given.
template <class T>
struct Dot {
  BlockView<const T> a;
  BlockView<const T> b;
  BlockView<const T> over = {};
  bool of_examples = false;  // blocks of examples() rows, not of weights
};

/// L^-1 of several Cholesky factors L, size x size each, one behind the other.
template <class T>
struct InverseFactors {
  std::int64_t size = 0;  // 0: a matrix was not positive definite
  std::int32_t count = 0;
  Array<T> by_rows;
  Array<T> by_columns = {};  // the same again, if the device needs it
};

template <class T>
class SlicedOps;

template <class T>
class LinearOps {
 public:
  LinearOps(Device device, std::int64_t examples, std::int64_t features, T bias)
      : LinearOps(device, {0, examples}, examples, features, bias) {}
  /// `own`: the rows of the dataset that blocks have, of `all`.
  LinearOps(Device device, Range own, std::int64_t all, std::int64_t features, T bias)
      : device_(device), own_(own), all_(all), features_(features), bias_(bias) {}
  LinearOps(const LinearOps&) = delete;
  LinearOps& operator=(const LinearOps&) = delete;
  virtual ~LinearOps() = default;

  Device device() const { return device_; }
  /// Rows of a block of examples: those of the dataset that this process has. Choices of solvers depend on
  /// all_examples() alone, so that the processes of a team make the same ones.
  std::int64_t examples() const { return own_.end - own_.begin; }
  std::int64_t all_examples() const { return all_; }
  /// Rows of a block of weights: the features, and the bias if models have one.
  std::int64_t weights() const { return features_ + (bias_ > 0 && !hidden_bias_ ? 1 : 0); }
  void hide_bias() { hidden_bias_ = true; }
  /// Whether tasks see the features through column transforms: products then belong to the chosen tasks.
  bool transformed() const { return transformed_; }

  /// Bytes that X takes on the device.
  virtual std::int64_t data_bytes() const = 0;

  /// z = X w: weights() rows to examples() rows.
  void multiply(BlockView<const T> w, BlockView<T> z);
  /// g = X' z: examples() rows to weights() rows.
  void multiply_transposed(BlockView<const T> z, BlockView<T> g);
  /// h = (X o X)' d, the diagonal of X' diag(d) X.
  void multiply_squared_transposed(BlockView<const T> d, BlockView<T> h);

  /// A block of examples from the numbers of all examples, some for each.
  Block<T> own_examples(std::span<const double> numbers) const;
  /// The numbers of all examples in the order of the dataset; `block` itself if this process has them.
  virtual Block<T> all_examples_of(Block<T> block) { return block; }

  /// X'X, or X' diag(d) X with the first column of `d`, which has no number below 0. X is used without transforms, with
  /// the bias, which must not be hidden: weights() x weights(), in CPU memory.
  virtual std::vector<double> gram(const Context& context, BlockView<const T> d = {});

  /// For each column of `d`: L^-1 with LL' = X' diag(d) X + ridge + share * its largest diagonal element. X' diag(d) X
  /// is estimated from these rows of X, and its diagonal is at least that column of `diagonal`. X is used without
  /// transforms, with the bias, which must not be hidden.
  virtual InverseFactors<T> inverse_factors(const Context& context, std::span<const std::int32_t> rows,
                                            BlockView<const T> d, BlockView<const T> diagonal, double ridge,
                                            double share) = 0;
  /// w_t = M v_t, or M' v_t, with M the inverse factor of number t modulo their count.
  virtual void multiply_by_each(const InverseFactors<T>& factors, bool transposed, BlockView<const T> v,
                                BlockView<T> w) = 0;

  /// Whether `sandwich` of so many tasks takes one pass over X: then it is the way to X' D X d.
  virtual bool fuses(std::int32_t tasks) const = 0;
  /// hd = X' v with v_t = curvatures_t o X d_t for the wanted tasks and u_t for the others; if q is given, q_t = X d_t
  /// for the wanted tasks, and anything for the others. Only if it fuses.
  void sandwich(BlockView<const T> d, BlockView<const T> curvatures, BlockView<const T> u, Wanted wanted,
                BlockView<T> q, BlockView<T> hd);
  /// g = X' z and h = (X o X)' d, in one pass over X if that is cheaper.
  void transpose_both(BlockView<const T> z, BlockView<T> g, BlockView<const T> d, BlockView<T> h);

  /// Brings the sheaf's row weights, targets and column transforms to the device, once per search.
  void load_tables(const Sheaf& sheaf);
  /// From now on, column t of every block belongs to tasks[t].
  virtual void choose_tasks(std::span<const Task> tasks) = 0;
  /// For each chosen task: the rows that it trains on, and those of them whose target is above 0.
  virtual void count_rows(std::span<double> used, std::span<double> positive) = 0;
  /// For each wanted task: the sum over examples of cost * row weight * loss(z + step, y) into `values`, and the first
  /// and second derivatives of each example's term into `slopes` and `curvatures`. `step`, `slopes` and `curvatures`
  /// may be empty (data == nullptr). Columns of tasks that are not wanted keep what they hold, and their values are 0.
  virtual void losses(Loss loss, BlockView<const T> z, BlockView<const T> step, Wanted wanted, std::span<double> values,
                      BlockView<T> slopes, BlockView<T> curvatures) = 0;

  // Models of several classes at once (multinomial): the chosen task t has the `classes` columns from t * classes on,
  // and its target is the number of a class. Wanted flags are of tasks, and the cost of a task is its cost_positive.
  /// Same as losses(), with the loss log(sum of exp(z)) - z_y of a row: sums into `values`, one a task, the derivatives
  /// in each z into `slopes`, and the probabilities exp(z) / sum of exp(z). `step`, `slopes` and `probabilities` may be
  /// empty.
  virtual void softmax(std::int32_t classes, BlockView<const T> z, BlockView<const T> step, Wanted wanted,
                       std::span<double> values, BlockView<T> slopes, BlockView<T> probabilities) = 0;
  /// The second derivative times q, row by row and in place: q = cost * row weight * (p o q - p (p'q)).
  virtual void softmax_curvature(std::int32_t classes, BlockView<const T> probabilities, Wanted wanted,
                                 BlockView<T> q) = 0;
  /// Probabilities become the second derivatives in each z by itself, cost * row weight * p (1 - p), of all tasks.
  virtual void softmax_diagonal(std::int32_t classes, BlockView<T> probabilities) = 0;
  /// Takes the mean over the classes of a task away, row by row: a softmax is the same without it.
  virtual void center_classes(std::int32_t classes, BlockView<T> w) = 0;
  // Cox models, whose loss is the partial likelihood of all rows of a task (core/partial_likelihood.hpp). The cost of a
  // task is its cost_positive.
  /// Loads the risk sets, under the row weights of load_tables().
  virtual void load_risks(const RiskTables& risk) = 0;
  /// Same as losses(): cost times the loss into `values`, its derivatives into `slopes`, and row weight * exp(z), up to
  /// a factor of each task, into `exponentials`. `step`, `slopes` and `exponentials` may be empty.
  virtual void partial_likelihood(BlockView<const T> z, BlockView<const T> step, Wanted wanted,
                                  std::span<double> values, BlockView<T> slopes, BlockView<T> exponentials) = 0;
  /// The second derivative times q, in place, for all tasks.
  virtual void partial_curvature(BlockView<const T> exponentials, BlockView<T> q) = 0;

  /// Decision values of generalised linear models become predictions, in place: for several classes, the log odds of
  /// each against all others, else prediction() of the loss.
  virtual void predict(Loss loss, T parameter, std::int32_t classes, BlockView<T> z) = 0;

  /// out[k * tasks + t]: the k-th inner product of column t, summed in double.
  virtual void dots(std::span<const Dot<T>> products, std::span<double> out) = 0;
  /// b_t = alpha[t] a_t + beta[t] b_t. beta = 0 overwrites b, whatever it held.
  virtual void combine(std::span<const double> alpha, BlockView<const T> a, std::span<const double> beta,
                       BlockView<T> b) = 0;
  /// out_t = the sum over k of factors[k * tasks + t] blocks[k]_t, of at most most_combined blocks; `out` may be one.
  static constexpr std::size_t most_combined = 32;
  virtual void combine_all(std::span<const double> factors, std::span<const BlockView<const T>> blocks,
                           BlockView<T> out) = 0;
  /// w = M v, or M' v, for a matrix that is on the device.
  virtual void multiply_by(const DenseMatrix<T>& matrix, bool transposed, BlockView<const T> v, BlockView<T> w) = 0;
  /// c_t = a_t o b_t, element by element, for the wanted tasks; c may be a or b.
  virtual void multiply_elements(BlockView<const T> a, BlockView<const T> b, Wanted wanted, BlockView<T> c) = 0;
  /// Column t of `to` becomes column keep[t] of `from`: finished tasks leave the block.
  virtual void keep_tasks(BlockView<const T> from, std::span<const std::int32_t> keep, BlockView<T> to) = 0;
  /// Column at[t] of `to` becomes column t of `from`; the others keep what they hold.
  virtual void place_tasks(BlockView<const T> from, std::span<const std::int32_t> at, BlockView<T> to) = 0;

  // Conjugate gradients on (R + X' D X) s = r with R = diag(ridge), all tasks at once, one pass over each block per
  // verb.
  /// For the wanted tasks: g = hd, out[t] = |g_t|^2.
  virtual void keep_gradients(Wanted wanted, BlockView<const T> hd, BlockView<T> g, std::span<double> out) = 0;
  /// For the wanted tasks: r = -g, s = 0, d = inverse o r, out[t] = r_t' d_t.
  virtual void start_directions(Wanted wanted, BlockView<const T> g, BlockView<const T> inverse, BlockView<T> r,
                                BlockView<T> s, BlockView<T> d, std::span<double> out) = 0;
  /// hd += R d, out[t] = d_t' hd_t. The bias row of R is `bias_ridge`, the others 1.
  virtual void finish_curvature(T bias_ridge, BlockView<const T> d, BlockView<T> hd, std::span<double> out) = 0;
  /// s += alpha d, r -= alpha hd, out[t] = r_t' (inverse_t o r_t).
  virtual void advance(std::span<const double> alpha, BlockView<const T> d, BlockView<const T> hd,
                       BlockView<const T> inverse, BlockView<T> s, BlockView<T> r, std::span<double> out) = 0;
  /// d = fresh (inverse o r) + beta d.
  virtual void redirect(std::span<const double> fresh, BlockView<const T> inverse, BlockView<const T> r,
                        std::span<const double> beta, BlockView<T> d) = 0;
  /// For the wanted tasks: w += s, d = w, out[t] = w_t' R w_t.
  virtual void take_steps(Wanted wanted, T bias_ridge, BlockView<const T> s, BlockView<T> w, BlockView<T> d,
                          std::span<double> out) = 0;
  /// h = 1 / (1 - share + share (R + h)): the inverse of a tempered diagonal.
  virtual void invert_diagonal(T share, T bias_ridge, BlockView<T> h) = 0;

  /// Waits until every verb called is done.
  virtual void synchronize() = 0;
  /// While sums are delayed, verbs may write those they return later, when dots() or synchronize() returns: a device
  /// that is far away is waited for once.
  virtual void delay_sums(bool /*delay*/) {}

 protected:
  bool has_bias() const { return bias_ > 0; }
  std::int64_t features() const { return features_; }
  T bias() const { return bias_; }
  /// Whether any column transform has a shift.
  bool shifted() const { return shifted_; }

  // The same with X as it is, and blocks of weights that have the bias.
  virtual void multiply_raw(BlockView<const T> w, BlockView<T> z) = 0;
  virtual void multiply_transposed_raw(BlockView<const T> z, BlockView<T> g) = 0;
  virtual void multiply_squared_transposed_raw(BlockView<const T> d, BlockView<T> h) = 0;
  virtual void sandwich_raw(BlockView<const T> d, BlockView<const T> curvatures, BlockView<const T> u, Wanted wanted,
                            BlockView<T> q, BlockView<T> hd) = 0;
  virtual void transpose_both_raw(BlockView<const T> z, BlockView<T> g, BlockView<const T> d, BlockView<T> h) {
    multiply_transposed_raw(z, g);
    multiply_squared_transposed_raw(d, h);
  }
  virtual void load(const Sheaf& sheaf) = 0;

  // Column transforms of the chosen tasks, with s their shifts, f their factors and b the bias.
  /// Weights of x: raw = f o w, its bias that of w (0 if w has none) less s'raw / b.
  virtual void weights_to_raw(BlockView<const T> w, BlockView<T> raw) = 0;
  /// g = f o (raw - s raw_bias / b); the bias as it is.
  virtual void gradient_from_raw(BlockView<const T> raw, BlockView<T> g) = 0;
  /// h = f^2 o (squares - 2 s o sums + s^2 sums_bias / b), with squares = (X o X)'d and sums = X'd, which are not there
  /// if nothing is shifted; the bias as it is.
  virtual void squares_from_raw(BlockView<const T> squares, BlockView<const T> sums, BlockView<T> h) = 0;

 private:
  /// A block of weights of x, as many tasks as `like`.
  BlockView<T> raw_like(BlockView<const T> like, Array<T>& scratch);

  friend SlicedOps<T>;  // whose slices are ops of their own

  Device device_;
  Range own_;
  std::int64_t all_;
  std::int64_t features_;
  T bias_;
  bool hidden_bias_ = false;
  bool transformed_ = false;
  bool shifted_ = false;
  Array<T> raw_, raw_sums_;
};

/// Some columns of a block, as a block of their own, which is there when the call returns.
template <class T>
Block<T> kept_columns(LinearOps<T>& ops, const Block<T>& block, std::span<const std::int32_t> columns) {
  Block<T> kept(block.rows(), static_cast<std::int32_t>(columns.size()), ops.device());
  ops.keep_tasks(block.view(), columns, kept.view());
  ops.synchronize();
  return kept;
}

/// Numbers of another type, in CPU memory.
template <class To, class From>
Array<To> converted(std::span<const From> from, int threads);

/// The backend of the context's device. Brings the dataset there; the dataset must outlive it and not move.
/// `blocks` bytes of the context's memory are for the caller's blocks: an X that does not fit the rest of a GPU's is
/// streamed.
template <class T>
std::unique_ptr<LinearOps<T>> make_ops(const Context& context, const Dataset<T>& dataset, T bias = 0,
                                       std::int64_t blocks = 0);

/// The slices of the rows that this process has in the context's team, and sums over those of all processes.
template <class T>
std::unique_ptr<LinearOps<T>> make_sliced_ops(const Context& context, const Dataset<T>& dataset, T bias,
                                              std::int64_t blocks);

// The backends, for make_ops alone.
template <class T>
std::unique_ptr<LinearOps<T>> make_cpu_ops(const Context& context, const Dataset<T>& dataset, T bias);
template <class Set, class T>
std::unique_ptr<LinearOps<T>> make_cpu_ops_for(const Context& context, const Dataset<T>& dataset, T bias);
template <class T>
std::unique_ptr<LinearOps<T>> make_cuda_ops(const Context& context, const Dataset<T>& dataset, T bias,
                                            std::int64_t blocks);

}  // namespace sheaf::linear

// The verbs of scoring on one NVIDIA GPU. All work of one object runs in order on its own stream; columns are ranked
// one after another, so that the keys of a single one take memory.
#include <algorithm>
#include <vector>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include "cuda/check.cuh"
#include "score/ops.hpp"
#include "score/scores_cuda.cuh"

namespace sheaf::score {
namespace {

using gpu::Count;
using gpu::score_threads;

constexpr std::int64_t most_shared_bins = 10240;
constexpr std::int64_t rows_a_block = std::int64_t{8} * score_threads;
constexpr std::int64_t most_blocks = 1024;

unsigned blocks_for(std::int64_t size, std::int64_t each, std::int64_t most) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((size + each - 1) / each, 1, most));
}

template <class T>
class CudaScores final : public ScoreOps<T> {
 public:
  CudaScores(const Context& context, const Truth& truth)
      : ScoreOps<T>(context, truth),
        labels_(Array<std::int32_t>::copy_of(truth.labels, context.device())),
        values_(Array<double>::copy_of(truth.values, context.device())),
        events_(Array<std::uint8_t>::copy_of(truth.events, context.device())),
        entries_(Array<double>::copy_of(truth.entries, context.device())),
        strata_(Array<std::int32_t>::copy_of(truth.strata, context.device())) {}

  void load_tests(TestRows tests) override {
    begins_ = Array<std::int64_t>::copy_of(tests.begins, this->device());
    rows_ = Array<std::int32_t>::copy_of(tests.rows, this->device());
    if (!this->truth().events.empty()) {
      const auto weights = this->survival_weights(tests);
      weights_ = Array<float>::copy_of(weights, this->device());
      risk_ = RiskArrays<float>(this->survival_risks(weights, tests), 2 * tests.count(), this->device());
      trained_ = !tests.trained.empty();
    }
    tests_.begins = std::move(tests.begins);
    largest_ = tests_.largest();
  }

  /// Keys and flags twice, positives before each row, and the memory of the sort.
  std::int64_t workspace() const override {
    constexpr std::int64_t each = 2 * sizeof(Key) + 2 * sizeof(std::uint8_t) + sizeof(std::int32_t) + sizeof(RowWeight);
    return largest_ * (each + 1) + (std::int64_t{1} << 16);
  }

  void count_classes(BlockView<const T> z, BlockView<const std::int32_t> predicted, std::span<const std::int32_t> tests,
                     const ClassStatistics& out) override {
    if (tests.empty()) return;
    const auto current = here();
    const std::int64_t bins = count_bins(this->truth().classes);
    const std::int64_t all_bins = bins + true_rank_bins;
    const bool shared = all_bins <= most_shared_bins;
    const std::size_t bytes = shared ? static_cast<std::size_t>(all_bins) * sizeof(unsigned) : 0;
    const gpu::Asked asked{predicted.data, predicted.stride, !out.true_ranks.empty(), !out.probabilities.empty()};
    clear(counts_, static_cast<std::int64_t>(tests.size()) * all_bins);
    sum(tests, std::max(rows_a_block, 4 * bins), probabilities_, [&](dim3 blocks, const std::int32_t* on_device) {
      gpu::count_rows<T><<<blocks, score_threads, bytes, stream_>>>(
          tested(z, on_device), labels_.data(), this->truth().classes, static_cast<int>(bins), shared, asked,
          counts_.data(), probabilities_.partial.data());
    });
    std::vector<Count> found(tests.size() * static_cast<std::size_t>(all_bins));
    fetch(counts_.data(), std::span(found));
    fetch(probabilities_.sums.data(), out.probabilities);
    stream_.synchronize();
    copy_columns(found, static_cast<std::size_t>(all_bins), 0, tests.size(), out.counts);
    copy_columns(found, static_cast<std::size_t>(all_bins), static_cast<std::size_t>(bins), tests.size(),
                 out.true_ranks);
  }

  void sum_errors(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<ErrorSums> sums) override {
    if (tests.empty()) return;
    const auto current = here();
    sum(tests, rows_a_block, errors_, [&](dim3 blocks, const std::int32_t* on_device) {
      auto single = tested(z, on_device);
      single.columns = 1;
      gpu::error_rows<T><<<blocks, score_threads, 0, stream_>>>(single, values_.data(), this->truth().targets,
                                                                errors_.partial.data());
    });
    fetch(errors_.sums.data(), sums);
    stream_.synchronize();
  }

  void sum_survival(BlockView<const T> z, std::span<const std::int32_t> tests, std::span<SurvivalSums> sums) override {
    if (tests.empty()) return;
    const auto current = here();
    constexpr std::int64_t together = 256;  // each model has vectors over the rows
    const auto models = static_cast<std::int64_t>(tests.size());
    grow(chosen_, models);
    grow(survival_, models);
    grow(likelihoods_, std::min(together, models) * risk_.order.size() * gpu::risk_vectors);
    cuda::check(cudaMemcpyAsync(chosen_.data(), tests.data(), tests.size_bytes(), cudaMemcpyHostToDevice, stream_),
                "sending the tests of models");
    const gpu::Survival truth{risk_.sets(),
                              weights_.data(),
                              values_.data(),
                              events_.data(),
                              entries_.size() > 0 ? entries_.data() : nullptr,
                              strata_.size() > 0 ? strata_.data() : nullptr,
                              trained_};
    for (std::int64_t first = 0; first < models; first += together) {
      this->context().check_stop();
      gpu::survival_sums<T><<<static_cast<unsigned>(std::min(together, models - first)), score_threads, 0, stream_>>>(
          tested(z, chosen_.data()), truth, first, likelihoods_.data(), survival_.data());
      cuda::check_launch("survival_sums");
    }
    fetch(survival_.data(), sums);
    stream_.synchronize();
  }

  void rank(BlockView<const T> z, std::span<const std::int32_t> tests, std::int32_t points, bool by_probability,
            std::span<Ranking> out) override {
    if (tests.empty()) return;
    const auto current = here();
    clear(counts_, z.tasks);
    clear(totals_, z.tasks);
    clear(precisions_, z.tasks);
    clear(roc_, static_cast<std::int64_t>(z.tasks) * points);
    clear(precision_, static_cast<std::int64_t>(z.tasks) * points);
    for (std::int32_t t = 0; t < z.tasks; ++t) {
      this->context().check_stop();
      const std::int32_t test = tests[static_cast<std::size_t>(t / this->columns())];
      if (by_probability && t % this->columns() == 0) weigh_rows(z, t, test);
      rank_column(z, t, test, points, by_probability);
    }
    fetch_rankings(static_cast<std::size_t>(z.tasks), static_cast<std::size_t>(points), out);
  }

 private:
  using Key = FallingKey<T>;

  /// Launches go to the current GPU: every verb makes this one current first.
  cuda::Current here() const { return cuda::Current(this->device().index); }

  gpu::Tested<T> tested(BlockView<const T> z, const std::int32_t* tests) const {
    return {z.data, z.stride, this->columns(), begins_.data(), rows_.data(), tests};
  }

  /// Sums of each model, and the parts of blocks of threads.
  template <class V>
  struct Sums {
    Array<V> partial, sums;
  };

  /// Runs `launch(blocks, tests on the device)`, which fills partial: blocks.y x models, and adds that up.
  template <class V, class Launch>
  void sum(std::span<const std::int32_t> tests, std::int64_t rows_each, Sums<V>& out, Launch&& launch) {
    this->context().check_stop();
    const auto models = static_cast<std::int64_t>(tests.size());
    const dim3 blocks(static_cast<unsigned>(models), blocks_for(largest_, rows_each, most_blocks));
    grow(chosen_, models);
    grow(out.partial, models * blocks.y);
    grow(out.sums, models);
    // The copy has left pageable memory when the call returns.
    cuda::check(cudaMemcpyAsync(chosen_.data(), tests.data(), tests.size_bytes(), cudaMemcpyHostToDevice, stream_),
                "sending the tests of models");
    launch(blocks, chosen_.data());
    cuda::check_launch("a sum over test rows");
    gpu::add_sums<V>
        <<<blocks.x, score_threads, 0, stream_>>>(out.partial.data(), static_cast<int>(blocks.y), out.sums.data());
    cuda::check_launch("add_sums");
  }

  /// Rows of `width` numbers, of each those from `first` on that `to` has room for.
  static void copy_columns(std::span<const Count> from, std::size_t width, std::size_t first, std::size_t rows,
                           std::span<std::int64_t> to) {
    const std::size_t each = to.size() / rows;
    for (std::size_t r = 0; r < rows; ++r)
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(r * width + first), each,
                  to.begin() + static_cast<std::ptrdiff_t>(r * each));
  }

  /// Computes the weights of the test rows of the model whose first column is `column`.
  void weigh_rows(BlockView<const T> z, std::int32_t column, std::int32_t test) {
    const int size = static_cast<int>(tests_.size(test));
    if (size == 0) return;
    grow(row_weights_, largest_);
    gpu::weigh_rows<T><<<blocks_for(size, score_threads, size), score_threads, 0, stream_>>>(
        z.data + column, z.stride, this->columns(), rows_.data() + tests_.begin(test), size, row_weights_.data());
    cuda::check_launch("weigh_rows");
  }

  void rank_column(BlockView<const T> z, std::int32_t column, std::int32_t test, std::int32_t points,
                   bool by_probability) {
    const int size = static_cast<int>(tests_.size(test));
    if (size == 0) return;
    for (auto& keys : keys_) grow(keys, largest_);
    for (auto& flags : flags_) grow(flags, largest_);
    grow(before_, largest_);
    grow(parts_, most_blocks);
    gpu::gather_keys<T><<<blocks_for(size, score_threads * gpu::rows_gathered, size), score_threads, 0, stream_>>>(
        z.data + column, z.stride, rows_.data() + tests_.begin(test), size, labels_.data(),
        this->class_of(column % this->columns()), this->reversed(), by_probability ? row_weights_.data() : nullptr,
        keys_[0].data(), flags_[0].data());
    cuda::check_launch("gather_keys");
    const gpu::Sorted<Key> sorted = sort(size);
    const unsigned blocks = blocks_for(size, rows_a_block, most_blocks);
    gpu::add_pairs<Key><<<blocks, score_threads, 0, stream_>>>(sorted, counts_.data() + column, parts_.data());
    cuda::check_launch("add_pairs");
    const std::int64_t first = static_cast<std::int64_t>(column) * points;
    gpu::find_points<Key><<<1, score_threads, 0, stream_>>>(
        sorted, parts_.data(), static_cast<int>(blocks), points,
        {totals_.data() + column, precisions_.data() + column, roc_.data() + first, precision_.data() + first});
    cuda::check_launch("find_points");
  }

  void fetch_rankings(std::size_t tasks, std::size_t points, std::span<Ranking> out) {
    std::vector<Count> doubled(tasks);
    std::vector<Corner> totals(tasks);
    std::vector<double> precisions(tasks);
    std::vector<RocPiece> roc(tasks * points);
    std::vector<Corner> precision(tasks * points);
    fetch(counts_.data(), std::span(doubled));
    fetch(totals_.data(), std::span(totals));
    fetch(precisions_.data(), std::span(precisions));
    fetch(roc_.data(), std::span(roc));
    fetch(precision_.data(), std::span(precision));
    stream_.synchronize();
    for (std::size_t t = 0; t < tasks; ++t) {
      out[t] = {totals[t].others, totals[t].positives, static_cast<std::int64_t>(doubled[t]), precisions[t], {}, {}};
      if (out[t].others == 0 || out[t].positives == 0) continue;
      out[t].roc.assign(roc.data() + t * points, roc.data() + (t + 1) * points);
      out[t].precision.assign(precision.data() + t * points, precision.data() + (t + 1) * points);
    }
  }

  /// The gathered keys in order, and the positive rows before each.
  gpu::Sorted<Key> sort(int size) {
    cub::DoubleBuffer<Key> keys(keys_[0].data(), keys_[1].data());
    cub::DoubleBuffer<std::uint8_t> flags(flags_[0].data(), flags_[1].data());
    with_storage("sorting decision values", [&](void* storage, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(storage, bytes, keys, flags, size, 0, static_cast<int>(8 * sizeof(Key)),
                                             stream_);
    });
    with_storage("counting positive rows", [&](void* storage, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveScan(storage, bytes, flags.Current(), before_.data(), ::cuda::std::plus<>{},
                                            std::int32_t{0}, size, stream_);
    });
    return {keys.Current(), flags.Current(), before_.data(), size};
  }

  /// Asks CUB how much memory a call takes, and calls it with that.
  template <class Call>
  void with_storage(const char* what, Call&& call) {
    std::size_t bytes = 0;
    cuda::check(call(nullptr, bytes), what);
    grow(storage_, std::max<std::int64_t>(static_cast<std::int64_t>(bytes), 1));
    cuda::check(call(storage_.data(), bytes), what);
  }

  template <class V>
  void fetch(const V* from, std::span<V> to) {
    if (to.empty()) return;
    cuda::check(cudaMemcpyAsync(to.data(), from, to.size_bytes(), cudaMemcpyDeviceToHost, stream_), "fetching scores");
  }

  /// Grown memory is new memory: work in flight may still use the old, and freeing waits for it.
  template <class V>
  void grow(Array<V>& array, std::int64_t size) {
    if (array.size() < size) array = Array<V>(size, this->device());
  }
  template <class V>
  void clear(Array<V>& array, std::int64_t size) {
    grow(array, size);
    if (size == 0) return;
    cuda::check(cudaMemsetAsync(array.data(), 0, static_cast<std::size_t>(size) * sizeof(V), stream_),
                "clearing scores");
  }

  cuda::Stream stream_;
  Array<std::int32_t> labels_;
  Array<double> values_;
  Array<std::uint8_t> events_;
  Array<double> entries_;
  Array<std::int32_t> strata_;
  Array<float> weights_;  // survival: see survival_weights()
  RiskArrays<float> risk_;
  bool trained_ = false;
  Array<SurvivalSums> survival_;
  Array<double> likelihoods_;
  TestRows tests_;  // without the rows, which are on the device alone
  std::int64_t largest_ = 0;
  Array<std::int64_t> begins_;
  Array<std::int32_t> rows_, chosen_;
  Array<Count> counts_;
  Sums<ProbabilitySums> probabilities_;
  Sums<ErrorSums> errors_;
  Array<Key> keys_[2];
  Array<std::uint8_t> flags_[2];
  Array<std::int32_t> before_;
  Array<RowWeight> row_weights_;  // of one model, if it is ranked by probability
  Array<char> storage_;
  // Arrays of the columns that are ranked; parts_ of one at a time.
  Array<Corner> totals_, precision_;
  Array<double> precisions_, parts_;
  Array<RocPiece> roc_;
};

}  // namespace

template <class T>
std::unique_ptr<ScoreOps<T>> make_cuda_score_ops(const Context& context, const Truth& truth) {
  const cuda::Current current(context.device().index);
  return std::make_unique<CudaScores<T>>(context, truth);
}

template std::unique_ptr<ScoreOps<float>> make_cuda_score_ops(const Context&, const Truth&);
template std::unique_ptr<ScoreOps<double>> make_cuda_score_ops(const Context&, const Truth&);

}  // namespace sheaf::score

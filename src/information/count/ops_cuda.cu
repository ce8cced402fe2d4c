// The information verbs on one NVIDIA GPU. All work of one object runs in order on its own stream.
//
// The GPU counts; logarithms come from the host. Sums in FEAST's order of more than 128 rows are left to the host's
// cores: only ties need them.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "cuda/check.cuh"
#include "cuda/staging.cuh"
#include "information/count/bit_planes_cuda.cuh"
#include "information/count/class_order.hpp"
#include "information/count/columns.hpp"
#include "information/count/ordered.hpp"
#include "information/count/ordered_cuda.cuh"
#include "information/count/ordered_device.cuh"
#include "information/count/sums_cuda.cuh"

namespace sheaf::information {
namespace {

constexpr std::int64_t most_pairs_at_once = 1 << 20;

int attribute(int index, cudaDeviceAttr which) {
  int value = 0;
  cuda::check(cudaDeviceGetAttribute(&value, which, index), "reading the GPU's properties");
  return value;
}

/// One partner on the device, and the copy that the host needs to resolve ties.
struct Partner {
  std::int32_t feature = -1;  ///< -1: merged states
  std::vector<std::uint32_t> merged;
  std::int64_t states = 0;
  std::int64_t counted_states = 0;  ///< of the rows that `rows` holds
  std::int64_t joint_states = 0;
  Array<std::uint32_t> rows, codes, with_class, counts, class_counts;
  std::int64_t sum = 0;
  std::int64_t class_sum = 0;
};

class CudaOps final : public Ops {
 public:
  CudaOps(const Context& context, const Problem& problem, Counting counting)
      : context_(context),
        problem_(problem),
        counting_(counting),
        device_(context.device()),
        processors_(attribute(device_.index, cudaDevAttrMultiProcessorCount)),
        ordered_(context.device(), context.threads()),
        planes_(context.device()) {
    states_ = Array<std::int32_t>::copy_of(problem.table->states, device_);
    classes_.assign(problem.classes.begin(), problem.classes.end());
    if (counting_ == Counting::tables) send_sorted();
    if (counting_ == Counting::nonzeros) send_sparse();
    if (counting_ == Counting::ordered) ordered_.send_table(*problem.table);
    if (counting_ == Counting::grouped) send_dense();
    if (counting_ == Counting::popcount) planes_.send_table(problem, context.threads());
    choose_rows(problem.weights);
  }

  Counting counting() const override { return counting_; }
  std::int64_t batch() const override { return 16384; }

  void choose_rows(std::span<const std::uint32_t> weights) override {
    const cuda::Current current(device_.index);
    partners_.clear();
    ordered_.forget_partners();
    helper_.reset();
    problem_.weights = weights;
    const bool same = chosen_once_ && std::equal(weights.begin(), weights.end(), chosen_.begin(), chosen_.end());
    if (std::exchange(chosen_once_, true) && same) return;
    chosen_.assign(weights.begin(), weights.end());
    log_ = FixedLog(problem_.total());
    device_log_ = Array<std::int64_t>::copy_of(log_.values(), device_);
    send_weights();
    if (counting_ == Counting::ordered) ordered_.choose_rows(problem_);
    if (counting_ == Counting::popcount) planes_.choose_rows(weights);
  }

  std::int32_t add_partner(std::int32_t feature) override {
    Partner partner;
    partner.feature = feature;
    partner.states = problem_.table->states[static_cast<std::size_t>(feature)];
    std::vector<std::uint32_t> codes;
    if (!counts_features()) read_column(*problem_.table, feature, codes);
    return add(std::move(partner), codes);
  }
  std::int32_t add_partner(std::span<const std::uint32_t> codes, std::int32_t states) override {
    require(!counts_features(), "merged states are counted neither in tables nor in bit planes");
    Partner partner;
    partner.merged.assign(codes.begin(), codes.end());
    partner.states = states;
    const std::vector<std::uint32_t> copy = partner.merged;
    return add(std::move(partner), copy);
  }

  void joint_sums(std::span<const Pair> pairs, bool with_class, std::span<JointSums> out) override {
    const cuda::Current current(device_.index);
    in_pieces(pairs.size(), [&](std::size_t first, std::size_t count) {
      send_pairs(pairs.subspan(first, count));
      grow(device_sums_, static_cast<std::int64_t>(count));
      launch_sums(static_cast<std::int64_t>(count), with_class);
      const auto sums = fetch(device_sums_.data(), count);
      std::copy(sums.begin(), sums.end(), out.begin() + static_cast<std::ptrdiff_t>(first));
    });
  }

  void ordered_terms(std::span<const Pair> pairs, Terms wanted, std::span<PairTerms> out) override {
    if (counting_ != Counting::ordered || !ordered_.fits()) {
      ordered_terms_on_host(pairs, wanted, out);
      return;
    }
    const cuda::Current current(device_.index);
    in_pieces(pairs.size(), [&](std::size_t first, std::size_t count) {
      send_pairs(pairs.subspan(first, count));
      launch_ordered({device_pairs_.data(), 0, static_cast<std::int64_t>(count)}, wanted);
      spread(fetch_terms(static_cast<std::int64_t>(count), wanted), wanted, out.subspan(first, count));
    });
  }

  /// A GPU counts all pairs of a partner in less time than it takes to find those that matter.
  bool counts_columns() const override { return counting_ == Counting::ordered && ordered_.fits(); }

  std::span<const double> column_terms(std::int32_t partner, Terms wanted) override {
    const cuda::Current current(device_.index);
    launch_ordered({nullptr, partner, problem_.table->features}, wanted);
    return fetch_terms(problem_.table->features, wanted);
  }

 private:
  /// Whether partners are features of the table on the device, and nothing else.
  bool counts_features() const { return counting_ == Counting::tables || counting_ == Counting::popcount; }

  template <class V>
  void grow(Array<V>& array, std::int64_t size) {
    if (array.size() < size) array = Array<V>(size * 3 / 2, device_);
  }

  template <class Work>
  void in_pieces(std::size_t pairs, Work&& work) const {
    for (std::size_t first = 0; first < pairs; first += most_pairs_at_once) {
      context_.check_stop();
      work(first, std::min<std::size_t>(most_pairs_at_once, pairs - first));
    }
  }

  void send_pairs(std::span<const Pair> pairs) {
    grow(device_pairs_, static_cast<std::int64_t>(pairs.size()));
    auto* staged = staging_in_.room<Pair>(pairs.size());
    std::memcpy(staged, pairs.data(), pairs.size_bytes());
    cuda::check(cudaMemcpyAsync(device_pairs_.data(), staged, pairs.size_bytes(), cudaMemcpyHostToDevice, stream_),
                "sending pairs");
  }
  /// Valid until the next call.
  template <class V>
  std::span<const V> fetch(const V* from, std::size_t count) {
    auto* staged = staging_out_.room<V>(count);
    cuda::check(cudaMemcpyAsync(staged, from, count * sizeof(V), cudaMemcpyDeviceToHost, stream_), "fetching counts");
    stream_.synchronize();
    return {staged, count};
  }
  std::span<const double> fetch_terms(std::int64_t pairs, Terms wanted) {
    return fetch(device_terms_.data(), static_cast<std::size_t>(pairs * count_terms(wanted)));
  }

  static void spread(std::span<const double> values, Terms wanted, std::span<PairTerms> out) {
    const TermColumns columns(values, wanted);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = columns[k];
  }

  // The table, once per search.

  void send_dense() {
    const BinnedTable& table = *problem_.table;
    dense_ = Array<std::uint16_t>(table.rows * table.features, device_);
    const std::int64_t at_once =
        std::max<std::int64_t>(1, (std::int64_t{8} << 20) / std::max<std::int64_t>(table.rows, 1));
    std::vector<std::uint16_t> part(static_cast<std::size_t>(std::min(at_once, table.features) * table.rows));
    for (std::int64_t j = 0; j < table.features; j += at_once) {
      const std::int64_t count = std::min(table.features - j, at_once);
      parallel_ranges(context_, count, 16, [&](Range range) {
        std::vector<std::uint16_t> column;
        for (std::int64_t k = range.begin; k < range.end; ++k) {
          read_column(table, j + k, column);
          std::copy(column.begin(), column.end(), part.begin() + k * table.rows);
        }
      });
      copy_bytes(dense_.data() + j * table.rows, device_, part.data(), Device::cpu(), count * table.rows * 2);
    }
  }

  void send_sparse() {
    const SparseCodes& codes = *sparse_codes(*problem_.table);
    offsets_ = codes.offsets.to(device_);
    examples_ = codes.examples.to(device_);
    nonzeros_ = codes.codes.to(device_);
  }

  void send_sorted() {
    const BinnedTable& table = *problem_.table;
    order_ = order_by_class(problem_, gpu::row_unit);
    class_begins_ = Array<std::int64_t>::copy_of(order_.begins, device_);
    class_ends_ = Array<std::int64_t>::copy_of(order_.ends, device_);
    sorted_ = Array<std::uint8_t>(order_.stride * table.features, device_);
    const std::int64_t at_once =
        std::max<std::int64_t>(1, (std::int64_t{64} << 20) / std::max<std::int64_t>(order_.stride, 1));
    std::vector<std::uint8_t> part(static_cast<std::size_t>(std::min(at_once, table.features) * order_.stride), 0);
    for (std::int64_t j = 0; j < table.features; j += at_once) {
      const Range features{j, std::min(table.features, j + at_once)};
      place_columns(table, order_, features, context_.threads(), part.data());
      copy_bytes(sorted_.data() + j * order_.stride, device_, part.data(), Device::cpu(),
                 (features.end - j) * order_.stride);
    }
  }

  void send_weights() {
    weights_ = {};
    if (problem_.weights.empty() || counting_ == Counting::popcount) return;
    if (counting_ != Counting::tables) {
      weights_ = Array<std::uint32_t>::copy_of(problem_.weights, device_);
      return;
    }
    std::vector<std::uint32_t> sorted(static_cast<std::size_t>(order_.stride), 0);
    for (std::size_t i = 0; i < order_.places.size(); ++i)
      sorted[static_cast<std::size_t>(order_.places[i])] = problem_.weights[i];
    weights_ = Array<std::uint32_t>::copy_of(sorted, device_);
  }

  // Partners.

  std::int32_t add(Partner partner, const std::vector<std::uint32_t>& codes) {
    const cuda::Current current(device_.index);
    stream_.synchronize();  // what is sent below lies where the work before may still read
    if (counting_ == Counting::ordered) ordered_.add_partner(codes, partner.states, stream_);
    if (counting_ == Counting::grouped) prepare_rows(partner, codes);
    if (counting_ == Counting::nonzeros) prepare_counts(partner, codes);
    partners_.push_back(std::move(partner));
    send_partners();
    return static_cast<std::int32_t>(partners_.size()) - 1;
  }

  /// Without the rows that have their state for themselves, whatever the candidate: merged states soon are of that
  /// kind.
  void prepare_rows(Partner& partner, const std::vector<std::uint32_t>& codes) {
    const auto weight = [this](std::size_t i) { return problem_.weights.empty() ? 1 : problem_.weights[i]; };
    std::vector<std::uint32_t> rows_of(static_cast<std::size_t>(partner.states), 0);
    for (std::size_t i = 0; i < codes.size(); ++i) rows_of[codes[i]] += weight(i) > 0 ? 1 : 0;
    std::vector<std::uint32_t> rows, kept, classes;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (weight(i) > 0 && rows_of[codes[i]] == 1) partner.sum += log_(weight(i));
      if (weight(i) == 0 || rows_of[codes[i]] == 1) continue;
      rows.push_back(static_cast<std::uint32_t>(i));
      kept.push_back(codes[i]);
      classes.push_back(classes_[i]);
    }
    partner.class_sum = partner.sum;
    std::vector<std::uint32_t> own, with_class;
    const std::vector<std::uint32_t> none(kept.size(), 0);
    partner.counted_states = Merger().merge({kept, partner.states}, {none, 1}, own);
    partner.joint_states = Merger().merge({kept, partner.states}, {classes, problem_.class_count}, with_class);
    partner.rows = Array<std::uint32_t>::copy_of(rows, device_);
    partner.codes = Array<std::uint32_t>::copy_of(own, device_);
    partner.with_class = Array<std::uint32_t>::copy_of(with_class, device_);
    make_rooms((partner.counted_states + partner.joint_states) * (problem_.most_states() + std::int64_t{1}));
  }

  void prepare_counts(Partner& partner, const std::vector<std::uint32_t>& codes) {
    std::vector<std::uint32_t> with_class;
    partner.joint_states = Merger().merge({codes, partner.states}, {classes_, problem_.class_count}, with_class);
    std::vector<std::uint32_t> counts(static_cast<std::size_t>(partner.states), 0);
    std::vector<std::uint32_t> class_counts(static_cast<std::size_t>(partner.joint_states), 0);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const std::uint32_t weight = problem_.weights.empty() ? 1 : problem_.weights[i];
      counts[codes[i]] += weight;
      class_counts[with_class[i]] += weight;
    }
    for (const std::uint32_t c : counts) partner.sum += log_(c);
    for (const std::uint32_t c : class_counts) partner.class_sum += log_(c);
    partner.codes = Array<std::uint32_t>::copy_of(codes, device_);
    partner.with_class = Array<std::uint32_t>::copy_of(with_class, device_);
    partner.counts = Array<std::uint32_t>::copy_of(counts, device_);
    partner.class_counts = Array<std::uint32_t>::copy_of(class_counts, device_);
    make_rooms((partner.states + partner.joint_states) * (problem_.most_states() + std::int64_t{1}));
  }

  /// Allocates a room of counts for each block that may run at once, or fewer if memory is short.
  void make_rooms(std::int64_t cells) {
    if (cells <= room_) return;
    const std::int64_t wanted = std::int64_t{processors_} * 8;
    const std::int64_t affordable = context_.memory() / 4 / (cells * 4);
    if (affordable < 1)
      throw Error("counting these joint states takes " + std::to_string(cells * 4) +
                  " bytes of GPU memory; bin the features more coarsely, or use --device cpu");
    rooms_ = {};
    room_ = cells;
    room_count_ = std::min(wanted, affordable);
    rooms_ = Array<std::uint32_t>::zeros(room_ * room_count_, device_);
  }

  void send_partners() {
    if (counts_features()) {
      std::vector<std::int32_t> features;
      for (const Partner& partner : partners_) features.push_back(partner.feature);
      device_features_ = Array<std::int32_t>::copy_of(features, device_);
    } else if (counting_ != Counting::ordered) {
      std::vector<gpu::PartnerView> views;
      for (const Partner& p : partners_)
        views.push_back({p.rows.data(), p.rows.size(), p.codes.data(), p.with_class.data(), p.counts.data(),
                         p.class_counts.data(), p.sum, p.class_sum,
                         counting_ == Counting::grouped ? p.counted_states : p.states, p.joint_states});
      device_partners_ = Array<gpu::PartnerView>::copy_of(views, device_);
    }
  }

  // Launches.

  static int count_terms(Terms wanted) { return std::popcount(wanted); }

  void launch_ordered(const gpu::OrderedPairs& pairs, Terms wanted) {
    if (pairs.count == 0) return;
    grow(device_terms_, pairs.count * count_terms(wanted));
    ordered_.launch(pairs, wanted, device_terms_.data(), stream_);
  }

  const std::uint32_t* weights() const { return problem_.weights.empty() ? nullptr : weights_.data(); }

  void launch_sums(std::int64_t count, bool with_class) {
    if (count == 0) return;
    if (counting_ == Counting::tables) {
      launch_tables(count, with_class);
    } else if (counting_ == Counting::popcount) {
      planes_.launch(device_log_.data(), device_features_.data(), device_pairs_.data(), count, with_class,
                     device_sums_.data(), stream_);
    } else if (counting_ == Counting::nonzeros) {
      const gpu::NonzeroView view{offsets_.data(), examples_.data(), nonzeros_.data(),
                                  weights(),       states_.data(),   device_log_.data()};
      gpu::nonzero_pairs<<<blocks_for(count), gpu::nonzero_threads, 0, stream_>>>(
          view, device_partners_.data(), device_pairs_.data(), count, with_class, rooms_.data(), room_,
          device_sums_.data());
    } else {
      require(counting_ == Counting::grouped, "sums without order were asked of a way of counting that has none");
      const gpu::DenseView view{dense_.data(), problem_.rows(), weights(), states_.data(), device_log_.data()};
      gpu::scratch_pairs<<<blocks_for(count), gpu::scratch_threads, 0, stream_>>>(
          view, device_partners_.data(), device_pairs_.data(), count, rooms_.data(), room_, device_sums_.data());
    }
    cuda::check_launch("joint sums");
  }
  unsigned blocks_for(std::int64_t count) const { return static_cast<unsigned>(std::min(count, room_count_)); }

  void launch_tables(std::int64_t count, bool with_class) {
    const std::int64_t states = problem_.most_states();
    const auto bytes = static_cast<int>(states * states * 4 * (with_class ? 2 : 1));
    cuda::check(cudaFuncSetAttribute(gpu::table_pairs, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                "asking for memory on chip");
    const gpu::TableView view{sorted_.data(),       order_.stride, class_begins_.data(), class_ends_.data(),
                              problem_.class_count, weights(),     states_.data(),       device_log_.data()};
    gpu::table_pairs<<<static_cast<unsigned>(count), gpu::table_threads, static_cast<std::size_t>(bytes), stream_>>>(
        view, device_features_.data(), device_pairs_.data(), with_class, device_sums_.data());
  }

  /// The host's cores count from the host's table.
  void ordered_terms_on_host(std::span<const Pair> pairs, Terms wanted, std::span<PairTerms> out) {
    if (helper_ == nullptr) {
      helper_ = make_cpu_ops(context_.with({.device = Device::cpu()}), problem_, Counting::ordered);
      helper_partners_ = 0;
    }
    for (; helper_partners_ < partners_.size(); ++helper_partners_) {
      const Partner& partner = partners_[helper_partners_];
      if (partner.feature >= 0)
        helper_->add_partner(partner.feature);
      else
        helper_->add_partner(partner.merged, static_cast<std::int32_t>(partner.states));
    }
    helper_->ordered_terms(pairs, wanted, out);
  }

  Context context_;
  Problem problem_;
  Counting counting_;
  Device device_;
  int processors_;
  cuda::Stream stream_;
  cuda::Staging staging_in_, staging_out_;
  FixedLog log_;
  std::vector<std::uint32_t> classes_;
  std::vector<std::uint32_t> chosen_;  ///< weights of the rows last chosen
  bool chosen_once_ = false;
  Array<std::int64_t> device_log_;
  Array<std::int32_t> states_;
  Array<std::uint32_t> weights_;
  // tables
  ClassOrder order_;
  Array<std::uint8_t> sorted_;
  Array<std::int64_t> class_begins_, class_ends_;
  Array<std::int32_t> device_features_;
  // grouped
  Array<std::uint16_t> dense_;
  // nonzeros
  Array<std::int64_t> offsets_;
  Array<std::int32_t> examples_;
  Array<std::uint16_t> nonzeros_;
  // grouped and nonzeros
  Array<std::uint32_t> rooms_;
  std::int64_t room_ = 0;
  std::int64_t room_count_ = 0;
  Array<gpu::PartnerView> device_partners_;
  // ordered
  gpu::OrderedDevice ordered_;
  // popcount
  gpu::PlaneDevice planes_;
  // calls
  std::vector<Partner> partners_;
  Array<Pair> device_pairs_;
  Array<JointSums> device_sums_;
  Array<double> device_terms_;
  std::unique_ptr<Ops> helper_;
  std::size_t helper_partners_ = 0;
};

}  // namespace

std::unique_ptr<Ops> make_cuda_ops(const Context& context, const Problem& problem, Counting counting) {
  const cuda::Current current(context.device().index);
  return std::make_unique<CudaOps>(context, problem, counting);
}

}  // namespace sheaf::information

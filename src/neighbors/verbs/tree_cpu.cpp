// Searches of a tree of rows on CPU cores. Compiled without fused operations: the bits are those of exact_cpu.cpp.
#include "neighbors/verbs/tree_cpu.hpp"

#include "core/instruction_sets.hpp"
#include "neighbors/verbs/tree_nodes_cpu.hpp"

namespace sheaf::neighbors {
namespace {

/// The nearest k of the rows that it was given. Short lists are kept in order; longer ones take half as many rows more
/// before those that are not among the nearest are dropped.
class NearestList {
 public:
  void clear(std::int64_t k) {
    k_ = static_cast<std::size_t>(k);
    room_ = k <= most_sorted ? k_ : k_ + k_ / 2;
    full_ = false;
    found_.clear();
    last_ = {std::numeric_limits<double>::infinity(), std::numeric_limits<std::int32_t>::max()};
  }
  bool takes(const Found& one) const { return one < last_; }
  const Found& last() const { return last_; }  // of the nearest k; infinitely far away if there are fewer

  void add(const Found& one) {
    if (room_ == k_) return insert(one);
    found_.push_back(one);
    if (found_.size() == room_ || (!full_ && found_.size() == k_)) drop();
  }
  /// The nearest k in order.
  std::span<const Found> sorted() {
    if (room_ > k_) {
      if (found_.size() > k_) drop();
      std::sort(found_.begin(), found_.end());
    }
    return found_;
  }

 private:
  static constexpr std::int64_t most_sorted = 64;

  void insert(const Found& one) {
    if (found_.size() < k_) found_.push_back(one);
    auto at = found_.size() - 1;
    for (; at > 0 && one < found_[at - 1]; --at) found_[at] = found_[at - 1];
    found_[at] = one;
    if (found_.size() == k_) last_ = found_.back();
  }
  void drop() {
    std::nth_element(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(k_ - 1), found_.end());
    found_.resize(k_);
    last_ = found_.back();
    full_ = true;
  }

  std::size_t k_ = 0, room_ = 0;
  bool full_ = false;
  std::vector<Found> found_;
  Found last_ = {};
};

template <class Metric, int Width, class S>
class TreeSearch final : public NeighborTree {
 public:
  TreeSearch(const Context& context, const RowPair<S>& pair)
      : context_(context), pair_(pair), metric_(pair.distance, pair.columns()), tree_(context, pair) {}

  bool pays(const Allowed& allowed, std::int64_t queries, std::optional<std::int64_t> k, double radius) const override {
    constexpr std::int64_t asked = 32;
    if (queries < asked) return false;
    NearestList list;
    std::vector<Found> found;
    std::int64_t compared = 0;
    for (std::int64_t q = 0; q < asked; ++q) {
      const auto place = q * queries / asked;
      compared += k ? find_nearest(allowed, place, *k, list) : find_within(allowed, place, radius, found);
    }
    return tree_pays(compared, asked, pair_.rows());
  }

  void nearest(const Allowed& allowed, std::int64_t queries, std::int64_t k, std::span<std::int32_t> indices,
               std::span<double> distances) const override {
    for_queries(allowed, queries, NearestList(), [&](std::int64_t place, NearestList& list) {
      find_nearest(allowed, place, k, list);
      auto to = static_cast<std::size_t>(place * k);
      for (const auto& one : list.sorted()) {
        indices[to] = one.row;
        distances[to++] = one.distance;
      }
    });
  }

  void within(const Allowed& allowed, double radius, std::vector<std::vector<Found>>& lists) const override {
    for_queries(allowed, std::ssize(lists), 0, [&](std::int64_t place, int) {
      find_within(allowed, place, radius, lists[static_cast<std::size_t>(place)]);
    });
  }

 private:
  static double limit_of(double distance) { return tree_limit(is_squared<Metric>, distance); }

  std::array<double, Width> query_at(const Allowed& allowed, std::int64_t place) const {
    std::array<double, Width> query{};
    write_row(pair_.from(), allowed.query(place), query.data());
    return query;
  }

  /// Calls take(row and distance, limit), which may lower the limit. Returns the number of rows that were compared.
  template <class Take>
  std::int64_t visit(const Allowed& allowed, std::int64_t place, double limit, const Take& take) const {
    const auto query = query_at(allowed, place);
    return tree_.template visit<Width>(
        metric_, query.data(), limit, [&](std::span<const std::int32_t> rows, const double* sums) {
          for (std::size_t r = 0; r < rows.size(); ++r)
            if (sums[r] <= limit) take(Found{metric_.finish(sums[r], RowTerms{}, RowTerms{}), rows[r]}, limit);
          return limit;
        });
  }

  std::int64_t find_nearest(const Allowed& allowed, std::int64_t place, std::int64_t k, NearestList& list) const {
    list.clear(k);
    return visit(allowed, place, list.last().distance, [&](const Found& one, double& limit) {
      if (!list.takes(one) || !allowed(place, one.row)) return;
      list.add(one);
      limit = limit_of(list.last().distance);
    });
  }

  std::int64_t find_within(const Allowed& allowed, std::int64_t place, double radius, std::vector<Found>& found) const {
    found.clear();
    return visit(allowed, place, limit_of(radius), [&](const Found& one, double& /*limit*/) {
      if (allowed(place, one.row)) found.push_back(one);
    });
  }

  /// The places of the queries in the order of the leaves that they are in.
  std::vector<std::int32_t> order_of(const Allowed& allowed, std::int64_t queries) const {
    std::vector<std::uint64_t> keys(static_cast<std::size_t>(queries));
    parallel_ranges(context_, queries, 1024, [&](Range range) {
      for (auto i = range.begin; i < range.end; ++i) {
        const auto query = query_at(allowed, i);
        const auto leaf = tree_.template leaf_of<Width>(metric_, query.data());
        keys[static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(leaf) << 32 | static_cast<std::uint32_t>(i);
      }
    });
    std::sort(keys.begin(), keys.end());
    std::vector<std::int32_t> order;
    order.reserve(keys.size());
    for (const auto key : keys) order.push_back(static_cast<std::int32_t>(key));
    return order;
  }

  /// Calls work(place, memory of a thread) for all queries, those that are near each other together.
  template <class Memory, class Work>
  void for_queries(const Allowed& allowed, std::int64_t queries, const Memory& memory, const Work& work) const {
    const bool all = pair_.self && allowed.queries == nullptr;
    const auto own = all ? std::vector<std::int32_t>() : order_of(allowed, queries);
    const auto order = all ? tree_.order() : std::span<const std::int32_t>(own);
    Stage stage(context_.progress(), "finding neighbours", queries, context_.stop());
    parallel_ranges(context_, queries, 64, [&](Range range) {
      Memory mine = memory;
      for (auto i = range.begin; i < range.end; ++i) work(order[static_cast<std::size_t>(i)], mine);
      stage.advance(range.end - range.begin);
    });
  }

  Context context_;
  const RowPair<S>& pair_;
  Metric metric_;
  cpu::Tree<S> tree_;
};

}  // namespace

template <class Set, class S>
std::unique_ptr<NeighborTree> make_tree_for(const Context& context, const RowPair<S>& pair) {
  std::unique_ptr<NeighborTree> result;
  with_tree_metric(pair.distance, pair.columns(), [&]<class Metric>(const Metric&) {
    with_tree_width(pair.columns(), [&](auto width) {
      result = std::make_unique<TreeSearch<Metric, decltype(width)::value, S>>(context, pair);
    });
  });
  return result;
}

template std::unique_ptr<NeighborTree> make_tree_for<sets::Compiled>(const Context&, const RowPair<float>&);
template std::unique_ptr<NeighborTree> make_tree_for<sets::Compiled>(const Context&, const RowPair<double>&);

}  // namespace sheaf::neighbors

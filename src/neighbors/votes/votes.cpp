#include "neighbors/votes/votes.hpp"

#include <algorithm>
#include <numeric>

#include <sheaf/error.hpp>

#include "core/parallel.hpp"
#include "data/text/number.hpp"

namespace sheaf::neighbors {
namespace {

/// The sums of one kind of vote over a growing prefix of a list.
class Sums {
 public:
  explicit Sums(const Voters& voters) : voters_(voters), sums_(voters.columns(), 0.0) {}

  void add(std::int32_t row, double vote) {
    const auto at = static_cast<std::size_t>(row);
    if (!voters_.weights.empty()) vote *= static_cast<double>(voters_.weights[at]);
    total_ += vote;
    if (voters_.classes > 0)
      sums_[static_cast<std::size_t>(voters_.labels[at])] += vote;
    else
      sums_[0] += vote * voters_.values[at];
  }
  void write(std::span<double> result) const {
    for (std::size_t c = 0; c < sums_.size(); ++c) result[c] = total_ > 0 ? sums_[c] / total_ : 0;
  }

 private:
  const Voters& voters_;
  std::vector<double> sums_;
  double total_ = 0;
};

/// A vote that does not depend on k: each rule is a prefix of the one before.
template <class VoteOf>
void count_prefixes(const Voters& voters, std::span<const VoteRule> rules, std::span<const std::size_t> order,
                    std::span<const std::int32_t> rows, const VoteOf& vote_of, std::span<double> results) {
  Sums sums(voters);
  std::size_t n = 0;
  const auto columns = voters.columns();
  for (const auto rule : order) {
    for (; n < static_cast<std::size_t>(rules[rule].k); ++n) sums.add(rows[n], vote_of(n));
    sums.write(results.subspan(rule * columns, columns));
  }
}

}  // namespace

void count_votes(const Voters& voters, std::span<const VoteRule> rules, std::span<const std::int32_t> rows,
                 std::span<const double> distances, std::span<double> results) {
  for (const auto vote : {Vote::uniform, Vote::inverse_distance}) {
    std::vector<std::size_t> order;
    for (std::size_t r = 0; r < rules.size(); ++r)
      if (rules[r].vote == vote) order.push_back(r);
    if (order.empty()) continue;
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return rules[a].k < rules[b].k; });
    count_prefixes(
        voters, rules, order, rows,
        [&](std::size_t n) { return vote_of(vote, distances.data(), static_cast<std::int64_t>(n), 0); }, results);
  }
  const auto columns = voters.columns();
  for (std::size_t r = 0; r < rules.size(); ++r) {
    if (rules[r].vote != Vote::gaussian) continue;
    Sums sums(voters);
    for (std::size_t n = 0; n < static_cast<std::size_t>(rules[r].k); ++n)
      sums.add(rows[n], vote_of(Vote::gaussian, distances.data(), static_cast<std::int64_t>(n), rules[r].k));
    sums.write(results.subspan(r * columns, columns));
  }
}

std::vector<std::int32_t> label_order(std::span<const std::string> class_names) {
  std::vector<std::int32_t> order(class_names.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> numbers(class_names.size());
  bool all = true;
  for (std::size_t c = 0; c < numbers.size(); ++c)
    all = all && parse_whole_number(class_names[c], numbers[c]) == NumberStatus::ok;
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    return all ? numbers[i] < numbers[j] : class_names[i] < class_names[j];
  });
  return order;
}

namespace {

Array<double> count_votes_cpu(const Context& context, const Voters& voters, std::span<const VoteRule> rules,
                              const NeighborLists& lists) {
  const auto each = rules.size() * voters.columns();
  Array<double> values(lists.queries * static_cast<std::int64_t>(each));
  parallel_ranges(context, lists.queries, 16, [&](Range range) {
    for (auto i = range.begin; i < range.end; ++i) {
      const auto at = static_cast<std::size_t>(i * lists.k);
      const auto length = static_cast<std::size_t>(lists.k);
      count_votes(voters, rules, std::span(lists.indices).subspan(at, length),
                  std::span(lists.distances).subspan(at, length),
                  values.span().subspan(static_cast<std::size_t>(i) * each, each));
    }
  });
  return values;
}

void choose_classes_cpu(const Context& context, const OrderedChoice& choice, const Decided& decided) {
  const auto models = static_cast<std::int64_t>(decided.z.tasks / choice.columns());
  parallel_ranges(context, std::ssize(decided.rows), 64, [&](Range range) {
    for (auto q = range.begin; q < range.end; ++q) {
      const std::int64_t row = decided.rows[static_cast<std::size_t>(q)];
      for (std::int64_t m = 0; m < models; ++m)
        choice.put(decided.values + (q * models + m) * std::max(choice.classes, 1),
                   decided.z.data + row * decided.z.stride + m * choice.columns(),
                   choice.classes > 0 ? decided.predicted.data + row * decided.predicted.stride + m : nullptr);
    }
  });
}

}  // namespace

Array<double> count_votes(const Context& context, const Voters& voters, std::span<const VoteRule> rules,
                          const NeighborLists& lists) {
  if (context.device().is_cpu()) return count_votes_cpu(context, voters, rules, lists);
#if SHEAF_CUDA
  return count_votes_cuda(context, voters, rules, lists);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

void choose_classes(const Context& context, std::span<const std::int32_t> order, const Decided& decided) {
  if (context.device().is_cpu())
    return choose_classes_cpu(context, {order.data(), static_cast<std::int32_t>(order.size())}, decided);
#if SHEAF_CUDA
  return choose_classes_cuda(context, order, decided);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

}  // namespace sheaf::neighbors

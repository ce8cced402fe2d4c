#include "information/count/ops.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"
#include "core/names.hpp"
#include "queue/units.hpp"

namespace sheaf::information {
namespace {

constexpr std::array<std::pair<Counting, std::string_view>, 7> counting_names{{{Counting::automatic, "auto"},
                                                                               {Counting::ordered, "ordered"},
                                                                               {Counting::tables, "tables"},
                                                                               {Counting::grouped, "grouped"},
                                                                               {Counting::nonzeros, "nonzeros"},
                                                                               {Counting::popcount, "popcount"},
                                                                               {Counting::compared, "compared"}}};

/// Hands out pieces of a list of pairs. A member that is faster comes back sooner.
class Team final : public Ops {
 public:
  explicit Team(std::vector<std::unique_ptr<Ops>> members) : members_(std::move(members)) {}

  Counting counting() const override { return members_.front()->counting(); }
  std::int64_t batch() const override {
    std::int64_t sum = 0;
    for (const auto& member : members_) sum += member->batch();
    return sum;
  }
  void choose_rows(std::span<const std::uint32_t> weights) override {
    for (const auto& member : members_) member->choose_rows(weights);
  }
  std::int32_t add_partner(std::int32_t feature) override {
    std::int32_t number = 0;
    for (const auto& member : members_) number = member->add_partner(feature);
    return number;
  }
  std::int32_t add_partner(std::span<const std::uint32_t> codes, std::int32_t states) override {
    std::int32_t number = 0;
    for (const auto& member : members_) number = member->add_partner(codes, states);
    return number;
  }
  void joint_sums(std::span<const Pair> pairs, bool with_class, std::span<JointSums> out) override {
    share(pairs.size(), [&](Ops& member, std::size_t first, std::size_t count) {
      member.joint_sums(pairs.subspan(first, count), with_class, out.subspan(first, count));
    });
  }
  void ordered_terms(std::span<const Pair> pairs, Terms terms, std::span<PairTerms> out) override {
    share(pairs.size(), [&](Ops& member, std::size_t first, std::size_t count) {
      member.ordered_terms(pairs.subspan(first, count), terms, out.subspan(first, count));
    });
  }

 private:
  /// Every member takes an eighth of its batch's allowance, until none is left.
  template <class Work>
  void share(std::size_t pairs, Work&& work) {
    std::vector<std::int64_t> pieces;
    for (const auto& member : members_) pieces.push_back(std::max<std::int64_t>(member->batch() / 8, 1));
    const auto count = [&](std::size_t m, Range piece) {
      work(*members_[m], static_cast<std::size_t>(piece.begin), static_cast<std::size_t>(piece.end - piece.begin));
      return true;
    };
    queue::run_units(members_.size(), static_cast<std::int64_t>(pairs), count, {.at_once = pieces});
  }

  std::vector<std::unique_ptr<Ops>> members_;
};

}  // namespace

std::span<const double> Ops::column_terms(std::int32_t, Terms) {
  throw InternalError("columns were asked of a device that counts pairs");
}

std::span<const JointSums> Ops::column_sums(std::int32_t, bool) {
  throw InternalError("columns of sums were asked of a device that counts pairs");
}

void Ops::set_resamples(std::span<const std::vector<std::uint32_t>>) {
  throw InternalError("a device that counts one resample at a time was given several");
}

void Ops::resampled_sums(std::span<const Pair>, bool, std::size_t, std::span<JointSums>) {
  throw InternalError("several resamples were asked of a device that counts one at a time");
}

TermColumns::TermColumns(std::span<const double> values, Terms wanted) {
  const auto terms = static_cast<std::size_t>(std::popcount(wanted));
  if (terms == 0) return;
  std::size_t next = 0;
  for (int bit = 0; bit < term_count; ++bit)
    if (((wanted >> bit) & 1) != 0) columns_[bit] = values.data() + values.size() / terms * next++;
}

std::int64_t Problem::total() const {
  if (weights.empty()) return table->rows;
  return std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
}

std::int32_t Problem::most_states() const {
  return table->states.empty() ? 0 : *std::max_element(table->states.begin(), table->states.end());
}

std::string_view name_of(Counting counting) {
  for (const auto& [value, name] : counting_names)
    if (value == counting) return name;
  throw InternalError("a way of counting has no name");
}

Counting parse_counting(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& [value, text] : counting_names) {
    if (text == name) return value;
    known.emplace_back(text);
  }
  fail_unknown("way of counting", name, known);
}

std::unique_ptr<Ops> make_cpu_ops(const Context& context, const Problem& problem, Counting counting) {
  return with_instruction_set([&](auto set) { return make_cpu_ops_for<decltype(set)>(context, problem, counting); });
}

std::unique_ptr<Ops> make_ops(const Context& context, const Problem& problem, Counting counting) {
  if (context.device().is_cpu()) return make_cpu_ops(context, problem, counting);
#if SHEAF_CUDA
  return make_cuda_ops(context, problem, counting);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

std::unique_ptr<Ops> make_team(std::vector<std::unique_ptr<Ops>> members) {
  require(!members.empty(), "a team without members");
  if (members.size() == 1) return std::move(members.front());
  return std::make_unique<Team>(std::move(members));
}

}  // namespace sheaf::information

namespace sheaf {

std::span<const std::string_view> counting_methods() {
  static const auto names = [] {
    std::array<std::string_view, information::counting_names.size()> list{};
    for (std::size_t k = 0; k < list.size(); ++k) list[k] = information::counting_names[k].second;
    return list;
  }();
  return names;
}

}  // namespace sheaf

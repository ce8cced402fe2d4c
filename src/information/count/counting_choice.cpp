// Chooses the counting method for a dataset by the expected time of a pair, from rates measured with bench_selection
// --few.
#include <algorithm>
#include <bit>
#include <variant>

#include "core/fail.hpp"
#include "information/count/columns.hpp"
#include "information/count/compared_sums.hpp"
#include "information/count/ops.hpp"

namespace sheaf::information {
namespace {

/// Two tables of so many counts fit the on-chip memory of one multiprocessor.
constexpr std::int64_t most_table_cells = 28900;
/// States that planes of bits are made for.
constexpr std::int64_t most_plane_states = 16;

/// The cost of one pair, in nanoseconds of one core; on a GPU in any unit.
struct Rates {
  double ordered_row, small_ordered_row;  ///< in FEAST's order; the second by SmallCounter
  double table_row, table_cell;           ///< a cell is visited once for each class
  double plane_vector, plane_cell;        ///< a vector of 128 rows for each joint state; a cell as above
  double grouped_row;
  double nonzero;
  double compared_row, comparison;  ///< the second for each two rows in one state of the partner
};
constexpr Rates cpu_rates{5.5, 1.5, 0.6, 0.47, 0.55, 1.5, 3.4, 8, 0.15, 0.06};
constexpr Rates gpu_rates{1, 1, 1, 0.1, 8, 1, 8, 4, 0, 0};

class Shape {
 public:
  Shape(const Problem& problem, bool on_gpu) : problem_(problem), rates_(on_gpu ? gpu_rates : cpu_rates) {}

  double rows() const { return static_cast<double>(problem_.rows()); }
  double states() const { return problem_.most_states(); }
  double cells() const { return states() * states() * problem_.class_count; }

  /// The data that SmallCounter is for.
  bool is_small() const {
    return dense_bytes(*problem_.table) != nullptr && problem_.class_count == 2 && problem_.rows() < 256;
  }
  double ordered() const { return rows() * (is_small() ? rates_.small_ordered_row : rates_.ordered_row); }
  double tables() const { return rows() * rates_.table_row + cells() * rates_.table_cell; }
  double planes() const {
    const auto most = problem_.weights.empty() ? 1U : std::ranges::max(problem_.weights);
    const double vectors = (rows() / 128 + problem_.class_count) * std::bit_width(most);
    return vectors * (states() - 1) * (states() - 1) * rates_.plane_vector + cells() * rates_.plane_cell;
  }
  /// How many rows share a state of the partner if states are as unequal as those of normal numbers in equal bins.
  double comparisons() const { return rows() * rows() * 0.9 / states(); }
  double compared() const { return rows() * rates_.compared_row + comparisons() * rates_.comparison; }
  double grouped() const { return rows() * rates_.grouped_row; }
  double nonzeros() const {
    const auto stored = static_cast<double>(sparse_codes(*problem_.table)->codes.size());
    return stored / static_cast<double>(problem_.table->features) * rates_.nonzero;
  }

 private:
  const Problem& problem_;
  const Rates& rates_;
};

struct Choice {
  Counting counting;
  double cost;
};

/// The quickest of those that count without order.
Choice choose_unordered(const Problem& problem, const Shape& shape, bool tables_fit, bool planes_fit,
                        bool compared_fit) {
  const bool sparse = sparse_codes(*problem.table) != nullptr;
  Choice best{Counting::grouped, shape.grouped()};
  if (sparse) best = {Counting::nonzeros, shape.nonzeros()};
  if (!sparse && tables_fit && shape.tables() < best.cost) best = {Counting::tables, shape.tables()};
  if (planes_fit && shape.planes() < best.cost) best = {Counting::popcount, shape.planes()};
  if (compared_fit && shape.compared() < best.cost) best = {Counting::compared, shape.compared()};
  return best;
}

void check_asked(const Problem& problem, Counting asked, bool on_gpu, bool merged_partners) {
  const std::int64_t states = problem.most_states();
  if (asked == Counting::nonzeros && sparse_codes(*problem.table) == nullptr)
    fail_usage("counting by nonzeros needs a sparse dataset");
  if (asked == Counting::tables && (merged_partners || states * states > most_table_cells))
    fail_usage("counting by tables takes up to {} joint states, and here are {} for each class", most_table_cells,
               merged_partners ? problem.rows() * states : states * states);
  if (asked == Counting::popcount && (merged_partners || states > most_plane_states))
    fail_usage("counting by popcount takes up to {} states of a feature, and here are {}", most_plane_states,
               merged_partners ? problem.rows() : states);
  if (asked == Counting::compared && on_gpu) fail_usage("counting by compared is for the CPU alone");
  if (asked == Counting::compared && !cpu::ComparedTable::fits(problem))
    fail_usage("counting by compared takes up to {} rows in {} states, and here are {} in {}",
               cpu::ComparedTable::most_examples, cpu::ComparedTable::most_states, problem.rows(), states);
  if (asked == Counting::ordered && on_gpu && problem.rows() > most_ordered_rows_gpu)
    fail_usage("counting by ordered takes up to {} rows on a GPU, and here are {}", most_ordered_rows_gpu,
               problem.rows());
}

}  // namespace

Counting choose_counting(const Problem& problem, Counting asked, bool on_gpu, Demand demand) {
  const bool merged_partners = demand == Demand::merged_partners;
  check_asked(problem, asked, on_gpu, merged_partners);
  if (asked != Counting::automatic) return asked;
  const std::int64_t states = problem.most_states();
  const Shape shape(problem, on_gpu);
  const bool compared_fit = !on_gpu && cpu::ComparedTable::fits(problem);
  const Choice unordered = choose_unordered(problem, shape, !merged_partners && states * states <= most_table_cells,
                                            !merged_partners && states <= most_plane_states, compared_fit);
  const bool sparse = sparse_codes(*problem.table) != nullptr;
  const std::int64_t most_ordered = on_gpu ? most_ordered_rows_gpu : sparse ? 256 : 1024;
  if (problem.rows() > most_ordered) return unordered.counting;
  if (on_gpu) return Counting::ordered;  // all pairs of a partner at once: nothing is quicker there
  // If rows are fewer than states, no two of most pairs share a joint state: scores tie by the hundred, and ties
  // would be counted in order anyway.
  if (demand == Demand::any && shape.rows() < 0.55 * shape.states()) return Counting::ordered;
  constexpr double counted_again = 8;
  const double ordered = demand == Demand::screened && compared_fit ? shape.compared() : shape.ordered();
  return ordered <= unordered.cost * (merged_partners ? counted_again : 1) ? Counting::ordered : unordered.counting;
}

}  // namespace sheaf::information

// The verbs of the information family: counting joint states of a partner (a selected feature, or the merged states of
// all selected), a candidate feature and the class. One object serves one dataset on one device.
//
// joint_sums gives integers, the same bits on every device and in any order of rows. ordered_terms adds in FEAST's
// order: merged states are numbered by the row that shows them first, and every rounding is FEAST's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/solvers/binning.hpp>

#include "information/count/fixed_log.hpp"
#include "information/criteria/criteria.hpp"

namespace sheaf::information {

/// A dataset of states and its classes. `weights`: how often each row counts (a resample); empty: once each.
struct Problem {
  const BinnedTable* table = nullptr;
  std::span<const std::int32_t> classes;
  std::int32_t class_count = 0;
  std::span<const std::uint32_t> weights;

  std::int64_t rows() const { return table->rows; }
  /// Rows counted with their weights.
  std::int64_t total() const;
  /// The largest number of states of any feature.
  std::int32_t most_states() const;
};

/// Sums of c log2 c, in the fixed point of FixedLog, over the counts of joint states.
struct JointSums {
  std::int64_t pair = 0;        ///< of (partner, candidate)
  std::int64_t with_class = 0;  ///< of (partner, candidate, class); 0 if not requested
};

struct Pair {
  std::int32_t partner = 0;    ///< as numbered by add_partner
  std::int32_t candidate = 0;  ///< a feature
};

/// Counting methods. Not every device or dataset allows each.
enum class Counting : std::uint8_t {
  automatic,
  ordered,   ///< every pair in FEAST's order at once: few rows
  tables,    ///< one table of counts for each class, rows sorted by class
  grouped,   ///< counts within each joint state of partner and class: many states or classes
  nonzeros,  ///< sparse datasets: only rows not in the common state
  popcount,  ///< bit planes, one bit for each row and state, joined by AND: few states
  compared,  ///< rows of one state of the partner with each other: few rows, many states; CPU only
};
std::string_view name_of(Counting counting);
Counting parse_counting(std::string_view name);

/// Rows up to which a GPU counts in FEAST's order: it compares all of them with all.
inline constexpr std::int64_t most_ordered_rows_gpu = 128;

class Ops {
 public:
  Ops() = default;
  Ops(const Ops&) = delete;
  Ops& operator=(const Ops&) = delete;
  virtual ~Ops() = default;

  virtual Counting counting() const = 0;
  /// Pairs that are worth one call.
  virtual std::int64_t batch() const = 0;

  /// Sets how often each row counts from now on (empty: once each), and drops the partners.
  virtual void choose_rows(std::span<const std::uint32_t> weights) = 0;
  /// The number of the new partner: 0, 1, 2 ...
  virtual std::int32_t add_partner(std::int32_t feature) = 0;
  /// A partner that is no feature: the state of each row, all less than `states`.
  virtual std::int32_t add_partner(std::span<const std::uint32_t> codes, std::int32_t states) = 0;

  virtual void joint_sums(std::span<const Pair> pairs, bool with_class, std::span<JointSums> out) = 0;
  virtual void ordered_terms(std::span<const Pair> pairs, Terms terms, std::span<PairTerms> out) = 0;

  /// For backends that count in FEAST's order: whether they have joint_sums as well, and it takes less time.
  virtual bool screens() const { return false; }

  /// Whether order-free sums of a partner with every feature cost less than choosing the pairs that matter.
  virtual bool counts_sum_columns() const { return false; }
  /// The sums of the partner and every feature. Valid until the next call.
  virtual std::span<const JointSums> column_sums(std::int32_t partner, bool with_class);

  /// Whether sums of many resamples take one pass.
  virtual bool counts_resamples() const { return false; }
  /// The resamples that resampled_sums counts; each has a weight for every row.
  virtual void set_resamples(std::span<const std::vector<std::uint32_t>> resamples);
  /// out[k * wanted + r]: of pair k in resample first + r, for all from `first` on.
  virtual void resampled_sums(std::span<const Pair> pairs, bool with_class, std::size_t first,
                              std::span<JointSums> out);

  /// Whether a partner with every feature at once costs less than choosing the pairs that matter.
  virtual bool counts_columns() const { return false; }
  /// The wanted terms of the partner and every feature, in FEAST's order, as TermColumns reads them. Valid until the
  /// next call. For those that count columns.
  virtual std::span<const double> column_terms(std::int32_t partner, Terms wanted);
};

/// Terms side by side: [k * count + pair], the k-th of those wanted in the order of their bits.
class TermColumns {
 public:
  TermColumns(std::span<const double> values, Terms wanted);
  PairTerms operator[](std::size_t k) const { return {at(0, k), at(1, k), at(2, k), at(3, k), at(4, k)}; }

 private:
  double at(std::size_t term, std::size_t k) const { return columns_[term] != nullptr ? columns_[term][k] : 0; }
  const double* columns_[term_count] = {};
};

/// Requirements of a criterion on the counting method.
enum class Demand : std::uint8_t {
  any,
  distinct_parts,   ///< parts that hardly ever tie, however few the rows: condred
  screened,         ///< rounding seldom matters: counted quickly first, then in order if it does
  merged_partners,  ///< partners will have as many states as rows: cmi
};

/// The counting method that suits the dataset if `asked` is automatic; one that it does not allow is a UsageError.
Counting choose_counting(const Problem& problem, Counting asked, bool on_gpu, Demand demand);

/// The backend of the context's device. `problem` is kept: what it points to must outlive the object.
std::unique_ptr<Ops> make_ops(const Context& context, const Problem& problem, Counting counting);
/// Several backends that share each list of pairs, every one taking the next piece when it is free.
std::unique_ptr<Ops> make_team(std::vector<std::unique_ptr<Ops>> members);

// The backends, called by make_ops only.
std::unique_ptr<Ops> make_cpu_ops(const Context& context, const Problem& problem, Counting counting);
template <class Set>
std::unique_ptr<Ops> make_cpu_ops_for(const Context& context, const Problem& problem, Counting counting);
std::unique_ptr<Ops> make_cuda_ops(const Context& context, const Problem& problem, Counting counting);

}  // namespace sheaf::information

// The verbs of confidence: all operations on a device once every PSM has a score. One object holds labels, scans,
// masses and files of all PSMs on its device; scores, lists of PSMs and results about them stay there until a level is
// complete.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/rescore.hpp>
#include <sheaf/solvers/array.hpp>

#include "core/host_device.hpp"
#include "rescore/confidence/confidence.hpp"
#include "rescore/training/rows.hpp"

namespace sheaf::rescore {

/// PSMs from the best to the worst, on the device of the verbs.
struct RankedList {
  Array<std::int32_t> rows;
  Array<double> scores;
  Array<std::uint8_t> targets;

  std::int64_t size() const { return rows.size(); }
};

/// Fingerprint of a text: 128 bits that two different texts do not share (by chance once in 10^20 sets of 2^31 texts).
struct Fingerprint {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  SHEAF_HOST_DEVICE friend bool operator==(const Fingerprint& a, const Fingerprint& b) {
    return a.low == b.low && a.high == b.high;
  }
};

/// score becomes (score - zero) / unit.
struct Scale {
  double zero = 0;
  double unit = 1;
};

class ConfidenceOps {
 public:
  ConfidenceOps() = default;
  ConfidenceOps(const ConfidenceOps&) = delete;
  ConfidenceOps& operator=(const ConfidenceOps&) = delete;
  virtual ~ConfidenceOps() = default;

  /// Whether some spectrum has targets and decoys; of spectra in different files only if `with_file`.
  virtual bool has_mixed_spectra(bool with_file) = 0;

  /// Rows in the order of RankOrder: all, or those whose fold is `fold` if there are folds. Arrays are on the device.
  virtual RankedList rank(const Array<double>& scores, const Array<std::uint16_t>& folds, std::uint16_t fold) = 0;
  /// The first of each spectrum (file, scan and mass) in a list.
  virtual RankedList best_of_spectra(const RankedList& list) = 0;
  /// The first of each key in a list; keys are of all rows, on the host.
  virtual RankedList best_of_keys(const RankedList& list, std::span<const Fingerprint> keys) = 0;
  /// The elements of one group in a list; groups are of all rows, on the device.
  virtual RankedList of_group(const RankedList& list, const Array<std::int32_t>& groups, std::int32_t group) = 0;

  /// Same as q_values() and p_values() of confidence.hpp.
  virtual Array<double> q_values(const RankedList& list, const FdrRule& rule) = 0;
  virtual Array<double> p_values(const RankedList& list) = 0;
  /// Same as the functions of pep.hpp. `q`: the list's q-values under `rule`. `mixed`: mix-max was used.
  virtual Array<double> peps(PepMethod method, const RankedList& list, const Array<double>& q, const FdrRule& rule,
                             bool mixed) = 0;

  /// Targets among the first `count` of a list.
  virtual std::int64_t count_targets(const RankedList& list, std::int64_t count) = 0;
  /// Scores of some decoys of a list; 0: the best decoy.
  virtual std::vector<double> decoy_scores(const RankedList& list, std::span<const std::int64_t> decoys) = 0;
  /// Values at some places.
  virtual std::vector<double> values_at(const Array<double>& values, std::span<const std::int64_t> places) = 0;
  /// How many of ascending values are below each limit.
  virtual std::vector<std::int64_t> count_below(const Array<double>& ascending, std::span<const double> limits) = 0;
  /// Every score by the scale of its fold; without folds by the first.
  virtual void rescale(Array<double>& scores, const Array<std::uint16_t>& folds, std::span<const Scale> scales) = 0;
};

/// The rows must outlive the verbs.
std::unique_ptr<ConfidenceOps> make_confidence_ops(const Context& context, const TrainingRows& rows);

// The backends, for make_confidence_ops alone.
std::unique_ptr<ConfidenceOps> make_cpu_confidence_ops(const Context& context, const TrainingRows& rows);
std::unique_ptr<ConfidenceOps> make_cuda_confidence_ops(const Context& context, const TrainingRows& rows);

/// Hash of a spectrum's scan, mass and file, which selects its bucket. Different spectra may share a hash.
SHEAF_HOST_DEVICE inline std::uint64_t spectrum_hash(std::int32_t scan, std::uint64_t mass_bits, std::int32_t file) {
  std::uint64_t hash = static_cast<std::uint64_t>(static_cast<std::uint32_t>(scan)) << 32U |
                       static_cast<std::uint64_t>(static_cast<std::uint32_t>(file));
  hash = (hash ^ (hash >> 30U)) * 0xBF58476D1CE4E5B9U;  // the finaliser of splitmix64
  hash = (hash ^ (hash >> 27U) ^ mass_bits) * 0x94D049BB133111EBU;
  hash = (hash ^ (hash >> 30U)) * 0xBF58476D1CE4E5B9U;
  return hash ^ (hash >> 31U);
}

}  // namespace sheaf::rescore

// Mass-to-charge ratios and retention times of PSMs, from columns whose units PIN files do not say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/rescore.hpp>

namespace sheaf::rescore {

/// The content of a column of masses. Search engines differ: Comet writes neutral masses, others [M+H]+ or m/z.
enum class MassUnit : std::uint8_t { unknown, neutral, protonated, mass_to_charge };

/// The unit in which most of the values agree with the masses of their peptides. Known only if a tenth of them or more
/// agree, and half of these with that unit. `tolerance`: how far a value may be from the mass, below 0.5.
class MassVotes {
 public:
  explicit MassVotes(double tolerance) : tolerance_(tolerance) {}
  void add(double value, double peptide_mass, std::int32_t charge);
  MassUnit unit() const;

 private:
  double tolerance_;
  std::int64_t values_ = 0, agreeing_ = 0;
  std::int64_t neutral_ = 0, protonated_ = 0, mass_to_charge_ = 0;
};

double to_mass_to_charge(double value, MassUnit unit, std::int32_t charge);

/// Numbers about the spectra of a result in the units of mzTab; none if the files do not have them, or their unit
/// is not known.
class Precursors {
 public:
  explicit Precursors(const RescoreResult& result);

  std::optional<double> measured(const PsmView& psm) const;    ///< m/z
  std::optional<double> calculated(const PsmView& psm) const;  ///< m/z
  std::optional<double> seconds(const PsmView& psm) const;     ///< retention time
  /// How columns without units were read: "ExpMass read as [M+H]+" ...
  std::vector<std::string> readings() const;

 private:
  MassUnit measured_ = MassUnit::unknown, calculated_ = MassUnit::unknown;
  double time_factor_ = 0;  ///< 0: no times without units
};

}  // namespace sheaf::rescore

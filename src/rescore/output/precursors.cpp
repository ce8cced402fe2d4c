#include "rescore/output/precursors.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "rescore/input/other_formats.hpp"
#include "rescore/input/psms.hpp"
#include "rescore/output/peptide_text.hpp"

namespace sheaf::rescore {
namespace {

constexpr std::size_t most_asked = 10'000;     // PSMs whose masses are compared
constexpr double measured_tolerance = 0.3;     // Da: units differ by a proton at least
constexpr double calculated_tolerance = 0.02;  // Da: digits that engines round away
constexpr double longest_minutes = 300;        // of a run; larger times are seconds
constexpr double seconds_a_minute = 60;

std::string_view unit_text(MassUnit unit) {
  return unit == MassUnit::neutral ? "neutral masses" : unit == MassUnit::protonated ? "[M+H]+" : "m/z";
}

}  // namespace

void MassVotes::add(double value, double peptide_mass, std::int32_t charge) {
  ++values_;
  const double z = charge;
  const bool neutral = std::abs(value - peptide_mass) <= tolerance_;
  const bool protonated = std::abs(value - peptide_mass - proton_mass) <= tolerance_;
  const bool mass_to_charge = std::abs(value - peptide_mass / z - proton_mass) <= tolerance_;
  agreeing_ += neutral || protonated || mass_to_charge ? 1 : 0;
  neutral_ += neutral ? 1 : 0;
  protonated_ += protonated ? 1 : 0;
  mass_to_charge_ += mass_to_charge ? 1 : 0;
}

MassUnit MassVotes::unit() const {
  constexpr std::int64_t least_share = 10;
  const auto most = std::max({neutral_, protonated_, mass_to_charge_});
  if (agreeing_ == 0 || agreeing_ * least_share < values_ || most * 2 < agreeing_) return MassUnit::unknown;
  // Charges of 1 agree with both of the others.
  if (most == neutral_) return MassUnit::neutral;
  return most == protonated_ ? MassUnit::protonated : MassUnit::mass_to_charge;
}

double to_mass_to_charge(double value, MassUnit unit, std::int32_t charge) {
  if (unit == MassUnit::mass_to_charge) return value;
  const double neutral = unit == MassUnit::protonated ? value - proton_mass : value;
  return neutral / charge + proton_mass;
}

Precursors::Precursors(const RescoreResult& result) {
  MassVotes measured(measured_tolerance), calculated(calculated_tolerance);
  double longest = 0;
  std::size_t asked = 0;
  for (const auto row : result.psms.rows) {
    const auto psm = result.text(row);
    if (psm.has_units) continue;
    longest = std::max(longest, optional_number(psm.time).value_or(0));
    if (psm.charge <= 0 || asked == most_asked) continue;
    const auto mass = monoisotopic_mass(take_apart(psm.peptide));
    if (!mass) continue;
    ++asked;
    if (psm.mass != 0) measured.add(psm.mass, *mass, psm.charge);
    if (const auto value = optional_number(psm.calculated_mass)) calculated.add(*value, *mass, psm.charge);
  }
  measured_ = measured.unit();
  calculated_ = calculated.unit();
  if (longest > 0) time_factor_ = longest > longest_minutes ? 1 : seconds_a_minute;
}

std::optional<double> Precursors::measured(const PsmView& psm) const {
  const auto unit = psm.has_units ? MassUnit::neutral : measured_;
  if (psm.mass == 0 || psm.charge <= 0 || unit == MassUnit::unknown) return std::nullopt;
  return to_mass_to_charge(psm.mass, unit, psm.charge);
}

std::optional<double> Precursors::calculated(const PsmView& psm) const {
  const auto unit = psm.has_units ? MassUnit::neutral : calculated_;
  const auto value = optional_number(psm.calculated_mass);
  if (!value || psm.charge <= 0 || unit == MassUnit::unknown) return std::nullopt;
  return to_mass_to_charge(*value, unit, psm.charge);
}

std::optional<double> Precursors::seconds(const PsmView& psm) const {
  const auto value = optional_number(psm.time);
  if (!value || psm.has_units) return value;
  return time_factor_ == 0 ? std::nullopt : std::optional(*value * time_factor_);
}

std::vector<std::string> Precursors::readings() const {
  std::vector<std::string> texts;
  if (measured_ != MassUnit::unknown) texts.push_back(fmt::format("ExpMass read as {}", unit_text(measured_)));
  if (calculated_ != MassUnit::unknown) texts.push_back(fmt::format("CalcMass read as {}", unit_text(calculated_)));
  if (time_factor_ != 0)
    texts.push_back(fmt::format("retention times read as {}", time_factor_ == 1 ? "seconds" : "minutes"));
  return texts;
}

}  // namespace sheaf::rescore

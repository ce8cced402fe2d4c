// pepXML, as search engines and the Trans-Proteomic Pipeline write it: msms_run_summary / spectrum_query /
// search_result / search_hit / search_score. Scores that search_score names are features.
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "data/xml/xml.hpp"
#include "rescore/input/other_formats.hpp"

namespace sheaf::rescore {
namespace {

class PepXml {
 public:
  PepXml(const Reading& reading, const PinOptions& options) : reading_(reading), options_(options) {}

  std::string read() {
    read_xml(reading_,
             {[this](std::string_view element, const Attributes& a, const char* at) { begin(element, a, at); },
              [this](std::string_view element, const char* at) { end(element, at); }});
    return pin_.text(reading_);
  }

 private:
  std::int64_t scan(const Attributes& a, const char* at) const {
    const double value = number_of(reading_, a, "start_scan", at);
    if (!(std::abs(value) <= std::numeric_limits<std::int32_t>::max()))
      fail_at(reading_, at,
              fmt::format("a scan number expected in the attribute start_scan; {} does not fit 32 bits",
                          shown(a["start_scan"])));
    return static_cast<std::int64_t>(value);
  }

  void begin(std::string_view element, const Attributes& a, const char* at) {
    if (element == "msms_run_summary") file_ = a["base_name"];
    if (element == "spectrum_query") {
      spectrum_ = a["spectrum"];
      scan_ = scan(a, at);
      mass_ = number_of(reading_, a, "precursor_neutral_mass", at);
      charge_ = a["assumed_charge"];
      seconds_ = optional_number(a["retention_time_sec"]);
    }
    if (element == "search_hit") begin_hit(a, at);
    if (element == "alternative_protein" && in_hit_) psm_.proteins.emplace_back(a["protein"]);
    if (element == "modification_info" && in_hit_ && !a["modified_peptide"].empty()) peptide_ = a["modified_peptide"];
    if (element == "search_score" && in_hit_) pin_.add_feature(psm_, a["name"], a["value"]);
  }

  void begin_hit(const Attributes& a, const char* at) {
    in_hit_ = true;
    psm_ = {};
    psm_.id = fmt::format("{}_{}", spectrum_, a["hit_rank"]);
    psm_.file = file_;
    psm_.scan = scan_;
    psm_.mass = mass_;
    psm_.calculated_mass = optional_number(a["calc_neutral_pep_mass"]);
    psm_.seconds = seconds_;
    peptide_ = a["peptide"];
    before_ = a["peptide_prev_aa"];
    after_ = a["peptide_next_aa"];
    if (!a["protein"].empty()) psm_.proteins.emplace_back(a["protein"]);
    pin_.add_feature(psm_, "Mass", mass_);
    pin_.add_feature(psm_, "PepLen", static_cast<double>(peptide_.size()));
    if (!charge_.empty()) pin_.add_feature(psm_, "Charge" + charge_, 1);
    for (const char* name : {"num_tol_term", "num_missed_cleavages", "num_matched_ions", "tot_num_ions", "hit_rank"})
      pin_.add_feature(psm_, name, a[name]);
    const double difference = a["massdiff"].empty() ? 0 : number_of(reading_, a, "massdiff", at);
    pin_.add_feature(psm_, "dM", difference);
    pin_.add_feature(psm_, "absdM", std::abs(difference));
  }

  void end(std::string_view element, const char* at) {
    if (element != "search_hit" || !in_hit_) return;
    in_hit_ = false;
    if (!peptide_.empty())
      psm_.peptide = fmt::format("{}.{}.{}", before_.empty() ? "-" : before_, peptide_, after_.empty() ? "-" : after_);
    psm_.target = false;
    for (const auto& protein : psm_.proteins) psm_.target |= !is_decoy_name(protein, options_.decoy_prefix);
    pin_.add(reading_, at, std::move(psm_));
  }

  const Reading& reading_;
  const PinOptions& options_;
  PinText pin_;
  std::string file_, spectrum_, charge_, peptide_, before_, after_;
  std::int64_t scan_ = 0;
  double mass_ = 0;
  std::optional<double> seconds_;
  bool in_hit_ = false;
  PinText::Psm psm_;
};

}  // namespace

std::string pepxml_as_pin(const Reading& reading, const PinOptions& options) { return PepXml(reading, options).read(); }

}  // namespace sheaf::rescore

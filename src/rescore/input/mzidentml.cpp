// mzIdentML 1.1 and 1.2 (Jones and others 2012): SpectrumIdentificationResult / SpectrumIdentificationItem with its
// PeptideEvidenceRef, cvParam and userParam; the latter two are features if their values are numbers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "data/xml/xml.hpp"
#include "rescore/input/other_formats.hpp"

namespace sheaf::rescore {
namespace {

struct Peptide {
  std::string sequence;
  std::vector<std::pair<std::size_t, std::string>> modifications;  // behind so many residues; masses

  /// Modifications behind the last residue and beyond are left out.
  std::string text() const {
    auto ordered = modifications;
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string result;
    auto next = ordered.begin();
    for (std::size_t i = 0; i <= sequence.size(); ++i) {
      if (i > 0) result += sequence[i - 1];
      for (; next != ordered.end() && next->first == i; ++next) result += fmt::format("[{}]", next->second);
    }
    return result;
  }
};

struct Evidence {
  std::string peptide, protein, before, after;
  bool decoy = false;
};

class MzIdentMl {
 public:
  MzIdentMl(const Reading& reading, const PinOptions& options) : reading_(reading), options_(options) {}

  std::string read() {
    read_xml(reading_,
             {[this](std::string_view element, const Attributes& a, const char* at) { begin(element, a, at); },
              [this](std::string_view element, const char* at) { end(element, at); }});
    return pin_.text(reading_);
  }

 private:
  /// Place of a modification in the peptide: 0 is before the first residue.
  std::size_t place(const Attributes& a, const char* at) const {
    const double value = number_of(reading_, a, "location", at);
    if (!(value >= 0 && value <= 1e9) || value != std::floor(value))
      fail_at(reading_, at,
              fmt::format("a place in the peptide expected in the attribute location, found {}", shown(a["location"])));
    return static_cast<std::size_t>(value);
  }

  template <class Value>
  const Value& find(const std::unordered_map<std::string, Value>& known, std::string_view id, const char* what,
                    const char* at) const {
    const auto found = known.find(std::string(id));
    if (found == known.end()) fail_at(reading_, at, fmt::format("there is no {} {}", what, shown(id)));
    return found->second;
  }

  void begin(std::string_view element, const Attributes& a, const char* at) {
    if (element == "DBSequence") proteins_[std::string(a["id"])] = a["accession"];
    if (element == "SpectraData") files_[std::string(a["id"])] = a["location"];
    if (element == "Peptide") peptide_ = &(peptides_[std::string(a["id"])] = {});
    if (element == "PeptideSequence") in_sequence_ = true;
    if (element == "Modification" && peptide_ != nullptr && !a["monoisotopicMassDelta"].empty())
      peptide_->modifications.emplace_back(place(a, at), a["monoisotopicMassDelta"]);
    if (element == "PeptideEvidence")
      evidence_[std::string(a["id"])] = {std::string(a["peptide_ref"]),
                                         find(proteins_, a["dBSequence_ref"], "DBSequence", at), std::string(a["pre"]),
                                         std::string(a["post"]), a["isDecoy"] == "true" || a["isDecoy"] == "1"};
    if (element == "SpectrumIdentificationResult") begin_spectrum(a);
    if (element == "SpectrumIdentificationItem") begin_item(a, at);
    if (element == "PeptideEvidenceRef" && in_item_) add_evidence(a, at);
    if ((element == "cvParam" || element == "userParam") && in_item_) pin_.add_feature(psm_, a["name"], a["value"]);
    if (element == "cvParam" && !in_item_) take_time(a);
  }

  /// The retention time of a spectrum stands behind its items.
  void take_time(const Attributes& a) {
    if (a["accession"] != "MS:1000894" && a["accession"] != "MS:1000016") return;  // retention time, scan start time
    constexpr std::string_view minute = "UO:0000031";
    constexpr double seconds_a_minute = 60;
    if (const auto value = optional_number(a["value"]))
      pin_.set_seconds(first_of_spectrum_, a["unitAccession"] == minute ? *value * seconds_a_minute : *value);
  }

  void begin_spectrum(const Attributes& a) {
    first_of_spectrum_ = pin_.size();
    spectrum_ = a["spectrumID"];
    const auto found = files_.find(std::string(a["spectraData_ref"]));
    file_ = found == files_.end() ? std::string(a["spectraData_ref"]) : found->second;
    // "... scan=123", "index=5", "123": the last number.
    std::size_t end = spectrum_.size();
    while (end > 0 && (spectrum_[end - 1] < '0' || spectrum_[end - 1] > '9')) --end;
    std::size_t begin = end;
    while (begin > 0 && spectrum_[begin - 1] >= '0' && spectrum_[begin - 1] <= '9') --begin;
    const auto scan = spectrum_.find("scan=");
    if (scan != std::string::npos) begin = scan + 5;
    scan_ = ++spectra_;
    std::from_chars(spectrum_.data() + begin, spectrum_.data() + spectrum_.size(), scan_);
  }

  void begin_item(const Attributes& a, const char* at) {
    in_item_ = true;
    has_target_ = false;
    psm_ = {};
    psm_.id = fmt::format("{}_{}", spectrum_, a["rank"].empty() ? a["id"] : a["rank"]);
    psm_.file = file_;
    psm_.scan = scan_;
    const double charge = number_of(reading_, a, "chargeState", at);
    psm_.mass = (number_of(reading_, a, "experimentalMassToCharge", at) - proton_mass) * charge;
    pin_.add_feature(psm_, "Mass", psm_.mass);
    pin_.add_feature(psm_, fmt::format("Charge{}", charge), 1);
    if (a["calculatedMassToCharge"].empty()) return;
    psm_.calculated_mass = (number_of(reading_, a, "calculatedMassToCharge", at) - proton_mass) * charge;
    const double difference = psm_.mass - *psm_.calculated_mass;
    pin_.add_feature(psm_, "dM", difference);
    pin_.add_feature(psm_, "absdM", std::abs(difference));
  }

  void add_evidence(const Attributes& a, const char* at) {
    const Evidence& evidence = find(evidence_, a["peptideEvidence_ref"], "PeptideEvidence", at);
    if (psm_.proteins.empty()) {
      const Peptide& peptide = find(peptides_, evidence.peptide, "Peptide", at);
      psm_.peptide = fmt::format("{}.{}.{}", evidence.before.empty() ? "-" : evidence.before, peptide.text(),
                                 evidence.after.empty() ? "-" : evidence.after);
      pin_.add_feature(psm_, "PepLen", static_cast<double>(peptide.sequence.size()));
    }
    psm_.proteins.push_back(evidence.protein);
    const bool decoy =
        options_.decoy_prefix.empty() ? evidence.decoy : is_decoy_name(evidence.protein, options_.decoy_prefix);
    has_target_ |= !decoy;
  }

  void end(std::string_view element, const char* at) {
    if (element == "Peptide") peptide_ = nullptr;
    if (element == "PeptideSequence") take_sequence(at);
    if (element != "SpectrumIdentificationItem" || !in_item_) return;
    in_item_ = false;
    psm_.target = has_target_;
    pin_.add(reading_, at, std::move(psm_));
  }

  /// The text between the tags; `at`: the closing one.
  void take_sequence(const char* at) {
    if (!in_sequence_ || peptide_ == nullptr) return;
    in_sequence_ = false;
    const std::string_view before(reading_.text.data(), static_cast<std::size_t>(at - reading_.text.data()));
    for (const char c : before.substr(before.rfind('>') + 1))
      if (c >= 'A' && c <= 'Z') peptide_->sequence += c;
  }

  const Reading& reading_;
  const PinOptions& options_;
  PinText pin_;
  std::unordered_map<std::string, std::string> proteins_, files_;
  std::unordered_map<std::string, Peptide> peptides_;
  std::unordered_map<std::string, Evidence> evidence_;
  Peptide* peptide_ = nullptr;
  std::string spectrum_, file_;
  std::int64_t scan_ = 0, spectra_ = 0;
  std::size_t first_of_spectrum_ = 0;  // PSM
  bool in_sequence_ = false, in_item_ = false, has_target_ = false;
  PinText::Psm psm_;
};

}  // namespace

std::string mzidentml_as_pin(const Reading& reading, const PinOptions& options) {
  return MzIdentMl(reading, options).read();
}

}  // namespace sheaf::rescore

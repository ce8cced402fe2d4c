#include "rescore/input/other_formats.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/formats/formats.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace rescore {
namespace {

constexpr std::array usual_prefixes{"DECOY_", "decoy_", "rev_", "REV_", "XXX_", "Random_", "##"};
constexpr std::array pin_columns{"specid",        "psmid",   "label",    "scannr",    "expmass",
                                 "calcmass",      "rt",      "ret_time", "filename",  "spectrafile",
                                 "retentiontime", "peptide", "proteins", "proteinids"};

bool ends_with(std::string name, std::string_view ending) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view packed : {".gz", ".xz", ".zst"})
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  return name.ends_with(ending);
}

/// Tabs and ends of lines have a meaning of their own in PIN files.
std::string as_field(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

/// Empty: not known.
std::string number_field(std::optional<double> value) { return value ? fmt::format("{}", *value) : std::string(); }

bool begins_with_element(const Reading& reading, std::string_view element) {
  const std::string_view start = reading.text.substr(0, 4096);
  return start.starts_with("<") && start.find(element) != std::string_view::npos;
}

struct Row {
  Format format;
  bool (*claims)(const Reading& reading);  ///< nullptr: takes files that no other format claims
  std::string (*as_pin)(const Reading& reading, const PinOptions& options);
};
constexpr std::array table{
    Row{{"csv", "csv", "a PIN file whose fields are apart by commas", false},
        [](const Reading& reading) { return ends_with(std::string(reading.name), ".csv"); },
        csv_as_pin},
    Row{{"pepxml", "pepXML pepxml pep.xml", "results of a search engine as pepXML", false},
        [](const Reading& reading) { return begins_with_element(reading, "<msms_pipeline_analysis"); },
        pepxml_as_pin},
    Row{{"mzidentml", "mzid", "results of a search engine as mzIdentML", false},
        [](const Reading& reading) { return begins_with_element(reading, "<MzIdentML"); },
        mzidentml_as_pin},
    Row{{"pin", "pin", "Percolator's input, fields apart by tabs", false}, nullptr, nullptr},
};
constexpr auto public_table = public_part(table);

}  // namespace

std::optional<std::string> as_pin(const Reading& reading, const PinOptions& options) {
  for (const Row& row : table)
    if (row.claims != nullptr && row.claims(reading)) return row.as_pin(reading, options);
  return std::nullopt;
}

std::string csv_as_pin(const Reading& reading, const PinOptions& /*options*/) {
  std::string text;
  text.reserve(reading.text.size());
  bool quoted = false;
  for (const char* at = reading.text.data(); at < reading.limit(); ++at) {
    const char c = *at;
    if (c == '"') {
      const bool doubled = quoted && at + 1 < reading.limit() && at[1] == '"';
      if (doubled) text += *++at;
      if (!doubled) quoted = !quoted;
    } else if (c == '\t' || (quoted && c == '\n')) {
      fail_at(reading, at, c == '\t' ? "a tab in a comma-separated table" : "a quoted field goes on in another line");
    } else {
      text += c == ',' && !quoted ? '\t' : c;
    }
  }
  return text;
}

bool is_decoy_name(std::string_view protein, const std::string& prefix) {
  if (!prefix.empty()) return protein.starts_with(prefix);
  return std::any_of(usual_prefixes.begin(), usual_prefixes.end(),
                     [&](const char* usual) { return protein.starts_with(usual); });
}

std::optional<double> optional_number(std::string_view text) {
  double value = 0;
  if (parse_whole_number(text, value) != NumberStatus::ok) return std::nullopt;
  return value;
}

double number_of(const Reading& reading, const Attributes& attributes, std::string_view name, const char* at) {
  const auto text = attributes[name];
  double value = 0;
  if (parse_whole_number(text, value) != NumberStatus::ok)
    fail_at(reading, at, fmt::format("a number expected in the attribute {}, found {}", name, shown(text)));
  return value;
}

void PinText::add_feature(Psm& psm, std::string_view name, std::string_view value) {
  if (const auto number = optional_number(value)) add_feature(psm, name, *number);
}

void PinText::add_feature(Psm& psm, std::string_view name, double value) {
  std::string known = as_field(std::string(name));
  std::string lower = known;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (std::find(pin_columns.begin(), pin_columns.end(), lower) != pin_columns.end()) known += "_score";
  const auto [found, fresh] = places_.try_emplace(known, names_.size());
  if (fresh) names_.push_back(std::move(known));
  psm.features.emplace_back(found->second, value);
}

void PinText::add(const Reading& reading, const char* at, Psm psm) {
  if (psm.peptide.empty()) fail_at(reading, at, fmt::format("the match {} has no peptide", shown(psm.id)));
  if (psm.proteins.empty()) fail_at(reading, at, fmt::format("the match {} has no protein", shown(psm.id)));
  text_bytes_ += static_cast<std::int64_t>(psm.id.size() + psm.file.size() + psm.peptide.size());
  for (const auto& protein : psm.proteins) text_bytes_ += static_cast<std::int64_t>(protein.size());
  // Twice, as PSMs and as lines, whose fields are a tab and a digit at least.
  const double bytes = 2.0 * static_cast<double>(text_bytes_) +
                       static_cast<double>(psms_.size() + 1) * (sizeof(Psm) + 2.0 * static_cast<double>(names_.size()));
  const auto budget = cpu_budget(reading.context);
  if (bytes > static_cast<double>(budget))
    fail_at(reading, at,
            fmt::format("{} with {} features are more than {} of memory hold; allow more (--memory), or split the file",
                        counted(psms_.size() + 1, "match"), names_.size(), format_bytes(budget)));
  has_decoys_ |= !psm.target;
  psms_.push_back(std::move(psm));
}

void PinText::set_seconds(std::size_t first, double seconds) {
  for (std::size_t k = first; k < psms_.size(); ++k) psms_[k].seconds = seconds;
}

std::string PinText::text(const Reading& reading) const {
  if (psms_.empty()) fail_at(reading, reading.limit(), "the file ends without a match of a spectrum and a peptide");
  if (!has_decoys_)
    fail_at(reading, reading.limit(),
            "no match is of a decoy: name what decoy proteins begin with (--decoy-prefix), or search decoys too");
  std::string text = "SpecId\tLabel\tScanNr\tExpMass\tCalcMass\tretentiontime\tfilename";
  for (const auto& name : names_) {
    text += '\t';
    text += name;
  }
  text += "\tPeptide\tProteins\n";
  std::vector<double> values(names_.size());
  for (const Psm& psm : psms_) {
    std::fill(values.begin(), values.end(), 0.0);
    for (const auto& [place, value] : psm.features) values[place] = value;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "{}\t{}\t{}\t{}\t{}\t{}\t{}", as_field(psm.id), psm.target ? 1 : -1, psm.scan, psm.mass,
                   number_field(psm.calculated_mass), number_field(psm.seconds), as_field(psm.file));
    for (const double value : values) fmt::format_to(out, "\t{}", value);
    fmt::format_to(out, "\t{}", as_field(psm.peptide));
    for (const auto& protein : psm.proteins) fmt::format_to(out, "\t{}", as_field(protein));
    text += '\n';
  }
  return text;
}

}  // namespace rescore

std::span<const Format> match_formats() { return rescore::public_table; }

}  // namespace sheaf

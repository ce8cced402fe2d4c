// Results as mzTab 1.0 (Griss and others 2014), mode Summary, type Identification: metadata, proteins, PSMs. A cell
// without content is "null". A PSM of several proteins has a line for each of them, with the same PSM_ID.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>

#include <fmt/format.h>

#include <sheaf/rescore.hpp>
#include <sheaf/version.hpp>

#include "data/bytes/sink.hpp"
#include "rescore/output/peptide_text.hpp"
#include "rescore/output/precursors.hpp"

namespace sheaf {
namespace {

using rescore::take_apart;

constexpr std::string_view none = "null";
constexpr std::string_view engine = "[MS, MS:1001490, percolator, ]";
constexpr std::array score_terms{"[MS, MS:1001492, percolator:score, ]", "[MS, MS:1001491, percolator:Q value, ]",
                                 "[MS, MS:1001493, percolator:PEP, ]"};

/// A cell: line ends and tabs would be another one, and an empty cell is not allowed.
std::string cell(std::string_view text) {
  std::string result(text.empty() ? none : text);
  for (char& c : result)
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  return result;
}

/// A number with six digits behind the point, as masses have in mzTab.
std::string mass_cell(std::optional<double> value) { return value ? fmt::format("{:.6f}", *value) : std::string(none); }
std::string time_cell(std::optional<double> seconds) {
  return seconds ? fmt::format("{:.10g}", *seconds) : std::string(none);
}

std::vector<std::string_view> proteins_of(std::string_view text, const std::string& separator) {
  std::vector<std::string_view> proteins;
  if (separator != "\t") text = text.substr(0, text.find('\t'));
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    if (end > 0) proteins.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  if (proteins.empty()) proteins.push_back(none);
  return proteins;
}

class MzTab {
 public:
  MzTab(const RescoreResult& result, const RescoreOptions& options, bool decoys, Sink& sink)
      : result_(result), options_(options), decoys_(decoys), sink_(sink), precursors_(result) {}

  void write() {
    metadata();
    if (!result_.proteins.empty()) proteins();
    psms();
    flush();
  }

 private:
  void line(std::string_view key, std::string_view value) { text_ += fmt::format("MTD\t{}\t{}\n", key, value); }

  void scores_of(std::string_view section) {
    for (std::size_t k = 0; k < score_terms.size(); ++k)
      line(fmt::format("{}_search_engine_score[{}]", section, k + 1), score_terms[k]);
  }

  void metadata() {
    line("mzTab-version", "1.0.0");
    line("mzTab-mode", "Summary");
    line("mzTab-type", "Identification");
    line("description", "Peptide-spectrum matches rescored by targets and decoys");
    line("software[1]", fmt::format("[, , Sheaf, {}]", SHEAF_VERSION));
    line("software[1]-setting[1]", fmt::format("test FDR = {:g}", options_.test_fdr));
    line("software[1]-setting[2]", fmt::format("seed = {}", options_.seed));
    int setting = 2;
    for (const auto& text : precursors_.readings()) line(fmt::format("software[1]-setting[{}]", ++setting), text);
    if (!result_.proteins.empty()) scores_of("protein");
    scores_of("psm");
    line("fixed_mod[1]", "[MS, MS:1002453, No fixed modifications searched, ]");
    std::size_t found = 0;
    for (const auto& accession : modifications())
      line(fmt::format("variable_mod[{}]", ++found),
           fmt::format("[{}, {}, {}, ]", accession.substr(0, accession.find(':')), accession, accession));
    if (found == 0) line("variable_mod[1]", "[MS, MS:1002454, No variable modifications searched, ]");
    const auto runs = std::max<std::size_t>(1, result_.file_names.size());
    for (std::size_t k = 0; k < runs; ++k) {
      line(fmt::format("ms_run[{}]-location", k + 1),
           result_.file_names.empty() ? std::string(none) : location(result_.file_names[k]));
      line(fmt::format("ms_run[{}]-id_format", k + 1), "[MS, MS:1000776, scan number only nativeID format, ]");
    }
    text_ += '\n';
  }

  /// The different modifications of all PSMs. Which of them were fixed in the search is not known.
  std::set<std::string> modifications() const {
    std::set<std::string> found;
    for (const auto row : result_.psms.rows) {
      if (!result_.is_target(row) && !decoys_) continue;
      for (const auto& one : take_apart(result_.text(row).peptide).modifications)
        found.insert(one.substr(one.find('-') + 1));
    }
    return found;
  }

  /// A URI; characters that it may not hold are escaped.
  static std::string location(const std::string& name) {
    std::string uri = name.find("://") == std::string::npos ? "file://" : "";
    constexpr std::string_view allowed = "-._~/:?#[]@!$&'()*+,;=%";
    for (const char c : name)
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || allowed.find(c) != std::string_view::npos)
        uri += c;
      else
        uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    return uri;
  }

  void proteins() {
    text_ +=
        "PRH\taccession\tdescription\ttaxid\tspecies\tdatabase\tdatabase_version\tsearch_engine\t"
        "best_search_engine_score[1]\tbest_search_engine_score[2]\tbest_search_engine_score[3]\tambiguity_members\t"
        "modifications\topt_global_cv_MS:1002217_decoy_peptide\n";
    for (const auto& protein : result_.proteins) {
      if (!protein.target && !decoys_) continue;
      const auto comma = std::min(protein.name.find(','), protein.name.size());
      const auto others = protein.name.substr(std::min(comma + 1, protein.name.size()));
      text_ += fmt::format("PRT\t{0}\t{1}\t{1}\t{1}\t{1}\t{1}\t{2}\t{3:g}\t{4:g}\t{5:g}\t{6}\t{1}\t{7}\n",
                           cell(protein.name.substr(0, comma)), none, engine, protein.score, protein.q, protein.pep,
                           cell(others), protein.target ? 0 : 1);
    }
    text_ += '\n';
  }

  void psms() {
    text_ +=
        "PSH\tsequence\tPSM_ID\taccession\tunique\tdatabase\tdatabase_version\tsearch_engine\tsearch_engine_score[1]\t"
        "search_engine_score[2]\tsearch_engine_score[3]\tmodifications\tretention_time\tcharge\texp_mass_to_charge\t"
        "calc_mass_to_charge\tspectra_ref\tpre\tpost\tstart\tend\topt_global_cv_MS:1002217_decoy_peptide\t"
        "opt_global_cv_MS:1000889_peptidoform_sequence\topt_global_spectrum_id\n";
    std::int64_t id = 0;
    for (std::size_t place = 0; place < result_.psms.rows.size(); ++place) {
      const auto row = result_.psms.rows[place];
      if (!result_.is_target(row) && !decoys_) continue;
      psm(++id, row, place);
      constexpr std::size_t most_kept = 1 << 20;
      if (text_.size() > most_kept) flush();
    }
  }

  void psm(std::int64_t id, std::int32_t row, std::size_t place) {
    const auto view = result_.text(row);
    const auto peptide = take_apart(view.peptide);
    const auto accessions = proteins_of(view.proteins, options_.protein_separator);
    const auto reference =
        view.scan < 0 ? std::string(none) : fmt::format("ms_run[{}]:scan={}", result_.file(row) + 1, view.scan);
    const auto modifications =
        peptide.modifications.empty() ? std::string(none) : fmt::format("{}", fmt::join(peptide.modifications, ","));
    for (const auto accession : accessions)
      text_ += fmt::format(
          "PSM\t{1}\t{2}\t{3}\t{4}\t{0}\t{0}\t{5}\t{6:g}\t{7:g}\t{8:g}\t{9}\t{10}\t{11}\t{12}\t{13}\t{14}\t{15}\t{16}"
          "\t{0}\t{0}\t{17}\t{18}\t{19}\n",
          none, cell(peptide.sequence), id, cell(accession), accessions.size() == 1 ? 1 : 0, engine,
          result_.psms.scores[place], result_.psms.q[place], result_.psms.pep[place], modifications,
          time_cell(precursors_.seconds(view)), view.charge > 0 ? std::to_string(view.charge) : std::string(none),
          mass_cell(precursors_.measured(view)), mass_cell(precursors_.calculated(view)), reference, cell(peptide.pre),
          cell(peptide.post), view.target ? 0 : 1, cell(view.peptide), cell(view.id));
  }

  void flush() {
    sink_.write(text_);
    text_.clear();
  }

  const RescoreResult& result_;
  const RescoreOptions& options_;
  bool decoys_;
  Sink& sink_;
  rescore::Precursors precursors_;
  std::string text_;
};

}  // namespace

void write_mztab(const RescoreResult& result, const RescoreOptions& options, bool decoys, const std::string& path) {
  const auto sink = open_sink(path);
  MzTab(result, options, decoys, *sink).write();
  sink->finish();
}

}  // namespace sheaf

// Semi-supervised rescoring of peptide-spectrum matches (PSMs), as Percolator does it (Kall, Canterbury, Weston, Noble,
// MacCoss 2007), trained as whole blocks of support vector machines.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/solvers/parameters.hpp>

namespace sheaf {

struct Format;
/// The formats of matches of spectra and peptides: PIN and those that are read as PIN.
std::span<const Format> match_formats();

/// Rules for the details that the method leaves open.
enum class RescoreRules : std::uint8_t {
  safe,        ///< results that do not depend on the order of rows, that leak nothing, and that weak data cannot break
  percolator,  ///< Percolator 3.08, to the printed digit
};

enum class SearchType : std::uint8_t {
  automatic,     ///< separate if some spectrum has both targets and decoys
  concatenated,  ///< targets and decoys were searched together: each spectrum has one best match
  separate,      ///< each spectrum has matches of both searches
};

/// How the false discovery rate is estimated.
enum class Confidence : std::uint8_t {
  automatic,    ///< safe: competition; Percolator: mix-max for separate searches, else plain
  competition,  ///< the best match of each spectrum, target or decoy; (decoys + 1) / targets
  mix_max,      ///< targets and decoys apart, corrected for targets that correct matches have beaten
  plain,        ///< (decoys + 1) / targets of all matches
};

/// How posterior error probabilities are estimated.
enum class PepMethod : std::uint8_t {
  automatic,  ///< rank; corrected if the safe rules use mix-max
  rank,       ///< isotonic spline of decoys over the rank
  score,      ///< the same over the score
  pooled,     ///< pooled differences of q-values
  spline,     ///< logistic spline over scores
  corrected,  ///< as rank, in agreement with q-values under mix-max
};

enum class FeatureScaling : std::uint8_t { standard, unit_interval, none };

struct RescoreOptions {
  RescoreRules rules = RescoreRules::safe;
  double test_fdr = 0.01;
  double train_fdr = 0.01;  ///< positives of training; 0: test_fdr
  double initial_fdr = 0;   ///< positives of the first iteration; 0: train_fdr
  int iterations = 10;
  int nested = 1;              ///< nested folds that choose costs; 1: the training part itself
  double cost_positive = 0;    ///< 0: chosen among 10, 1 and 0.1
  double cost_negative = 0;    ///< 0: chosen among 1, 3 and 10 times cost_positive and targets per decoy
  bool quick = false;          ///< costs of 1, and an end when iterations gain little
  bool best_positive = false;  ///< at most one positive for each spectrum
  FeatureScaling scaling = FeatureScaling::standard;
  std::string direction;                   ///< the feature to begin with, after a - if lower is better; empty: found
  std::vector<double> initial_weights;     ///< to begin with, of features as they are, the bias last; empty: none
  std::vector<std::string> initial_names;  ///< features that these weights are of; empty: the PSMs', in their order
  bool apply_only = false;                 ///< score with initial_weights, without training
  bool keep_trained = false;               ///< the trained model even if it accepts fewer than the initial direction
  bool tolerant = false;                   ///< questionable data are no error (Percolator's --no-terminate)
  SearchType search = SearchType::automatic;
  Confidence confidence = Confidence::automatic;
  PepMethod pep = PepMethod::automatic;
  std::int64_t subset = 0;   ///< PSMs to train on; 0: all
  bool peptides = true;      ///< also the best PSM of each peptide
  bool proteins = false;     ///< also proteins, by their best peptide that no other has
  std::string decoy_prefix;  ///< of the names of decoy proteins; empty: the common beginning of decoys' names, up to
                             ///< the first _
  std::string fasta;         ///< sequences by which proteins that peptides cannot distinguish are grouped; empty: none
  std::string enzyme = "trypsin";  ///< that the sequences are cut by
  std::string group;  ///< q-values within groups: a column's name, "file" or "modified"; empty: of all together
  std::string protein_separator = "\t";
  std::vector<std::string> ignore;  ///< columns that are no features
  std::string features_file;        ///< file for the scaled features, as a PIN file; empty: none
  std::string checkpoint;           ///< file that training is saved in now and then (safe rules); empty: nowhere
  bool resume = false;              ///< continues from `checkpoint`; it must be of the same run
  std::uint64_t seed = 1;
  /// Receives the lines that Percolator would print, with its level (1: results, 2: progress).
  std::function<void(int level, std::string_view line)> log = {};
};

/// One training step of one fold.
struct FoldStep {
  std::int64_t positives = 0;  ///< trained on
  double cost_positive = 0;
  double cost_ratio = 0;      ///< of negatives, in units of targets per decoy
  std::int64_t accepted = 0;  ///< targets of the training part with q below test_fdr, without +1
};
struct RescoreIteration {
  std::int64_t estimated = 0;  ///< accepted targets, by the training parts
  std::int64_t tested = 0;     ///< accepted targets of the test folds
  std::vector<FoldStep> folds;
};

/// PSMs or peptides from the best to the worst, targets and decoys.
struct RescoreLevel {
  std::vector<std::int32_t> rows;  ///< of the PSMs that were read
  std::vector<double> scores;
  std::vector<double> q;
  std::vector<double> pep;
  double pi0 = 1;
  std::int64_t targets = 0;
  std::int64_t decoys = 0;
  std::int64_t accepted = 0;  ///< targets with q below test_fdr
};

/// A protein, by the best of its peptides that belong to it alone. Only the better one of a target and its decoy is
/// kept (Savitski and others 2015).
struct RescoreProtein {
  std::string name;        ///< of a group: its members' names with commas between them
  std::int32_t group = 0;  ///< its number by first appearance, from 1
  bool target = false;
  double score = 0, q = 1, pep = 1;
  std::vector<std::int32_t> peptides;  ///< rows, the best first
};

/// A linear score of PSMs for each fold.
struct RescoreModel {
  std::vector<std::string> feature_names;
  std::vector<std::vector<double>> normalised;  ///< of each fold: weights of scaled features, the bias last
  std::vector<std::vector<double>> raw;         ///< of each fold: of features as they are
};

/// The texts of a PSM; views that live as long as the result.
struct PsmView {
  std::string_view id, file, peptide, proteins, time;
  bool target = false;
  std::int32_t scan = -1;   ///< -1: the files do not say
  std::int32_t charge = 0;  ///< 0: likewise
  double mass = 0;          ///< measured; 0: likewise
  std::string_view calculated_mass = {};
  /// Masses are those of neutral molecules, and times are in seconds, as pepXML and mzIdentML define. Else they are in
  /// the units of the search engine, which PIN files do not name.
  bool has_units = false;
};

/// The file of RescoreOptions::checkpoint. It is locked against other processes as long as this lives.
class RescoreLog {
 public:
  RescoreLog() = default;
  RescoreLog(const RescoreLog&) = delete;
  RescoreLog& operator=(const RescoreLog&) = delete;
  virtual ~RescoreLog() = default;
  /// Whether the run that was resumed had ended before, its results written.
  virtual bool had_ended() const = 0;
  /// To be called when the results are written.
  virtual void end() = 0;
};

struct RescoreResult {
  RescoreModel model;
  std::vector<RescoreIteration> iterations;
  std::vector<std::uint16_t> folds;               ///< the test fold of each row
  std::int64_t initial_accepted = 0;              ///< targets of the test folds by the initial direction
  std::int64_t trained_accepted = 0;              ///< by the trained models
  bool fell_back = false;                         ///< the initial direction is used, since training lost targets
  SearchType search = SearchType::automatic;      ///< as found or given
  Confidence confidence = Confidence::automatic;  ///< as used
  RescoreLevel psms;
  RescoreLevel peptides;                 ///< empty if they were not requested
  std::vector<RescoreProtein> proteins;  ///< the best first; empty if they were not requested
  std::vector<std::string> warnings;
  std::vector<std::string> group_names;           ///< if q-values are of groups
  std::vector<std::int32_t> groups;               ///< of each row
  std::vector<std::string> file_names;            ///< of spectrum files; empty: PSMs do not name them
  std::function<PsmView(std::int32_t row)> text;  ///< of a row
  std::function<bool(std::int32_t row)> is_target;
  std::function<std::int32_t(std::int32_t row)> file;  ///< of a row, into file_names
  std::shared_ptr<RescoreLog> log;                     ///< none if nothing was saved
};

/// Rescores the PSMs of PIN files (compressed or not). The safe rules also read comma-separated tables (.csv), pepXML
/// and mzIdentML.
template <class T>
RescoreResult rescore_psms(const Context& context, const std::vector<std::string>& pins, const RescoreOptions& options);

/// How a table of results is written.
struct RescoreTable {
  bool targets = true;         ///< targets, else decoys
  bool times = false;          ///< a last column with retention times
  bool mokapot_names = false;  ///< columns as mokapot names them, and no scores of decoys
  std::string protein_separator = "\t";
};

/// A level as tab-separated text with Percolator's columns and six significant digits: PSMId, filename if PSMs name
/// their files, score, q-value, posterior_error_prob, peptide, proteinIds. "-" is standard output; the ending of `path`
/// may select compression.
void write_level(const Context& context, const RescoreResult& result, const RescoreLevel& level,
                 const RescoreTable& table, const std::string& path);

/// Proteins as Percolator writes them: ProteinId, ProteinGroupId, q-value, posterior_error_prob, peptideIds.
void write_proteins(const RescoreResult& result, RescoreRules rules, bool targets, const std::string& path);

/// PSMs and, if there are any, proteins as mzTab 1.0 (mode Summary, type Identification): scores, q-values and
/// posterior error probabilities under Percolator's terms of the PSI-MS vocabulary; decoys too if `decoys`.
void write_mztab(const RescoreResult& result, const RescoreOptions& options, bool decoys, const std::string& path);

/// Percolator's weights file. Written with four decimals as Percolator does, or with all digits.
void write_weights(const RescoreModel& model, const std::string& path, bool all_digits);

/// Reads Percolator's weights file: for each fold the weights of unscaled features, the bias last. There must be one
/// value for each name.
RescoreModel read_weights(const std::string& path);

template <>
const std::vector<Parameter<RescoreOptions>>& parameters();

}  // namespace sheaf

#include <sheaf/rescore.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <sheaf/version.hpp>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/parameter_json.hpp"
#include "rescore/confidence/finish.hpp"
#include "rescore/confidence/groups.hpp"
#include "rescore/confidence/peptides.hpp"
#include "rescore/confidence/protein_groups.hpp"
#include "rescore/confidence/proteins.hpp"
#include "rescore/input/psms.hpp"
#include "rescore/output/features_file.hpp"
#include "rescore/training/normalise.hpp"
#include "rescore/training/subset.hpp"
#include "rescore/training/train.hpp"

namespace sheaf {
namespace rescore {
namespace {

using Json = nlohmann::ordered_json;

std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

/// Reports errors that would otherwise be found only at the end.
void check_proteins(const RescoreOptions& options) {
  if (options.fasta.empty()) return;
  if (!options.proteins) fail_usage("sequences (--fasta) are for proteins: give --proteins too");
  check_enzyme(options.enzyme);
  if (!std::filesystem::exists(options.fasta)) fail("{}: there is no such file", options.fasta);
}

template <class T>
class Rescoring {
 public:
  Rescoring(const Context& context, const std::vector<std::string>& pins, const RescoreOptions& options)
      : context_(context), options_(options), random_(options.seed) {
    check_proteins(options);
    if (safe() && !options.checkpoint.empty())
      saved_ = std::make_shared<CheckpointFile>(options.checkpoint, options.resume);
    PinOptions reading;
    reading.rules = safe() ? PinRules::by_name : PinRules::by_position;
    reading.protein_separator = options.protein_separator;
    reading.replace_not_finite = options.tolerant;
    reading.ignore = options.ignore;
    reading.decoy_prefix = options.decoy_prefix;
    reading.keep_order = !safe();
    psms_ = std::make_shared<Psms<T>>(read_pins<T>(context, pins, reading));
    context_ = context.for_work(training_work());
    result_.warnings = psms_->warnings;
    for (const auto& name : psms_->file_names) file_hashes_.push_back(name_hash(name));
    rows_ = {
        {psms_->files.span(), psms_->scans.span()}, psms_->labels.span(), psms_->masses.span(), file_hashes_, !safe()};
  }

  RescoreResult run() {
    check();
    choose_confidence();
    charges_ = find_charges(*psms_);
    if (!options_.group.empty()) find_groups(*psms_, options_.group, result_.groups, result_.group_names);
    if (saved_) saved_->begin(run_name());
    if (!safe() && options_.subset > 0)
      train_on_reservoir();
    else
      train_on_all();
    finish();
    result_.log = saved_;
    return std::move(result_);
  }

 private:
  bool safe() const { return options_.rules == RescoreRules::safe; }
  /// An iteration takes about five looks at the rows for its 27 models, and scores them by 60.
  WorkEstimate training_work() const {
    const auto elements = static_cast<double>(psms_->size() * psms_->features());
    constexpr double each = 5 * 27 * 4 + 60 * 2;
    return {each * elements * (options_.iterations + 1), elements * sizeof(T)};
  }
  bool mix_max() const { return result_.confidence == Confidence::mix_max; }
  void log(int level, const std::string& line) const {
    if (options_.log) options_.log(level, line);
  }
  Stage errors_stage() const { return Stage(context_.progress(), "estimating errors", 0, context_.stop()); }
  void check();
  void check_features() const;
  void choose_confidence();
  InitialDirection initial_direction(const Normaliser& normaliser) const;
  std::vector<double> named_weights() const;
  void keep_model(const Normaliser& normaliser);
  void keep_training(Trained& trained);
  std::string run_name() const;
  void train_on_all();
  void train_on_reservoir();
  FoldScaling fold_scaling() const;
  double estimate_pi0(ConfidenceOps& ops, const RankedList& list);
  void finish();
  RescoreLevel level(ConfidenceOps& ops, const RankedList& list, double pi0) const;

  Context context_;
  RescoreOptions options_;
  ParkMiller random_;
  std::shared_ptr<Psms<T>> psms_;
  std::vector<std::uint64_t> file_hashes_;
  TrainingRows rows_;
  std::shared_ptr<CheckpointFile> saved_;
  std::vector<std::int8_t> charges_;          // of each PSM; empty: they are not known
  std::vector<std::vector<double>> weights_;  // on normalised features, scaled as scores are
  Array<double> scores_;                      // on the device
  RescoreResult result_;
};

/// Every SVM keeps its Hessian, which grows with the square of the features.
template <class T>
void Rescoring<T>::check_features() const {
  if (options_.apply_only || options_.iterations == 0) return;
  const auto weights = static_cast<double>(psms_->features() + 1);
  const int pairs = options_.quick || (options_.cost_positive > 0 && options_.cost_negative > 0) ? 1
                    : options_.cost_positive > 0                                                 ? 3
                                                                                                 : 9;
  const double bytes = 3.0 * pairs * options_.nested * weights * weights * sizeof(double);
  if (bytes <= static_cast<double>(context_.memory())) return;
  fail(
      "SVMs of {} features take {:.1f} GB of memory, and {} may be used; allow more (--memory), or leave features out "
      "(--ignore)",
      grouped(psms_->features()), bytes / 1e9, format_bytes(context_.memory()));
}

template <class T>
void Rescoring<T>::check() {
  const auto targets = std::count(psms_->labels.begin(), psms_->labels.end(), 1);
  log(2, fmt::format("Found {} PSMs", psms_->size()));
  log(2, fmt::format("Train/test set contains {} positives and {} negatives, size ratio={:g} and pi0=1", targets,
                     psms_->size() - targets,
                     static_cast<double>(targets) / static_cast<double>(psms_->size() - targets)));
  check_features();
  if (targets == 0) fail("no PSM is a target (label 1)");
  if (targets == psms_->size()) fail("no PSM is a decoy (label -1): errors cannot be estimated");
  for (const auto count : {targets, psms_->size() - targets})
    if (count <= 5 * psms_->features())
      result_.warnings.push_back(fmt::format("there are only {} {}: few for {}", count,
                                             count == targets ? "targets" : "decoys",
                                             counted(psms_->features(), "feature")));
}

template <class T>
void Rescoring<T>::choose_confidence() {
  // Percolator does not look at the file.
  const bool mixed = make_confidence_ops(context_, rows_)->has_mixed_spectra(safe());
  const SearchType found = mixed ? SearchType::separate : SearchType::concatenated;
  result_.search = options_.search == SearchType::automatic ? found : options_.search;
  result_.confidence = options_.confidence;
  const bool separate = result_.search == SearchType::separate;
  if (result_.confidence == Confidence::automatic)
    result_.confidence = safe() ? Confidence::competition : separate ? Confidence::mix_max : Confidence::plain;
  if (safe() && mix_max() && !separate)
    fail_usage("mix-max is for separate searches of targets and decoys, and no spectrum has matches of both");
  log(1, fmt::format("{} search input{}", separate ? "Separate target and decoy" : "Concatenated",
                     mix_max()                                       ? ", using mix-max method."
                     : result_.confidence == Confidence::competition ? ", using target-decoy competition."
                                                                     : ", skipping both target-decoy competition "
                                                                       "and mix-max."));
}

template <class T>
InitialDirection Rescoring<T>::initial_direction(const Normaliser& normaliser) const {
  const auto d = static_cast<std::size_t>(psms_->features()) + 1;
  InitialDirection initial;
  if (!options_.direction.empty()) {
    const bool lower = options_.direction[0] == '-';
    const std::string name = options_.direction.substr(lower ? 1 : 0);
    const auto& names = psms_->feature_names;
    const auto place = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (place == names.size()) fail_unknown("feature", name, names);
    initial.fallback.assign(d, 0.0);
    initial.fallback[place] = lower ? -1 : 1;
    initial.required_sign = static_cast<std::int32_t>(place + 1) * (lower ? -1 : 1);
  } else if (!psms_->default_direction.empty()) {
    initial.fallback = psms_->default_direction;
    initial.fallback.push_back(0);
  }
  initial.weights = initial.fallback;
  if (options_.initial_weights.empty()) return initial;
  const std::size_t expected = options_.initial_names.empty() ? d : options_.initial_names.size() + 1;
  if (options_.initial_weights.size() != expected)
    fail("there are {} initial weights; {} are expected, one for each feature and the bias",
         options_.initial_weights.size(), expected);
  initial.weights = normaliser.normalised(options_.initial_names.empty() ? options_.initial_weights : named_weights());
  return initial;
}

/// The initial weights in the order of the PSMs' features. A feature without a weight gets 0.
template <class T>
std::vector<double> Rescoring<T>::named_weights() const {
  const auto& known = options_.initial_names;
  const auto& names = psms_->feature_names;
  for (const auto& name : known)
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail("the model knows a feature '{}' that the PSMs do not have", name);
  std::vector<double> weights;
  for (const auto& name : names) {
    const auto place = static_cast<std::size_t>(std::find(known.begin(), known.end(), name) - known.begin());
    weights.push_back(place < known.size() ? options_.initial_weights[place] : 0);
  }
  weights.push_back(options_.initial_weights.back());
  return weights;
}

template <class T>
FoldScaling Rescoring<T>::fold_scaling() const {
  const double rate = options_.train_fdr > 0 ? options_.train_fdr : options_.test_fdr;
  return {rate, mix_max(), options_.tolerant, options_.rules, !options_.apply_only};
}

template <class T>
void Rescoring<T>::keep_model(const Normaliser& normaliser) {
  result_.model.feature_names = psms_->feature_names;
  result_.model.normalised = weights_;
  for (const auto& w : weights_) result_.model.raw.push_back(normaliser.raw(w));
}

template <class T>
void Rescoring<T>::keep_training(Trained& trained) {
  result_.iterations = std::move(trained.iterations);
  result_.initial_accepted = trained.initial_accepted;
  result_.trained_accepted = trained.trained_accepted;
  result_.fell_back = trained.fell_back;
  result_.warnings.insert(result_.warnings.end(), trained.warnings.begin(), trained.warnings.end());
  weights_ = std::move(trained.weights);
}

/// Identifies a run by its options, PSMs (in any order), type of numbers and version.
template <class T>
std::string Rescoring<T>::run_name() const {
  Json options = parameters_json(options_);
  options["initial_weights"] = options_.initial_weights;
  options["initial_names"] = options_.initial_names;
  options["apply_only"] = options_.apply_only;
  return fmt::format("{} {} {} {:016x} {}", SHEAF_VERSION, sizeof(T) == sizeof(float) ? "float" : "double",
                     psms_->size(), psms_->fingerprint, options.dump(-1, ' ', false, Json::error_handler_t::replace));
}

template <class T>
void Rescoring<T>::train_on_all() {
  // The host needs them no more, unless they are to be written.
  if (!context_.device().is_cpu() && options_.features_file.empty())
    psms_->x.values = psms_->x.values.to(context_.device());
  const auto normaliser = normalise(context_, psms_->x, options_.apply_only ? FeatureScaling::none : options_.scaling);
  if (!options_.features_file.empty()) write_features(*psms_, options_.features_file);
  {
    const auto ops = make_rescore_ops<T>(context_, psms_->x, psms_->labels.span());
    if (options_.apply_only) options_.iterations = 0;
    Trained trained = train(context_, *ops, rows_, initial_direction(normaliser), options_, random_, saved_.get());
    keep_training(trained);
    result_.folds = std::move(trained.folds);
    scores_ = std::move(trained.scores);
  }
  psms_->x.values = {};  // what follows needs scores alone
  const Stage stage = errors_stage();
  const auto ops = make_confidence_ops(context_, rows_);
  const auto folds = Array<std::uint16_t>::copy_of(result_.folds, context_.device());
  merge_folds(*ops, folds, fold_scaling(), scores_, weights_, random_, result_.warnings);
  keep_model(normaliser);
}

/// Percolator's way with a subset: folds are trained on it, and the mean of their models scores all PSMs, those of the
/// subset too.
template <class T>
void Rescoring<T>::train_on_reservoir() {
  const auto chosen = reservoir(rows_, options_.subset, random_);
  const auto count = static_cast<std::int64_t>(chosen.size());
  DenseMatrix<T> x{count, psms_->features(), Array<T>(count * psms_->features())};
  std::vector<std::int32_t> files;
  std::vector<std::int32_t> scans;
  std::vector<std::int8_t> labels;
  std::vector<double> masses;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int32_t i = chosen[static_cast<std::size_t>(k)];
    std::copy_n(psms_->row(i), x.columns, x.values.data() + k * x.columns);
    files.push_back(psms_->file(i));
    scans.push_back(psms_->scans[i]);
    labels.push_back(psms_->labels[i]);
    masses.push_back(psms_->masses[i]);
  }
  const TrainingRows some{{files, scans}, labels, masses, file_hashes_};
  const auto normaliser = normalise(context_, x, options_.scaling);
  {
    const auto ops = make_rescore_ops<T>(context_, x, labels);
    Trained trained = train(context_, *ops, some, initial_direction(normaliser), options_, random_);
    keep_training(trained);
    const auto confidence = make_confidence_ops(context_, some);
    const auto folds = Array<std::uint16_t>::copy_of(trained.folds, context_.device());
    merge_folds(*confidence, folds, fold_scaling(), trained.scores, weights_, random_, result_.warnings);
    check_and_estimate_pi0(*confidence, confidence->rank(trained.scores, {}, 0), mix_max(), options_.tolerant, random_,
                           result_.warnings);
  }
  keep_model(normaliser);
  std::vector<double> mean(static_cast<std::size_t>(psms_->features()) + 1, 0.0);
  for (const auto& w : result_.model.raw)
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += w[j] / static_cast<double>(result_.model.raw.size());
  std::vector<double> scores(static_cast<std::size_t>(psms_->size()), 0.0);
  for (std::int64_t i = 0; i < psms_->size(); ++i) {
    double& score = scores[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < psms_->features(); ++j)
      score += static_cast<double>(psms_->row(i)[j]) * mean[static_cast<std::size_t>(j)];
    score += mean.back();
  }
  scores_ = Array<double>::copy_of(scores, context_.device());
  psms_->x.values = {};
  result_.folds.assign(static_cast<std::size_t>(psms_->size()), 0);
}

template <class T>
double Rescoring<T>::estimate_pi0(ConfidenceOps& ops, const RankedList& list) {
  return check_and_estimate_pi0(ops, list, mix_max(), options_.tolerant || safe(), random_, result_.warnings);
}

/// q-values and PEPs of a list, within its groups if there are any.
template <class T>
RescoreLevel Rescoring<T>::level(ConfidenceOps& ops, const RankedList& list, double pi0) const {
  if (result_.groups.empty()) return make_level(ops, list, pi0, mix_max(), options_);
  RescoreLevel whole;
  whole.pi0 = pi0;
  const auto rows = list.rows.to(Device::cpu());
  whole.rows.assign(rows.begin(), rows.end());
  std::vector<std::size_t> places(static_cast<std::size_t>(psms_->size()));
  for (std::size_t k = 0; k < whole.rows.size(); ++k) places[static_cast<std::size_t>(whole.rows[k])] = k;
  whole.q.resize(whole.rows.size());
  whole.pep.resize(whole.rows.size());
  whole.scores.resize(whole.rows.size());
  const auto groups = Array<std::int32_t>::copy_of(result_.groups, context_.device());
  for (std::size_t g = 0; g < result_.group_names.size(); ++g) {
    const auto members = ops.of_group(list, groups, static_cast<std::int32_t>(g));
    const auto part = make_level(ops, members, pi0, mix_max(), options_);
    whole.targets += part.targets;
    whole.decoys += part.decoys;
    whole.accepted += part.accepted;
    for (std::size_t k = 0; k < part.rows.size(); ++k) {
      const std::size_t place = places[static_cast<std::size_t>(part.rows[k])];
      whole.q[place] = part.q[k];
      whole.pep[place] = part.pep[k];
      whole.scores[place] = part.scores[k];
    }
  }
  return whole;
}

template <class T>
void Rescoring<T>::finish() {
  const Stage stage = errors_stage();
  const auto has_scan = [](const PinFile& pin) {
    return std::find(pin.layout.columns.begin(), pin.layout.columns.end(), PinColumn::scan) != pin.layout.columns.end();
  };
  const bool scans = std::all_of(psms_->pins.begin(), psms_->pins.end(), has_scan);
  result_.text = [psms = psms_, scans, charges = std::move(charges_)](std::int32_t row) {
    const PsmText text = psms->text(row);
    const std::string_view file =
        psms->file_names.empty() ? std::string_view{} : psms->file_names[static_cast<std::size_t>(psms->file(row))];
    return PsmView{text.id,
                   file,
                   text.peptide,
                   text.proteins,
                   text.time,
                   psms->labels[row] > 0,
                   scans ? psms->scans[row] : -1,
                   charges.empty() ? 0 : charges[static_cast<std::size_t>(row)],
                   psms->masses[row],
                   text.calculated_mass,
                   psms->pins[psms->lines[row].file()].has_units};
  };
  result_.is_target = [psms = psms_](std::int32_t row) { return psms->labels[row] > 0; };
  result_.file = [psms = psms_](std::int32_t row) { return psms->file(row); };
  result_.file_names = psms_->file_names;
  const auto ops = make_confidence_ops(context_, rows_);
  RankedList list = ops->rank(scores_, {}, 0);
  double pi0 = estimate_pi0(*ops, list);
  scores_ = {};
  if (!safe() && options_.subset > 0) rescale_list(*ops, list, pi0, fold_scaling(), result_.warnings);
  if (result_.confidence == Confidence::competition) {
    list = ops->best_of_spectra(list);
    pi0 = estimate_pi0(*ops, list);
    const auto targets = ops->count_targets(list, list.size());
    log(1, fmt::format("Selected best-scoring PSM per file+scan+expMass (target-decoy competition): {} target PSMs and "
                       "{} decoy PSMs.",
                       targets, list.size() - targets));
  }
  result_.psms = level(*ops, list, pi0);
  const auto report = [&](const RescoreLevel& one, const char* what) {
    if (mix_max()) log(1, fmt::format("Selecting pi_0={:g}", one.pi0));
    log(1,
        fmt::format("{} yields {} target {} with q<{:g}.", mix_max() ? "New pi_0 estimate on final list" : "Final list",
                    one.accepted, what, options_.test_fdr));
  };
  if (options_.peptides || options_.proteins) {
    list = ops->best_of_keys(list, peptide_fingerprints(context_, *psms_, options_.rules).span());
    pi0 = estimate_pi0(*ops, list);
    result_.peptides = level(*ops, list, pi0);
    report(result_.peptides, "peptides");
  } else {
    report(result_.psms, "PSMs");
  }
  if (options_.proteins) result_.proteins = pick_proteins(context_, result_, options_, result_.warnings);
}

}  // namespace
}  // namespace rescore

template <class T>
RescoreResult rescore_psms(const Context& context, const std::vector<std::string>& pins,
                           const RescoreOptions& options) {
  return rescore::Rescoring<T>(context, pins, options).run();
}

template RescoreResult rescore_psms<float>(const Context&, const std::vector<std::string>&, const RescoreOptions&);
template RescoreResult rescore_psms<double>(const Context&, const std::vector<std::string>&, const RescoreOptions&);

}  // namespace sheaf

// Rescoring of peptide-spectrum matches.
#include <memory>
#include <optional>
#include <string>

#include "core.hpp"

namespace sheaf::python {
namespace {

template <class Value>
void add(py::list& list, const Value& value) {
  list.append(py::cast(value));
}

/// The columns of a level, those of each PSM or peptide at the same place.
py::dict columns_of(const RescoreResult& result, const RescoreLevel& level) {
  py::list ids, peptides, proteins;
  std::vector<std::uint8_t> targets;
  for (const auto row : level.rows) {
    const auto text = result.text(row);
    add(ids, text.id);
    add(peptides, text.peptide);
    add(proteins, text.proteins);
    targets.push_back(text.target ? 1 : 0);
  }
  py::dict columns;
  columns["PSMId"] = ids;
  columns["target"] = array_of(targets);
  columns["score"] = array_of(level.scores);
  columns["q-value"] = array_of(level.q);
  columns["posterior_error_prob"] = array_of(level.pep);
  columns["peptide"] = peptides;
  columns["proteinIds"] = proteins;
  return columns;
}

py::dict protein_columns(const RescoreResult& result) {
  py::list names, peptides;
  std::vector<std::uint8_t> targets;
  std::vector<double> scores, q, pep;
  for (const auto& protein : result.proteins) {
    add(names, protein.name);
    py::list own;
    for (const auto row : protein.peptides) add(own, result.text(row).peptide);
    peptides.append(own);
    targets.push_back(protein.target ? 1 : 0);
    scores.push_back(protein.score);
    q.push_back(protein.q);
    pep.push_back(protein.pep);
  }
  py::dict columns;
  columns["ProteinId"] = names;
  columns["target"] = array_of(targets);
  columns["score"] = array_of(scores);
  columns["q-value"] = array_of(q);
  columns["posterior_error_prob"] = array_of(pep);
  columns["peptideIds"] = peptides;
  return columns;
}

py::dict answer_of(const RescoreResult& result) {
  std::vector<std::int64_t> estimated, tested;
  for (const auto& iteration : result.iterations) {
    estimated.push_back(iteration.estimated);
    tested.push_back(iteration.tested);
  }
  py::dict answer;
  answer["psms"] = columns_of(result, result.psms);
  answer["peptides"] = columns_of(result, result.peptides);
  answer["proteins"] = protein_columns(result);
  answer["accepted"] = py::make_tuple(result.psms.accepted, result.peptides.accepted);
  answer["feature_names"] = result.model.feature_names;
  answer["raw"] = result.model.raw;
  answer["normalised"] = result.model.normalised;
  answer["folds"] = array_of(result.folds);
  answer["estimated"] = array_of(estimated);
  answer["tested"] = array_of(tested);
  answer["initial_accepted"] = result.initial_accepted;
  answer["fell_back"] = result.fell_back;
  answer["warnings"] = result.warnings;
  return answer;
}

/// `weights` None: trains; else scores with them, the bias last, without training.
py::dict rescore(const Surroundings& surroundings, const std::vector<std::string>& files, const Settings& settings,
                 bool as_percolator, bool single, const std::optional<std::vector<double>>& weights) {
  RescoreOptions options;
  set_options(options, settings);
  if (as_percolator) options.rules = RescoreRules::percolator;
  if (weights) {
    options.initial_weights = *weights;
    options.apply_only = true;
  }
  RescoreResult result;
  run(surroundings, [&](const Context& context) {
    result = single ? rescore_psms<float>(context, files, options) : rescore_psms<double>(context, files, options);
  });
  return answer_of(result);
}

void save_weights(const std::vector<std::string>& feature_names, const std::vector<std::vector<double>>& normalised,
                  const std::vector<std::vector<double>>& raw, const std::string& path) {
  write_weights({feature_names, normalised, raw}, path, true);
}

}  // namespace

void add_rescoring(py::module_& module) {
  module.def("rescore", &rescore);
  module.def("save_weights", &save_weights);
}

}  // namespace sheaf::python

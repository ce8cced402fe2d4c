#include <sheaf/rescore.hpp>

#include "data/parameter_rows.hpp"

namespace sheaf {

template <>
const std::vector<Parameter<RescoreOptions>>& parameters() {
  using O = RescoreOptions;
  static const std::vector<Parameter<O>> rows{
      positive_row<O>("fdr", &O::test_fdr, "false discovery rate at which results are counted and models are chosen",
                      "", 1),
      number_row<O, double>("train-fdr", &O::train_fdr, {0, 1},
                            "false discovery rate of the targets that are trained on; 0: that of --fdr"),
      number_row<O, double>("initial-fdr", &O::initial_fdr, {0, 1}, "the same in the first iteration",
                            "that of --train-fdr"),
      number_row<O, int>("iterations", &O::iterations, {0, 1000}, "rounds of choosing positives and training"),
      number_row<O, int>("nested", &O::nested, {1, 1000},
                         "nested folds that choose the costs; 1: the training part itself chooses"),
      number_row<O, double>("cost-positive", &O::cost_positive, {0, 1e127}, "cost of errors on targets",
                            "chosen among 10, 1 and 0.1"),
      number_row<O, double>("cost-negative", &O::cost_negative, {0, 1e127},
                            "cost of errors on decoys, together with --cost-positive",
                            "chosen among 1, 3 and 10 times that of targets"),
      yes_no_row<O>("quick", &O::quick, "costs of 1, and an end as soon as iterations gain less than 1 %"),
      yes_no_row<O>("best-positive", &O::best_positive, "train on one target of each spectrum at most"),
      choice_row<O, FeatureScaling>("scaling", &O::scaling,
                                    {{"standard", FeatureScaling::standard},
                                     {"unit", FeatureScaling::unit_interval},
                                     {"none", FeatureScaling::none}},
                                    "how features are put on one scale"),
      text_row<O>("direction", "[-]NAME", &O::direction, "the feature to begin with, after a - if lower is better",
                  "DefaultDirection of the file, else the best of each fold"),
      choice_row<O, SearchType>("search", &O::search,
                                {{"auto", SearchType::automatic},
                                 {"concatenated", SearchType::concatenated},
                                 {"separate", SearchType::separate}},
                                "how targets and decoys were searched; auto: separate if a spectrum has both"),
      choice_row<O, Confidence>("confidence", &O::confidence,
                                {{"auto", Confidence::automatic},
                                 {"competition", Confidence::competition},
                                 {"mix-max", Confidence::mix_max},
                                 {"plain", Confidence::plain}},
                                "how false discoveries are estimated; auto: competition"),
      choice_row<O, PepMethod>("pep", &O::pep,
                               {{"auto", PepMethod::automatic},
                                {"rank", PepMethod::rank},
                                {"score", PepMethod::score},
                                {"pooled", PepMethod::pooled},
                                {"spline", PepMethod::spline},
                                {"corrected", PepMethod::corrected}},
                               "estimator of posterior error probabilities"),
      number_row<O, std::int64_t>("subset", &O::subset, {0, 2'000'000'000}, "PSMs to train on; all are scored", "all"),
      yes_no_row<O>("peptides", &O::peptides, "the best PSM of each peptide too"),
      yes_no_row<O>("proteins", &O::proteins, "proteins too, by their best peptide that no other protein has"),
      text_row<O>("decoy-prefix", "TEXT", &O::decoy_prefix, "prefix of the names of decoy proteins",
                  "what all decoys share, up to _"),
      text_row<O>("fasta", "FILE", &O::fasta,
                  "sequences of the proteins: those that peptides cannot tell apart become one group (with --proteins)",
                  "none"),
      text_row<O>("enzyme", "NAME", &O::enzyme,
                  "that sequences are cut by: trypsin, trypsinp, lys-c, lys-n, arg-c, asp-n, glu-c, elastase, "
                  "chymotrypsin, pepsin or no_enzyme"),
      text_row<O>("group", "NAME", &O::group,
                  "q-values within groups: file, charge, modified, or the values of a column", "all together"),
      text_row<O>("protein-separator", "TEXT", &O::protein_separator, "between the proteins of one PSM", "a tab"),
      list_row<O>("ignore", "NAME", &O::ignore, "columns that are no features"),
      number_row<O, std::uint64_t>("seed", &O::seed, {1, 4294967290}, "seed of folds and bootstraps"),
  };
  return rows;
}

}  // namespace sheaf

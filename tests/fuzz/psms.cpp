// Peptide-spectrum matches and Percolator's weights.
#include <sheaf/rescore.hpp>

#include "fuzz/reader_check.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/targets.hpp"
#include "rescore/input/other_formats.hpp"

namespace sheaf::fuzz {
namespace {

void check_psms(const rescore::Psms<double>& psms) {
  expect(psms.x.rows == psms.size() && psms.x.values.size() >= psms.size() * psms.features(), "every PSM has features");
  for (std::int64_t i = 0; i < psms.size(); ++i) {
    expect(psms.labels[i] == 1 || psms.labels[i] == -1, "a PSM is a target or a decoy");
    for (std::int64_t j = 0; j < psms.features(); ++j) expect(std::isfinite(psms.row(i)[j]), "features are finite");
    expect(psms.file_names.empty() || static_cast<std::size_t>(psms.file(i)) < psms.file_names.size(),
           "every file has a name");
    const auto text = psms.text(i);
    expect(!text.peptide.empty() && !text.proteins.empty(), "a PSM has a peptide and a protein");
  }
}

void read_psms(const std::string& path, std::size_t kind) {
  rescore::PinOptions options;
  options.rules = kind % 2 == 0 ? rescore::PinRules::by_name : rescore::PinRules::by_position;
  options.keep_order = kind % 3 == 0;
  options.replace_not_finite = kind % 5 == 0;
  try {
    check_psms(rescore::read_pins<double>(context_of(1), {path}, options));
  } catch (const Error&) {
  }
}

}  // namespace

void check_pin(std::string_view input) {
  read_psms(Scratch::file(input.size() % 7 == 0 ? "psms.csv" : "psms.pin", input), input.size());
}

/// pepXML and mzIdentML.
void check_psm_xml(std::string_view input) { read_psms(Scratch::file("psms.xml", input), 6 * input.size() + 2); }

void check_weights(std::string_view input) {
  try {
    const auto model = read_weights(Scratch::file("weights.txt", input));
    expect(!model.raw.empty() && model.raw.size() == model.normalised.size(), "every fold has both kinds of weights");
    for (const auto& weights : model.raw)
      expect(weights.size() == model.feature_names.size() + 1, "every feature has a weight, and so has the bias");
    const auto path = Scratch::folder() + "/again.txt";
    write_weights(model, path, true);
    expect(read_weights(path).raw == model.raw, "weights that were written read back the same");
  } catch (const Error&) {
  }
}

}  // namespace sheaf::fuzz

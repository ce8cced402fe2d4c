#include "rescore/output/features_file.hpp"

#include <fmt/format.h>

#include "data/bytes/sink.hpp"
#include "data/text/number.hpp"

namespace sheaf::rescore {

template <class T>
void write_features(const Psms<T>& psms, const std::string& path) {
  const auto sink = open_sink(path);
  const bool files = !psms.file_names.empty();
  std::string text =
      files ? "SpecId\tLabel\tScanNr\tExpMass\tCalcMass\tfilename" : "SpecId\tLabel\tScanNr\tExpMass\tCalcMass";
  for (const auto& name : psms.feature_names) text += "\t" + name;
  text += "\tPeptide\tProteins\n";
  if (!psms.default_direction.empty()) {
    text += "DefaultDirection\t-\t-\t-\t-";
    for (const double value : psms.default_direction) text += fmt::format("\t{:g}", value);
    text += "\n";
  }
  for (const std::int8_t label : {std::int8_t{1}, std::int8_t{-1}})
    for (std::int64_t i = 0; i < psms.size(); ++i) {
      if (psms.labels[i] != label) continue;
      const PsmText psm = psms.text(i);
      double calculated = 0;
      parse_whole_number(psm.calculated_mass, calculated);
      const auto out = std::back_inserter(text);
      fmt::format_to(out, "{}\t{}\t{}\t{:g}\t{:g}", psm.id, label, psms.scans[i], psms.masses[i], calculated);
      if (files) fmt::format_to(out, "\t{}", psms.file_names[static_cast<std::size_t>(psms.file(i))]);
      for (std::int64_t j = 0; j < psms.features(); ++j) fmt::format_to(out, "\t{:g}", psms.row(i)[j]);
      fmt::format_to(out, "\t{}\t{}\n", psm.peptide, psm.proteins);
      sink->write(text);
      text.clear();
    }
  sink->finish();
}

template void write_features(const Psms<float>&, const std::string&);
template void write_features(const Psms<double>&, const std::string&);

}  // namespace sheaf::rescore

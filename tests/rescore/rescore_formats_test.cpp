// PSMs in other formats than PIN: comma-separated tables, pepXML, mzIdentML, and compressed files.
#include <gtest/gtest.h>

#include <fstream>

#include <sheaf/generate.hpp>
#include <sheaf/io.hpp>
#include <sheaf/neighbors.hpp>
#include <sheaf/rescore.hpp>

#include "data/bytes/sink.hpp"
#include "golden.hpp"
#include "rescore/input/psms.hpp"
#include "rescore/output/peptide_text.hpp"
#include "rescore/output/precursors.hpp"

namespace sheaf::rescore {
namespace rescore_formats_test {

const Context& one_thread() {
  static const Context context(Context::Options{.threads = 1});
  return context;
}

std::string file(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "sheaf_format_" + name;
  const auto sink = open_sink(path);  // the ending may select compression
  sink->write(text);
  sink->finish();
  return path;
}

Psms<double> read(const std::string& name, const std::string& text, const PinOptions& options = {}) {
  return read_pins<double>(one_thread(), {file(name, text)}, options);
}

double value(const Psms<double>& psms, std::int64_t row, const std::string& name) {
  const auto found = std::find(psms.feature_names.begin(), psms.feature_names.end(), name);
  EXPECT_NE(found, psms.feature_names.end()) << name;
  return found == psms.feature_names.end() ? 0 : psms.row(row)[found - psms.feature_names.begin()];
}

TEST(Formats, CommaSeparatedTablesArePinFilesToo) {
  const auto psms = read("table.csv",
                         "SpecId,Label,ScanNr,Xcorr,\"delta, normalised\",Peptide,Proteins\n"
                         "a,1,7,1.5,-2,\"K.A\"\"C.R\",P1\nb,-1,8,0.25,1e-3,K.CA.R,D1\n");
  ASSERT_EQ(psms.size(), 2);
  EXPECT_EQ(psms.feature_names, (std::vector<std::string>{"Xcorr", "delta, normalised"}));
  EXPECT_EQ(psms.row(1)[1], 1e-3);
  EXPECT_EQ(psms.text(0).peptide, "K.A\"C.R");
}

TEST(Formats, CompressedFilesAreReadDirectly) {
  const std::string text = "SpecId\tLabel\tScanNr\tx\tPeptide\tProteins\na\t1\t7\t0.5\tP\tQ\n";
  std::vector<std::string> endings{""};
  for (const std::string_view ending : compressions()) endings.emplace_back(ending);
  for (const auto& ending : endings) {
    const auto psms = read("packed.pin" + ending, text);
    ASSERT_EQ(psms.size(), 1) << ending;
    EXPECT_EQ(psms.row(0)[0], 0.5);
    EXPECT_EQ(psms.text(0).id, "a");
  }
}

const std::string pepxml = R"(<?xml version="1.0" encoding="UTF-8"?>
<msms_pipeline_analysis xmlns="http://regis-web.systemsbiology.net/pepXML">
 <msms_run_summary base_name="run7" raw_data=".mzML">
  <spectrum_query spectrum="run7.12.12.2" start_scan="12" end_scan="12" precursor_neutral_mass="1000.5" assumed_charge="2" index="1">
   <search_result>
    <search_hit hit_rank="1" peptide="ACDMK" peptide_prev_aa="R" peptide_next_aa="L" protein="sp|P1" num_tot_proteins="2" num_matched_ions="6" tot_num_ions="8" calc_neutral_pep_mass="1000.4" massdiff="-0.25" num_tol_term="2" num_missed_cleavages="0">
     <alternative_protein protein="sp|P2"/>
     <modification_info modified_peptide="ACDM[147]K"><mod_aminoacid_mass position="4" mass="147.03"/></modification_info>
     <search_score name="xcorr" value="2.5"/>
     <search_score name="expect" value="1e-4"/>
     <search_score name="note" value="none"/>
    </search_hit>
   </search_result>
  </spectrum_query>
  <spectrum_query spectrum="run7.13.13.3" start_scan="13" end_scan="13" precursor_neutral_mass="900" assumed_charge="3" index="2">
   <search_result>
    <search_hit hit_rank="1" peptide="KMDCA" peptide_prev_aa="-" peptide_next_aa="R" protein="DECOY_sp|P1" massdiff="0.5">
     <search_score name="xcorr" value="0.5"/>
    </search_hit>
   </search_result>
  </spectrum_query>
 </msms_run_summary>
</msms_pipeline_analysis>
)";

TEST(Formats, PepXmlGivesScoresAsFeatures) {
  const auto psms = read("run.pep.xml", pepxml);
  ASSERT_EQ(psms.size(), 2);
  EXPECT_EQ(psms.labels[0], 1);
  EXPECT_EQ(psms.labels[1], -1);
  EXPECT_EQ(psms.scans[0], 12);
  EXPECT_EQ(psms.masses[0], 1000.5);
  EXPECT_EQ(psms.file_names, (std::vector<std::string>{"run7"}));
  EXPECT_EQ(psms.text(0).id, "run7.12.12.2_1");
  EXPECT_EQ(psms.text(0).peptide, "R.ACDM[147]K.L");
  EXPECT_EQ(psms.text(0).proteins, "sp|P1\tsp|P2");
  EXPECT_EQ(value(psms, 0, "xcorr"), 2.5);
  EXPECT_EQ(value(psms, 0, "expect"), 1e-4);
  EXPECT_EQ(value(psms, 1, "expect"), 0);  // not given there
  EXPECT_EQ(value(psms, 0, "absdM"), 0.25);
  EXPECT_EQ(value(psms, 0, "Charge2"), 1);
  EXPECT_EQ(value(psms, 1, "Charge2"), 0);
  EXPECT_EQ(value(psms, 0, "num_matched_ions"), 6);
  EXPECT_EQ(std::count(psms.feature_names.begin(), psms.feature_names.end(), "note"), 0);
  PinOptions other;
  other.decoy_prefix = "sp|P1";
  EXPECT_THROW(read("run.pep.xml", pepxml, other), ParseError);  // one hit has another protein too: no decoys
}

const std::string mzidentml = R"(<?xml version="1.0" encoding="UTF-8"?>
<MzIdentML id="" version="1.1.0" xmlns="http://psidev.info/psi/pi/mzIdentML/1.1">
 <SequenceCollection>
  <DBSequence id="DB1" accession="sp|P1" searchDatabase_ref="S"/>
  <DBSequence id="DB2" accession="XXX_sp|P1" searchDatabase_ref="S"/>
  <Peptide id="Pep1"><PeptideSequence>ACDMK</PeptideSequence>
   <Modification location="4" monoisotopicMassDelta="15.99"><cvParam name="Oxidation" accession="UNIMOD:35" cvRef="U"/></Modification>
  </Peptide>
  <Peptide id="Pep2"><PeptideSequence>KMDCA</PeptideSequence></Peptide>
  <PeptideEvidence id="E1" peptide_ref="Pep1" dBSequence_ref="DB1" isDecoy="false" pre="R" post="L"/>
  <PeptideEvidence id="E2" peptide_ref="Pep2" dBSequence_ref="DB2" isDecoy="true" pre="K" post="-"/>
 </SequenceCollection>
 <DataCollection>
  <Inputs><SpectraData id="SD1" location="run7.mzML"/></Inputs>
  <AnalysisData><SpectrumIdentificationList id="L">
   <SpectrumIdentificationResult id="R1" spectrumID="controllerType=0 controllerNumber=1 scan=12" spectraData_ref="SD1">
    <SpectrumIdentificationItem id="R1_1" rank="1" chargeState="2" experimentalMassToCharge="501.25" calculatedMassToCharge="501.20" peptide_ref="Pep1" passThreshold="true">
     <PeptideEvidenceRef peptideEvidence_ref="E1"/>
     <cvParam name="MS-GF:RawScore" value="42" accession="MS:1002049" cvRef="M"/>
     <userParam name="IsotopeError" value="1"/>
    </SpectrumIdentificationItem>
   </SpectrumIdentificationResult>
   <SpectrumIdentificationResult id="R2" spectrumID="index=4" spectraData_ref="SD1">
    <SpectrumIdentificationItem id="R2_1" rank="1" chargeState="3" experimentalMassToCharge="400" peptide_ref="Pep2" passThreshold="true">
     <PeptideEvidenceRef peptideEvidence_ref="E2"/>
     <cvParam name="MS-GF:RawScore" value="-3" accession="MS:1002049" cvRef="M"/>
    </SpectrumIdentificationItem>
   </SpectrumIdentificationResult>
  </SpectrumIdentificationList></AnalysisData>
 </DataCollection>
</MzIdentML>
)";

TEST(Formats, MzIdentMlGivesScoresAsFeatures) {
  const auto psms = read("run.mzid", mzidentml);
  ASSERT_EQ(psms.size(), 2);
  EXPECT_EQ(psms.labels[0], 1);
  EXPECT_EQ(psms.labels[1], -1);
  EXPECT_EQ(psms.scans[0], 12);
  EXPECT_EQ(psms.scans[1], 4);
  EXPECT_NEAR(psms.masses[0], 2 * (501.25 - 1.00727646688), 1e-9);
  EXPECT_EQ(psms.file_names, (std::vector<std::string>{"run7.mzML"}));
  EXPECT_EQ(psms.text(0).peptide, "R.ACDM[15.99]K.L");
  EXPECT_EQ(psms.text(1).peptide, "K.KMDCA.-");
  EXPECT_EQ(psms.text(1).proteins, "XXX_sp|P1");
  EXPECT_EQ(value(psms, 0, "MS-GF:RawScore"), 42);
  EXPECT_EQ(value(psms, 1, "MS-GF:RawScore"), -3);
  EXPECT_EQ(value(psms, 0, "IsotopeError"), 1);
  EXPECT_NEAR(value(psms, 0, "dM"), 0.1, 1e-9);
  EXPECT_EQ(value(psms, 1, "Charge3"), 1);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// m/z and times as results have them, of PSMs that were read.
struct Spectrum {
  double measured, calculated, seconds;
};
Spectrum spectrum(const Psms<double>& psms, std::int32_t row, std::int32_t charge) {
  RescoreResult result;
  result.psms.rows = {row};
  result.text = [&](std::int32_t i) {
    const auto text = psms.text(i);
    PsmView view;
    view.time = text.time;
    view.charge = charge;
    view.mass = psms.masses[i];
    view.calculated_mass = text.calculated_mass;
    view.has_units = psms.pins[0].has_units;
    return view;
  };
  const Precursors precursors(result);
  const auto view = result.text(row);
  return {precursors.measured(view).value_or(-1), precursors.calculated(view).value_or(-1),
          precursors.seconds(view).value_or(-1)};
}

TEST(Formats, XmlGivesMassToChargeAndTimesInItsUnits) {
  const auto first = replaced(pepxml, "assumed_charge=\"2\"", "assumed_charge=\"2\" retention_time_sec=\"600.5\"");
  const auto from_pepxml = read("times.pep.xml", first);
  const auto hit = spectrum(from_pepxml, 0, 2);
  EXPECT_NEAR(hit.measured, 501.25727646688, 1e-9);  // 1000.5 / 2 + 1.00727646688
  EXPECT_NEAR(hit.calculated, 501.20727646688, 1e-9);
  EXPECT_EQ(hit.seconds, 600.5);
  const auto other = spectrum(from_pepxml, 1, 3);
  EXPECT_NEAR(other.measured, 301.00727646688, 1e-9);
  EXPECT_EQ(other.calculated, -1) << "the file does not say";
  EXPECT_EQ(other.seconds, -1);

  const auto with_time = replaced(
      mzidentml, "   </SpectrumIdentificationResult>",
      R"(<cvParam cvRef="M" accession="MS:1000016" name="scan start time" value="1.5" unitAccession="UO:0000031"/>
   </SpectrumIdentificationResult>)");
  const auto from_mzidentml = read("times.mzid", with_time);
  const auto item = spectrum(from_mzidentml, 0, 2);
  EXPECT_NEAR(item.measured, 501.25, 1e-9);
  EXPECT_NEAR(item.calculated, 501.20, 1e-9);
  EXPECT_EQ(item.seconds, 90);
  EXPECT_NEAR(spectrum(from_mzidentml, 1, 3).measured, 400, 1e-9);
  EXPECT_EQ(spectrum(from_mzidentml, 1, 3).seconds, -1);
}

TEST(Formats, MassesOfPeptidesAddUp) {
  // Glucagon, whose monoisotopic mass is in every textbook: 3480.6157 Da.
  EXPECT_NEAR(*monoisotopic_mass(take_apart("HSQGTFTSDYSKYLDSRRAQDFVQWLMNT")), 3480.6157, 1e-3);
  EXPECT_NEAR(*monoisotopic_mass(take_apart("K.n[42.0106]PEPTIDE.R")), 799.35996 + 42.0106, 1e-4);
  EXPECT_FALSE(monoisotopic_mass(take_apart("PEPXIDE")));
  EXPECT_FALSE(monoisotopic_mass(take_apart("PEPT[Phospho]IDE")));
  EXPECT_FALSE(monoisotopic_mass(take_apart("PEPT[UNIMOD:21]IDE")));
}

TEST(Formats, DefectsAreReportedWithLineAndColumn) {
  struct Defect {
    const char* file;
    std::string text;
    std::int64_t line;
    const char* says;
  };
  const std::vector<Defect> defects{
      {"a.pep.xml", pepxml.substr(0, pepxml.size() / 2), 0, "XML: "},
      {"b.pep.xml", replaced(pepxml, "</search_result>", "</search_hit>"), 0, "XML: mismatched tag"},
      {"c.pep.xml", replaced(pepxml, "start_scan=\"12\"", "start_scan=\"x\""), 4, "attribute start_scan, found 'x'"},
      {"d.pep.xml", replaced(pepxml, "massdiff=\"0.5\"", "massdiff=\"big\""), 17, "attribute massdiff"},
      {"e.pep.xml", replaced(pepxml, "DECOY_sp", "sp"), 0, "no match is of a decoy"},
      {"f.pep.xml", replaced(pepxml, "protein=\"DECOY_sp|P1\"", ""), 19, "has no protein"},
      {"g.mzid", replaced(mzidentml, "dBSequence_ref=\"DB1\"", "dBSequence_ref=\"DB9\""), 10, "no DBSequence 'DB9'"},
      {"h.mzid", replaced(mzidentml, "chargeState=\"2\"", "chargeState=\"\""), 17, "attribute chargeState, found ''"},
      {"i.mzid", replaced(mzidentml, "peptideEvidence_ref=\"E2\"", "peptideEvidence_ref=\"E7\""), 25,
       "no PeptideEvidence 'E7'"},
      {"j.mzid", replaced(mzidentml, "<PeptideEvidenceRef peptideEvidence_ref=\"E1\"/>", ""), 21, "has no peptide"},
      {"k.csv", "SpecId,Label,x,Peptide,Proteins\na,1,\"2\n3\",P,Q\n", 2, "goes on in another line"},
      {"l.csv", "SpecId,Label,x,Peptide,Proteins\na,1,2\t,P,Q\n", 2, "a tab in a comma-separated"},
      {"m.csv", "SpecId,Label,x,Peptide,Proteins\na,1,high,P,Q\n", 2, "found 'high'"},
      {"n.xml", "<?xml version=\"1.0\"?>\n<other/>\n", 1, "this is XML"},
  };
  for (const Defect& defect : defects) try {
      read(defect.file, defect.text);
      ADD_FAILURE() << defect.file;
    } catch (const ParseError& error) {
      EXPECT_NE(std::string(error.what()).find(defect.says), std::string::npos) << defect.file << ": " << error.what();
      if (defect.line > 0) {
        EXPECT_EQ(error.place().line, defect.line) << error.what();
      }
      EXPECT_GT(error.place().column, 0);
    }
}

const Context& of_little_memory() {
  static const Context context(Context::Options{.threads = 1, .memory = std::int64_t{1} << 24});
  return context;
}

/// The message that such a file is refused with.
std::string refused(const Context& context, const std::string& name, const std::string& text) {
  try {
    read_pins<double>(context, {file(name, text)}, {});
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << name << " was read";
  return {};
}

TEST(Formats, EntitiesAreNotExpanded) {
  std::string entities = "<!ENTITY a \"aaaaaaaaaa\">";
  for (char c = 'b'; c <= 'j'; ++c) {
    entities += std::string("<!ENTITY ") + c + " \"";
    for (int k = 0; k < 10; ++k) entities += std::string("&") + static_cast<char>(c - 1) + ";";
    entities += "\">";
  }
  const auto head = "<?xml version=\"1.0\"?>\n<!DOCTYPE x [" + entities + "]>\n";
  for (const auto& [name, body] : {std::pair{"laughs.pep.xml", pepxml}, {"laughs.mzid", mzidentml}}) {
    const auto text = replaced(head + body.substr(body.find('\n') + 1), "run7", "&j;");
    EXPECT_NE(refused(of_little_memory(), name, text).find("the entity 'a' is declared"), std::string::npos) << name;
  }
}

/// Small files that would need large memory: a long text that many matches refer to, a feature of its own for each
/// match, a table of many columns and short lines.
TEST(Formats, SmallFilesDoNotAskForLargeMemory) {
  auto body = replaced(mzidentml, "ACDMK", std::string(300000, 'A'));
  const auto begin = body.find("<SpectrumIdentificationResult id=\"R1\"");
  const auto end =
      body.find("</SpectrumIdentificationResult>", begin) + std::string("</SpectrumIdentificationResult>").size();
  const auto result = body.substr(begin, end - begin);
  for (int k = 0; k < 200; ++k) body.insert(begin, result);
  EXPECT_NE(refused(of_little_memory(), "long.mzid", body).find("of memory"), std::string::npos);

  auto wide = pepxml;
  const auto query = wide.find("<spectrum_query spectrum=\"run7.13");
  const auto hit = wide.substr(query, wide.find("</spectrum_query>", query) - query) + "</spectrum_query>";
  std::string all;
  for (int k = 0; k < 3500; ++k) all += replaced(hit, "\"xcorr\"", "\"xcorr" + std::to_string(k) + "\"");
  wide.insert(query, all);
  EXPECT_NE(refused(of_little_memory(), "wide.pep.xml", wide).find("of memory"), std::string::npos);

  std::string header = "SpecId\tLabel\tScanNr";
  for (int k = 0; k < 50000; ++k) header += "\tf" + std::to_string(k);
  header += "\tPeptide\tProteins\n";
  for (int k = 0; k < 50000; ++k) header += "a\t1\t1\n";
  EXPECT_NE(refused(of_little_memory(), "short.pin", header).find(":2:6: the line ends before column 4"),
            std::string::npos);
}

TEST(Formats, PlacesAndScansMustBeNumbersThatFit) {
  for (const auto* place : {"-1", "1e30", "2.5", "nan", ""})
    EXPECT_NE(refused(one_thread(), "place.mzid",
                      replaced(mzidentml, "location=\"4\"", "location=\"" + std::string(place) + "\""))
                  .find("attribute location"),
              std::string::npos)
        << place;
  for (const auto* scan : {"1e30", "-1e300", "4294967296", "inf"})
    EXPECT_NE(refused(one_thread(), "scan.pep.xml",
                      replaced(pepxml, "start_scan=\"12\"", "start_scan=\"" + std::string(scan) + "\""))
                  .find("attribute start_scan"),
              std::string::npos)
        << scan;
}

std::string by_ending(std::span<const Format> table, std::string_view path) {
  const auto* format = find_format_by_ending(table, path);
  return format == nullptr ? "none" : std::string(format->name);
}

TEST(Formats, EndingsAreLookedUpInTheTableOfAnyKindOfFile) {
  EXPECT_EQ(by_ending(match_formats(), "runs/a.pin"), "pin");
  EXPECT_EQ(by_ending(match_formats(), "a.pep.xml"), "pepxml");
  EXPECT_EQ(by_ending(match_formats(), "a.pepXML"), "pepxml");
  EXPECT_EQ(by_ending(match_formats(), "a.mzid.gz"), "mzidentml") << "compression left aside";
  EXPECT_EQ(by_ending(match_formats(), "run.pin/a.txt"), "none") << "the ending of a folder";
  EXPECT_EQ(by_ending(match_formats(), "pin"), "none");
  EXPECT_EQ(by_ending(match_formats(), ""), "none");
  EXPECT_EQ(by_ending(neighbor_formats(), "near.bin"), "binary");
  EXPECT_EQ(by_ending(neighbor_formats(), "near.npy"), "npy");
  EXPECT_EQ(by_ending(formats(), "a.tsv.zst"), "csv");
  EXPECT_EQ(by_ending(formats(), "a.pin"), "none");
}

}  // namespace rescore_formats_test
}  // namespace sheaf::rescore

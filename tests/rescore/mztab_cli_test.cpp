// results.mzTab of `sheaf rescore`, held to the specification: "mzTab: exchange format for proteomics and metabolomics
// results", version 1.0.0 (HUPO Proteomics Standards Initiative, 2014), sections 5 and 6. Each check names its rule.
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "program.hpp"

namespace sheaf::test {
namespace mztab_cli_test {

using Fields = std::vector<std::string>;

Fields split(const std::string& line, char separator) {
  Fields fields;
  std::string field;
  for (const char c : line)
    if (c == separator)
      fields.push_back(std::exchange(field, {}));
    else
      field += c;
  fields.push_back(field);
  return fields;
}

bool matches(const std::string& text, const std::string& pattern) {
  return std::regex_match(text, std::regex(pattern));
}

/// A table of a file: its columns by name.
struct Section {
  Fields columns;
  std::vector<std::map<std::string, std::string>> rows;
};

/// Reads a file; everything that the specification does not allow is a failure.
class MzTab {
 public:
  std::map<std::string, std::string> metadata;
  Section proteins, psms;

  explicit MzTab(const std::string& text) { read(text); }

 private:
  void read(const std::string& text) {
    std::istringstream lines(text);
    int place = 0;  // sections come in this order: MTD, PRH and PRT, PSH and PSM
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line.starts_with("COM\t")) continue;
      const auto fields = split(line, '\t');
      for (const auto& field : fields) EXPECT_FALSE(field.empty()) << "5.3: empty cells are null: " << line;
      static const std::vector<std::string> order{"MTD", "PRH", "PRT", "PSH", "PSM"};
      const auto found = std::find(order.begin(), order.end(), fields[0]);
      ASSERT_NE(found, order.end()) << "5.2: unknown prefix: " << line;
      EXPECT_GE(found - order.begin(), place) << "5.2: sections must stand together, in order: " << line;
      place = static_cast<int>(found - order.begin());
      if (fields[0] == "MTD") read_metadata(fields);
      if (fields[0] == "PRH") proteins.columns = fields;
      if (fields[0] == "PSH") psms.columns = fields;
      if (fields[0] == "PRT") read_row(fields, proteins);
      if (fields[0] == "PSM") read_row(fields, psms);
    }
    check_metadata();
    if (!proteins.columns.empty()) check_proteins();
    check_psms();
  }
  void read_metadata(const Fields& fields) {
    ASSERT_EQ(fields.size(), 3U) << "5.5: a key and a value";
    EXPECT_TRUE(metadata.emplace(fields[1], fields[2]).second) << "5.5: " << fields[1] << " stands twice";
  }
  static void read_row(const Fields& fields, Section& section) {
    ASSERT_EQ(fields.size(), section.columns.size()) << "5.3: as many cells as the header";
    auto& row = section.rows.emplace_back();
    for (std::size_t k = 1; k < fields.size(); ++k) row[section.columns[k]] = fields[k];
  }

  static void expect_parameter(const std::string& text) {
    EXPECT_TRUE(matches(text, R"(\[[^,\]]*, [^,\]]*, ("[^"]*"|[^,\]]+), [^\]]*\])")) << "5.9: no parameter: " << text;
  }
  std::size_t count(const std::string& begin, const std::string& end = "") const {
    std::size_t found = 0;
    while (metadata.count(begin + "[" + std::to_string(found + 1) + "]" + end) > 0) ++found;
    return found;
  }

  void check_metadata() const {
    const auto value = [&](const std::string& key) {
      const auto found = metadata.find(key);
      EXPECT_NE(found, metadata.end()) << "6.2: " << key << " is mandatory";
      return found == metadata.end() ? std::string() : found->second;
    };
    EXPECT_EQ(value("mzTab-version"), "1.0.0");
    EXPECT_EQ(value("mzTab-mode"), "Summary");
    EXPECT_EQ(value("mzTab-type"), "Identification");
    EXPECT_FALSE(value("description").empty());
    EXPECT_GE(count("ms_run", "-location"), 1U) << "6.2.37";
    EXPECT_GE(count("fixed_mod"), 1U) << "6.2.28";
    EXPECT_GE(count("variable_mod"), 1U) << "6.2.31";
    EXPECT_GE(count("psm_search_engine_score"), 1U) << "6.2.8";
    for (const auto& [key, text] : metadata) {
      const bool is_parameter = matches(
          key, R"((software|fixed_mod|variable_mod|(psm|protein)_search_engine_score)\[\d+\]|ms_run\[\d+\]-id_format)");
      if (is_parameter) expect_parameter(text);
      if (matches(key, R"(ms_run\[\d+\]-location)") && text != "null") {
        EXPECT_TRUE(matches(text, R"([a-z]+://\S+)")) << "6.2.37: a URI: " << text;
      }
    }
  }

  static void expect_columns(const Section& section, const Fields& mandatory, std::size_t scores,
                             const std::string& score) {
    std::set<std::string> names(section.columns.begin() + 1, section.columns.end());
    EXPECT_EQ(names.size() + 1, section.columns.size()) << "columns stand once";
    for (const auto& name : mandatory) EXPECT_EQ(names.erase(name), 1U) << name << " is mandatory";
    for (std::size_t k = 1; k <= scores; ++k)
      EXPECT_EQ(names.erase(score + "[" + std::to_string(k) + "]"), 1U) << "a column for each score of the metadata";
    for (const auto& name : names)
      EXPECT_TRUE(matches(name, R"(opt_(global|ms_run\[\d+\]|assay\[\d+\])_[A-Za-z0-9_\-\[\]:\.]+)"))
          << "5.12: optional columns: " << name;
  }
  static void expect_number(const std::string& text) {
    EXPECT_TRUE(text == "null" || matches(text, R"(-?\d+(\.\d+)?(e[+-]?\d+)?)")) << "no number: " << text;
  }

  void check_proteins() const {
    expect_columns(proteins,
                   {"accession", "description", "taxid", "species", "database", "database_version", "search_engine",
                    "ambiguity_members", "modifications"},
                   count("protein_search_engine_score"), "best_search_engine_score");
    EXPECT_GE(count("protein_search_engine_score"), 1U) << "6.2.7: mandatory with a protein section";
    std::set<std::string> accessions;
    for (const auto& row : proteins.rows) {
      EXPECT_TRUE(accessions.insert(row.at("accession")).second) << "6.3.1: " << row.at("accession");
      expect_parameter(row.at("search_engine"));
      for (const auto* score : {"best_search_engine_score[1]", "best_search_engine_score[2]"})
        expect_number(row.at(score));
    }
  }

  void check_psms() const {
    expect_columns(psms,
                   {"sequence", "PSM_ID", "accession", "unique", "database", "database_version", "search_engine",
                    "modifications", "retention_time", "charge", "exp_mass_to_charge", "calc_mass_to_charge",
                    "spectra_ref", "pre", "post", "start", "end"},
                   count("psm_search_engine_score"), "search_engine_score");
    std::map<std::string, std::map<std::string, std::string>> by_id;
    std::set<std::pair<std::string, std::string>> lines;
    for (const auto& row : psms.rows) {
      EXPECT_TRUE(matches(row.at("sequence"), "[A-Z]+")) << "6.5.1: " << row.at("sequence");
      EXPECT_TRUE(matches(row.at("PSM_ID"), R"(\d+)")) << "6.5.2";
      EXPECT_TRUE(lines.emplace(row.at("PSM_ID"), row.at("accession")).second) << "6.5.2: one line for each protein";
      EXPECT_TRUE(matches(row.at("unique"), "0|1|null")) << "6.5.4";
      EXPECT_TRUE(matches(row.at("charge"), R"([1-9]\d*|null)")) << "6.5.12: " << row.at("charge");
      EXPECT_TRUE(matches(row.at("pre"), "[A-Z]|-|null")) << "6.5.17: " << row.at("pre");
      EXPECT_TRUE(matches(row.at("post"), "[A-Z]|-|null")) << "6.5.18: " << row.at("post");
      for (const auto* name : {"search_engine_score[1]", "search_engine_score[2]", "search_engine_score[3]",
                               "retention_time", "exp_mass_to_charge", "calc_mass_to_charge", "start", "end"})
        expect_number(row.at(name));
      expect_parameter(row.at("search_engine"));
      expect_modifications(row.at("modifications"), row.at("sequence").size());
      expect_reference(row.at("spectra_ref"));
      const auto [first, added] = by_id.emplace(row.at("PSM_ID"), row);
      for (const auto* name : {"sequence", "modifications", "spectra_ref", "unique"})
        EXPECT_EQ(first->second.at(name), row.at(name)) << "6.5.2: lines of one PSM differ by their protein";
    }
  }
  static void expect_modifications(const std::string& text, std::size_t length) {
    if (text == "null") return;
    for (const auto& one : split(text, ',')) {
      std::smatch parts;
      ASSERT_TRUE(std::regex_match(one, parts, std::regex(R"((\d+)-(UNIMOD:\d+|MOD:\d+|CHEMMOD:[+-]\d+(\.\d+)?))")))
          << "5.8: " << one;
      EXPECT_LE(std::stoul(parts[1]), length + 1) << "5.8: the C-terminus is one behind the last amino acid";
    }
  }
  void expect_reference(const std::string& text) const {
    if (text == "null") return;
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(text, parts, std::regex(R"(ms_run\[(\d+)\]:scan=\d+)"))) << "5.4: " << text;
    EXPECT_LE(std::stoul(parts[1]), count("ms_run", "-location")) << "5.4: a run of the metadata";
  }
};

class MzTabProgram : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    ASSERT_EQ(shell("sheaf generate psms plain.pin --spectra 800 --files 2 --seed 3 --quiet").code, 0);
    // Modifications in the ways that search engines write them.
    ASSERT_EQ(
        shell(
            R"(sed -e 's/A\([A-Z]*\)\./A[15.9949]\1./' -e 's/G\([A-Z]*\)\./G[UNIMOD:21]\1./' -e 's/K\.\([A-Z]\)/K.n[42.0106]\1/' plain.pin > run.pin)")
            .code,
        0);
  }
};

TEST_F(MzTabProgram, IsWhatTheSpecificationAllows) {
  const auto done = shell("sheaf rescore run.pin --output out --iterations 2 --proteins --mztab --decoys");
  ASSERT_EQ(done.code, 0) << done.err;
  const MzTab read(file("out/results.mzTab"));
  EXPECT_FALSE(read.proteins.rows.empty());
  // The same PSMs, scores and q-values as in the tables.
  std::map<std::string, Fields> expected;
  for (const auto* name : {"out/psms.tsv", "out/decoy_psms.tsv"}) {
    std::istringstream lines(file(name));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      const auto fields = split(line, '\t');
      expected[fields[0]] = fields;
    }
  }
  std::set<std::string> ids;
  bool modified = false;
  for (const auto& row : read.psms.rows) {
    ids.insert(row.at("PSM_ID"));
    const auto found = expected.find(row.at("opt_global_spectrum_id"));
    ASSERT_NE(found, expected.end()) << row.at("opt_global_spectrum_id");
    const auto& fields = found->second;  // id, file, score, q-value, error, peptide, proteins
    EXPECT_EQ(row.at("search_engine_score[1]"), fields[2]);
    EXPECT_EQ(row.at("search_engine_score[2]"), fields[3]);
    EXPECT_EQ(row.at("search_engine_score[3]"), fields[4]);
    EXPECT_EQ(row.at("opt_global_cv_MS:1000889_peptidoform_sequence"), fields[5]);
    modified = modified || row.at("modifications").find("CHEMMOD:+15.9949") != std::string::npos;
  }
  EXPECT_EQ(ids.size(), expected.size());
  EXPECT_TRUE(modified);
}

/// Two peptides whose masses were added up by hand from the masses of elements: PEPTIDE 799.359964 and
/// SAM[15.9949]PLER 818.395624. Every measured mass is 0.01 larger.
TEST_F(MzTabProgram, HasMassToChargeAndTimesWhateverTheUnitsOfTheFile) {
  const std::map<std::string, std::map<std::string, std::pair<double, double>>> expected{
      {"PEPTIDE",
       {{"1", {800.377240, 800.367240}},
        {"2", {400.692258, 400.687258}},
        {"3", {267.463931, 267.460597}},
        {"4", {200.849767, 200.847267}}}},
      {"SAMPLER",
       {{"1", {819.412900, 819.402900}},
        {"2", {410.210088, 410.205088}},
        {"3", {273.809151, 273.805818}},
        {"4", {205.608682, 205.606182}}}}};
  struct Unit {
    std::string formula, name;  // of m, the neutral mass, and z
  };
  for (const auto& unit :
       {Unit{"m", "neutral masses"}, Unit{"m + 1.007276467", "[M+H]+"}, Unit{"m / z + 1.007276467", "m/z"}}) {
    SCOPED_TRACE(unit.name);
    const auto script = R"(awk -F'\t' -v OFS='\t' '
      NR == 1 { for (k = 1; k <= NF; ++k) at[$k] = k; print "retentiontime", $0; next }
      { m = NR % 2 ? 799.359964 : 818.395624; z = 0; for (c = 1; c <= 4; ++c) if ($at["Charge" c] == 1) z = c
        $at["CalcMass"] = sprintf("%.6f", )" +
                        unit.formula + R"(); m += 0.01
        $at["ExpMass"] = sprintf("%.6f", )" +
                        unit.formula + R"()
        $at["Peptide"] = NR % 2 ? "K.PEPTIDE.R" : "K.SAM[15.9949]PLER.-"; print 12.5, $0 }' plain.pin > run.pin)";
    ASSERT_EQ(shell(script).code, 0);
    const auto done = shell("sheaf rescore run.pin --output out --iterations 1 --mztab --force");
    ASSERT_EQ(done.code, 0) << done.err;
    const MzTab read(file("out/results.mzTab"));
    ASSERT_FALSE(read.psms.rows.empty());
    for (const auto& row : read.psms.rows) {
      const auto [measured, calculated] = expected.at(row.at("sequence")).at(row.at("charge"));
      EXPECT_NEAR(std::stod(row.at("exp_mass_to_charge")), measured, 2e-6);
      EXPECT_NEAR(std::stod(row.at("calc_mass_to_charge")), calculated, 2e-6);
      EXPECT_EQ(row.at("retention_time"), "750") << "12.5 minutes in seconds";
    }
    EXPECT_EQ(read.metadata.at("software[1]-setting[3]"), "ExpMass read as " + unit.name);
    EXPECT_EQ(read.metadata.at("software[1]-setting[5]"), "retention times read as minutes");
  }
}

TEST_F(MzTabProgram, HasNoMassToChargeIfMassesAgreeWithNoPeptide) {
  const auto done = shell("sheaf rescore plain.pin --output out --iterations 1 --mztab");
  ASSERT_EQ(done.code, 0) << done.err;
  const MzTab read(file("out/results.mzTab"));
  for (const auto& row : read.psms.rows)
    for (const auto* name : {"exp_mass_to_charge", "calc_mass_to_charge", "retention_time"})
      EXPECT_EQ(row.at(name), "null") << "the masses are random numbers, and there are no times";
}

TEST_F(MzTabProgram, HasNoDecoysUnlessTheyAreWanted) {
  const auto done = shell("sheaf rescore plain.pin --output out --iterations 1 --mztab");
  ASSERT_EQ(done.code, 0) << done.err;
  const MzTab read(file("out/results.mzTab"));
  EXPECT_TRUE(read.proteins.columns.empty()) << "proteins were not asked for";
  for (const auto& row : read.psms.rows) EXPECT_EQ(row.at("opt_global_cv_MS:1002217_decoy_peptide"), "0");
  ASSERT_EQ(shell("sheaf rescore plain.pin --output out --iterations 1 --force").code, 0);
  EXPECT_FALSE(exists("out/results.mzTab")) << "results of the run before are removed";
}

}  // namespace mztab_cli_test
}  // namespace sheaf::test

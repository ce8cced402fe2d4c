// Groups of proteins from a FASTA file, and picked proteins.
#include <gtest/gtest.h>

#include <fstream>

#include <sheaf/generate.hpp>
#include <sheaf/io.hpp>
#include <sheaf/rescore.hpp>

#include "rescore/confidence/protein_groups.hpp"

namespace sheaf::rescore {
namespace rescore_proteins_test {

Context context() { return Context(Context::Options{.threads = 2}); }

std::string file(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "sheaf_proteins_" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(Digestion, CutsWhereTheEnzymeDoes) {
  const auto cut = [](const char* sequence, const char* enzyme) {
    std::string text;
    for (const auto peptide : digested(sequence, enzyme)) text += std::string(peptide) + " ";
    return text;
  };
  EXPECT_EQ(cut("MAKPCRDEK", "trypsin"), "MAKPCR DEK ");
  EXPECT_EQ(cut("MAKPCRDEK", "trypsinp"), "MAK PCR DEK ");
  EXPECT_EQ(cut("MAKDCRDEK", "lys-n"), "MA KDCRDE K ");
  EXPECT_EQ(cut("MAKDCRDEK", "asp-n"), "MAK DCR DEK ");
  EXPECT_EQ(cut("MAKDCRDEK", "no_enzyme"), "MAKDCRDEK ");
  EXPECT_EQ(cut("", "trypsin"), "");
  EXPECT_THROW(digested("MAK", "scissors"), UsageError);
}

TEST(ProteinGroups, JoinProteinsWhosePeptidesAreAllOfAnother) {
  const auto spaces = file("spaces.fasta", ">a\nAAAA AAK\n");
  EXPECT_THROW(ProteinGroups(context(), spaces, "trypsin", ""), ParseError);
  const auto path = file("groups.fasta",
                         ">large first one\nAAAAAAK\nCCCCCCKDDDDDDK\n>part\nCCCCCCKDDDDDDK\n>same\n"
                         "AAAAAAKCCCCCCKDDDDDDK\r\n>other\nEEEEEEKCCCCCCK\n>short\nAK\n>decoy_large\nAAAAAAK\n");
  const ProteinGroups groups(context(), path, "trypsin", "decoy_");
  EXPECT_EQ(groups.find("part"), groups.find("large"));
  EXPECT_EQ(groups.find("same"), groups.find("large"));
  EXPECT_NE(groups.find("other"), groups.find("large"));
  EXPECT_NE(groups.find("short"), groups.find("large"));
  EXPECT_GE(groups.find("short"), 0);
  EXPECT_EQ(groups.find("decoy_large"), -1);
  EXPECT_EQ(groups.find("absent"), -1);
  EXPECT_EQ(groups.name(groups.find("part")), "large,same,part");
  EXPECT_EQ(groups.name(groups.find("part"), "decoy_"), "decoy_large,decoy_same,decoy_part");
}

TEST(ProteinGroups, DefectsOfFastaFilesHaveAPlace) {
  struct Defect {
    const char* text;
    std::int64_t line, column;
    const char* says;
  };
  for (const Defect& defect :
       {Defect{"MAKD\n>a\nMAK\n", 1, 1, "begins with >"}, Defect{">a\n>b\nMAK\n", 2, 1, "the sequence of 'a' expected"},
        Defect{"> \nMAK\n", 1, 1, "the name of a protein"}, Defect{">a\nMAK\nMA7K\n", 3, 3, "found '7'"}})
    try {
      ProteinGroups(context(), file("defect.fasta", defect.text), "trypsin", "");
      ADD_FAILURE() << defect.text;
    } catch (const ParseError& error) {
      EXPECT_EQ(error.place().line, defect.line) << error.what();
      EXPECT_EQ(error.place().column, defect.column) << error.what();
      EXPECT_NE(std::string(error.what()).find(defect.says), std::string::npos) << error.what();
    }
  EXPECT_THROW(ProteinGroups(context(), file("empty.fasta", "\n"), "trypsin", ""), Error);
}

/// Peptides of two proteins of one group count for the group; without the file they count for none.
TEST(Proteins, AreGroupsWithAFastaFile) {
  std::string pin = "SpecId\tLabel\tScanNr\tx\ty\tPeptide\tProteins\n";
  std::string fasta;
  // A letter for each digit, so that every protein has peptides of its own.
  const auto word = [](int number, char first) {
    std::string text(1, first);
    for (int k = 0; k < 6; ++k, number /= 10) text += static_cast<char>('A' + number % 10);
    return text;
  };
  for (int i = 0; i < 400; ++i) {
    const bool correct = i % 2 == 0;
    const std::string protein = "P" + std::to_string(i);
    fasta += ">" + protein + "\n" + word(i, 'L') + "K" + word(i, 'M') + "K\n>" + protein + "b\n" + word(i, 'L') + "K\n";
    for (const bool target : {true, false}) {
      const std::string name = target ? protein : "decoy_" + protein;
      const double x = (target && correct ? 5 : 0) + (i * 37 % 100) / 50.0 + (target == (i / 2 % 2 == 0) ? 0.001 : 0);
      pin += "s" + std::to_string(i) + (target ? "t" : "d") + "\t" + (target ? "1" : "-1") + "\t" +
             std::to_string(2 * i + (target ? 1 : 0)) + "\t" + std::to_string(x) + "\t" + std::to_string(i % 7) +
             "\tK." + word(i, target ? 'L' : 'D') + "K.R\t" + name + "\t" + name + "b\n";
    }
  }
  RescoreOptions options;
  options.proteins = true;
  options.iterations = 2;
  const auto path = file("run.pin", pin);
  EXPECT_TRUE(rescore_psms<double>(context(), {path}, options).proteins.empty());
  options.fasta = file("run.fasta", fasta);
  const auto result = rescore_psms<double>(context(), {path}, options);
  // One protein of each pair: a target or its decoy.
  EXPECT_EQ(result.proteins.size(), 400U);
  std::int64_t accepted = 0;
  for (const auto& protein : result.proteins) {
    EXPECT_NE(protein.name.find(','), std::string::npos);
    accepted += protein.target && protein.q < 0.01 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(accepted), 200, 10);
  RescoreOptions wrong = options;
  wrong.enzyme = "scissors";
  EXPECT_THROW(rescore_psms<double>(context(), {path}, wrong), UsageError);
  wrong = options;
  wrong.proteins = false;
  EXPECT_THROW(rescore_psms<double>(context(), {path}, wrong), UsageError);
}

}  // namespace rescore_proteins_test
}  // namespace sheaf::rescore

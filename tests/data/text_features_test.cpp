// Columns of text in CSV files: nominal features; dates, ids and remarks left out with a note; and datasets that are
// read for a model, whose columns are known.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/io.hpp>
#include <sheaf/model.hpp>
#include <sheaf/solvers/linear.hpp>

#include "data/read/reading.hpp"
#include "data/read/text_features.hpp"

namespace sheaf::test {
namespace text_features_test {

using Names = std::vector<std::string>;

Dataset<double> parse(const std::string& text, ReadOptions options = {}, int threads = 1,
                      std::int64_t chunk_bytes = 1 << 20) {
  options.format = "csv";
  return parse_chunked<double>(Context({.threads = threads}), text, "t.csv", options, chunk_bytes);
}

std::string error_of(const std::string& text, const ReadOptions& options = {}) {
  try {
    parse(text, options);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Twelve rows of a clinical table.
std::string trial(bool with_gaps = false) {
  std::string text = "id,when,age,site,remark,outcome\n";
  const Names sites{"west", "east", "north"};
  for (int i = 0; i < 12; ++i)
    text += "P" + std::to_string(100 + i) + ",2021-03-" + std::to_string(10 + i) + "," + std::to_string(30 + i) + "," +
            (with_gaps && i == 4 ? std::string() : sites[static_cast<std::size_t>(i) % 3]) + ",\"says, " +
            std::to_string(i) + "\"," + (i % 2 == 0 ? "sick" : "well") + "\n";
  return text;
}

TEST(TextFeatures, AreLevelsInSortedOrder) {
  const auto dataset = parse(trial());
  EXPECT_EQ(dataset.feature_names, (Names{"age", "site"}));
  ASSERT_EQ(dataset.levels.size(), 2U);
  EXPECT_TRUE(dataset.levels[0].empty());
  EXPECT_EQ(dataset.levels[1], (Names{"east", "north", "west"}));
  const auto& x = std::get<DenseMatrix<double>>(dataset.x);
  EXPECT_EQ(x.values[1], 2) << "west";
  EXPECT_EQ(x.values[3], 0) << "east";
}

TEST(TextFeatures, DatesIdsAndRemarksAreLeftOutWithANote) {
  std::string notes;
  for (const auto& note : parse(trial()).notes) notes += note + "\n";
  for (const auto* part : {"'id'", "all different", "'when'", "dates", "'remark'", "site (3 levels)"})
    EXPECT_TRUE(holds(notes, part)) << part << " in\n" << notes;
}

TEST(TextFeatures, CanBeTakenAllTheSame) {
  ReadOptions options;
  options.nominal = {"id"};
  EXPECT_EQ(parse(trial(), options).levels[0].size(), 12U);
}

TEST(TextFeatures, NumbersCanBeLevels) {
  ReadOptions options;
  options.nominal = {"site"};
  const auto dataset = parse("site,y\n3,0\n1,1\n3.0,0\n2,1\n", options);
  EXPECT_EQ(dataset.levels[0], (Names{"1", "2", "3"}));
}

TEST(TextFeatures, DoNotDependOnThreadsAndChunks) {
  const auto text = trial(true);
  ReadOptions options;
  options.missing = Missing::keep;
  const auto one = parse(text, options);
  for (const std::int64_t bytes : {1, 40, 1 << 20}) {
    const auto other = parse(text, options, 3, bytes);
    EXPECT_EQ(other.levels, one.levels);
    EXPECT_EQ(other.notes, one.notes);
    const auto& a = std::get<DenseMatrix<double>>(one.x);
    const auto& b = std::get<DenseMatrix<double>>(other.x);
    for (std::int64_t k = 0; k < a.values.size(); ++k)
      EXPECT_TRUE(a.values[k] == b.values[k] || (std::isnan(a.values[k]) && std::isnan(b.values[k])));
  }
}

TEST(TextFeatures, AMissingLevelIsAnErrorOrFilledIn) {
  EXPECT_TRUE(holds(error_of(trial(true)), "the value of column 4 ('site') is missing"));
  ReadOptions options;
  options.missing = Missing::most_frequent;
  const auto dataset = parse(trial(true), options);
  EXPECT_EQ(std::get<DenseMatrix<double>>(dataset.x).values[4 * 2 + 1], 1) << "north, of which there are most";
}

TEST(TextFeatures, NumbersAndTextsInOneColumnAreAnErrorWithItsPlace) {
  const auto message = error_of("weight,y\n1,0\n2,1\nfive,0\n");
  EXPECT_TRUE(holds(message, "t.csv:4:1: a number expected in column 1 ('weight'), found 'five'")) << message;
  EXPECT_TRUE(holds(message, "--nominal weight")) << message;
  std::string late = "weight,y\n";
  for (int i = 0; i < 500; ++i) late += std::to_string(i) + ",1\n";
  EXPECT_TRUE(holds(error_of(late + "five,0\n"), "t.csv:502:1: "));
  EXPECT_TRUE(holds(error_of("weight,y\nfive,0\n2,1\n"), "t.csv:2:1: ")) << "in the first rows, too";
}

TEST(TextFeatures, NumbersCalledIdAreLeftOutWhereAllAreDifferentOrSayWhoseRowsTheyAre) {
  std::string ids = "patient_id,x,y\n";
  std::string repeats = ids;
  std::string codes = "site_id,x,y\n";
  for (int i = 0; i < 12; ++i) {
    ids += std::to_string(1000 + i) + "," + std::to_string(i % 3) + "," + std::to_string(i % 2) + "\n";
    const auto again = std::to_string(i % 4) + "," + std::to_string(i % 3) + "," + std::to_string(i % 2) + "\n";
    repeats += again;
    codes += again;
  }
  EXPECT_EQ(parse(ids).feature_names, Names{"x"});
  EXPECT_EQ(parse(ids).notes.size(), 1U);
  EXPECT_EQ(parse(repeats).feature_names, Names{"x"}) << "they say whose rows they are";
  EXPECT_EQ(parse(codes).features(), 2);
}

TEST(TextFeatures, AColumnOfSubjectsIsOfferedAsGroups) {
  std::string text = "subject,y\n";
  for (int i = 0; i < 12; ++i) text += (i % 3 == 0 ? "anna," : "bert,") + std::to_string(i % 2) + "\n";
  bool said = false;
  for (const auto& note : parse(text).notes) said |= holds(note, "--group subject");
  EXPECT_TRUE(said);
}

TEST(TextFeatures, DatesAreKnownByTheirShape) {
  for (const auto* text :
       {"2021-03-14", "2021/3/4", "14.3.2021", "3/14/21", "2021-03-14T12:30:01Z", "14.03.2021 08:15"})
    EXPECT_TRUE(is_date(text)) << text;
  for (const auto* text : {"", "2021", "1.5", "1.2.3.4", "2021-03", "a-b-c", "12-1-", "2021-03-14x", "192.168.1.1"})
    EXPECT_FALSE(is_date(text)) << text;
}

TEST(Header, AFileWithoutOneSaysWhichColumnIsTheLabel) {
  const auto dataset = parse("1,2,0\n3,4,1\n");
  ASSERT_EQ(dataset.notes.size(), 1U);
  EXPECT_TRUE(holds(dataset.notes[0], "no names")) << dataset.notes[0];
  EXPECT_TRUE(holds(dataset.notes[0], "the last, 3")) << dataset.notes[0];
  EXPECT_TRUE(parse("a,b,y\n1,2,0\n3,4,1\n").notes.empty());
}

/// A table that a model of age, sex and site predicts.
KnownColumns known() { return {3, {"age", "sex", "site"}, {{}, {"f", "m"}, {"1", "2"}}, "outcome"}; }

TEST(KnownColumns, AreFoundByNameAndOthersLeftOutWithANote) {
  ReadOptions options;
  options.known = known();
  const auto dataset = parse("outcome,remark,site,age,sex\nsick,hm,2,30,m\nwell,x y,1,40,f\n", options);
  EXPECT_EQ(dataset.feature_names, (Names{"site", "age", "sex"}));
  EXPECT_EQ(dataset.target.name, "outcome");
  EXPECT_EQ(dataset.levels[0], (Names{"1", "2"})) << "numbers that were levels are levels";
  ASSERT_EQ(dataset.notes.size(), 1U);
  EXPECT_TRUE(holds(dataset.notes[0], "remark"));
}

TEST(KnownColumns, WithoutTheLabelThereIsNone) {
  ReadOptions options;
  options.known = known();
  const auto dataset = parse("site,age,sex\n2,30,m\n", options);
  EXPECT_TRUE(dataset.target.empty());
  EXPECT_EQ(dataset.features(), 3);
}

TEST(KnownColumns, WithoutNamesTheNumberOfColumnsDecides) {
  ReadOptions options;
  options.known = KnownColumns{.count = 2};
  EXPECT_EQ(parse("1,2\n3,4\n", options).features(), 2);
  EXPECT_TRUE(parse("1,2\n3,4\n", options).target.empty());
  EXPECT_EQ(parse("1,2,0\n3,4,1\n", options).target.rows(), 2);
}

TEST(KnownColumns, ANumberIsExpectedWhereTheModelHasNumbers) {
  ReadOptions options;
  options.known = known();
  EXPECT_TRUE(holds(error_of("site,age,sex\n2,old,m\n", options), "a number expected in column 2 ('age')"));
}

TEST(KeptColumns, AreCarriedAlongAsWritten) {
  ReadOptions options;
  options.keep = {"id", "outcome"};
  const auto kept = parse(trial(), options).kept;
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].name, "id");
  EXPECT_EQ(kept[0].values[3], "P103");
  EXPECT_EQ(kept[1].values[0], "sick");
}

TEST(RawTables, GiveTheSamePredictionsInWhateverOrderColumnsStand) {
  const auto dataset = parse(trial());
  const auto model = fit(Context(), dataset, LinearOptions{});
  ReadOptions options;
  options.known = model.known_columns();
  const auto one_row = parse("site,extra,age\nnorth,7,33\n", options);
  const auto all = model.predict(Context(), dataset);
  const auto one = model.predict(Context(), one_row);
  EXPECT_EQ(one.rows, 1);
  std::size_t row = 0;  // age 33 is row 3, of the site west
  const auto west = parse("site,age\nwest,33\n", options);
  row = 3;
  EXPECT_DOUBLE_EQ(model.predict(Context(), west).decisions[0], all.decisions[row]);
  EXPECT_NE(one.decisions[0], all.decisions[row]);
}

TEST(RawTables, ValuesOnAnotherScaleAreWarnedOf) {
  const auto dataset = parse(trial());
  const auto model = Model::parse(fit(Context(), dataset, LinearOptions{}).text(), "file");
  ReadOptions options;
  options.known = model.known_columns();
  EXPECT_TRUE(model.predict(Context(), parse("site,age\nwest,33\n", options)).warnings.empty());
  const auto warnings = model.predict(Context(), parse("site,age\nwest,3300\n", options)).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(holds(warnings[0], "'age'")) << warnings[0];
}

}  // namespace text_features_test
}  // namespace sheaf::test

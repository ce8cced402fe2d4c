// The quick way for bytes and two classes gives the bits of the plain one.
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "information/count/small_pairs.hpp"

namespace sheaf::information {
namespace information_small_test {

struct SmallTable {
  std::int64_t rows, states, features = 9;
  std::vector<std::uint32_t> classes;
  std::vector<std::uint8_t> codes;

  SmallTable(std::int64_t row_count, std::int64_t state_count) : rows(row_count), states(state_count) {
    Random random(17, static_cast<std::uint64_t>(rows * 1000 + states));
    for (std::int64_t i = 0; i < rows; ++i)
      classes.push_back(i < 2 ? static_cast<std::uint32_t>(i) : static_cast<std::uint32_t>(random.below(2)));
    // Squares crowd the lower states, so that counts are large there.
    for (std::int64_t e = 0; e < rows * features; ++e) {
      const double u = random.uniform();
      codes.push_back(static_cast<std::uint8_t>(u * u * static_cast<double>(states)));
    }
  }
  std::vector<std::uint32_t> column(std::int64_t j) const {
    return {codes.begin() + j * rows, codes.begin() + (j + 1) * rows};
  }
};

class SmallPairs : public testing::TestWithParam<std::pair<int, int>> {};

void expect_same_bits(const SmallTable& table, std::span<const std::uint32_t> weights) {
  OrderedRows rows;
  rows.weights = weights;
  rows.classes = {table.classes, 2};
  rows.finish();
  const SmallRows small(rows);
  ASSERT_TRUE(small.apply());
  OrderedCounter plain;
  SmallCounter quick;
  const OrderedPartner partner = plain.prepare(rows, table.column(0), table.states);
  std::vector<std::uint16_t> scaled;
  for (const std::uint32_t code : partner.codes) scaled.push_back(static_cast<std::uint16_t>(code * table.states));
  const SmallGroups alone(partner.codes, table.states, weights);
  const SmallGroups with_class(partner.with_class, partner.with_class_states, weights);
  const FeatureGroups groups(small, table.codes.data(), table.features, false, 2);
  const FeatureGroups class_groups(small, table.codes.data(), table.features, true, 2);
  const auto sorted = sort_rows(table.codes.data(), table.rows, table.features, 2);
  for (std::int64_t j = 1; j < table.features; j += 4) {
    SmallPair pairs[SmallCounter::together];
    for (int k = 0; k < 4; ++k) pairs[k] = {scaled.data(), table.codes.data() + (j + k) * table.rows};
    PairTerms with_entropy[SmallCounter::together];
    PairTerms without[SmallCounter::together];
    quick.joint(small, pairs, true, with_entropy);
    quick.joint(small, pairs, false, without);
    for (int k = 0; k < 4; ++k) {
      const auto candidate = table.column(j + k);
      const PairTerms expected =
          plain.terms(rows, partner, {candidate, table.states},
                      joint_with_class | joint_entropy | relevance_beyond | between | between_in_class);
      EXPECT_EQ(with_entropy[k].joint_with_class, expected.joint_with_class);
      EXPECT_EQ(with_entropy[k].joint_entropy, expected.joint_entropy);
      EXPECT_EQ(without[k].joint_with_class, expected.joint_with_class);
      const double beyond = quick.beyond(small, pairs[k], sorted.data() + (j + k) * table.rows, alone, with_class);
      EXPECT_EQ(beyond, expected.relevance_beyond);
      EXPECT_EQ(quick.between(small, rows.terms, pairs[k], alone, groups.of(j + k)), expected.between);
      EXPECT_EQ(partner.entropy_in_class - quick.partner_given(small, pairs[k], alone, class_groups.of(j + k)),
                expected.between_in_class);
    }
  }
}

TEST_P(SmallPairs, HaveTheBitsOfOrderedOnes) { expect_same_bits(SmallTable(GetParam().first, GetParam().second), {}); }

TEST_P(SmallPairs, HaveTheBitsOfOrderedOnesInResamples) {
  const SmallTable table(GetParam().first * 5 / 8, GetParam().second);
  std::vector<std::uint32_t> weights;
  for (std::int64_t i = 0; i < table.rows; ++i) weights.push_back(static_cast<std::uint32_t>(1 + i % 7 / 4));
  if (table.rows >= 2) expect_same_bits(table, weights);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SmallPairs,
                         testing::Values(std::pair(2, 2), std::pair(62, 64), std::pair(97, 3), std::pair(97, 256),
                                         std::pair(255, 1), std::pair(255, 40)));

TEST(SmallRowsTest, LeavesOtherTablesAlone) {
  const std::vector<std::uint32_t> three{0, 1, 2};
  OrderedRows rows;
  rows.classes = {three, 3};
  rows.finish();
  EXPECT_FALSE(SmallRows(rows).apply());
  const std::vector<std::uint32_t> many(256, 0);
  rows = {};
  rows.classes = {many, 2};
  rows.finish();
  EXPECT_FALSE(SmallRows(rows).apply());
}

}  // namespace information_small_test
}  // namespace sheaf::information

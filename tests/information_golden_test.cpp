// Picks and scores of FEAST itself, on tables made for the purpose and on real ones, on every device in
// SHEAF_TEST_DEVICES. The results lie in shared/oracles beside the sources; where they are absent, the tests say so.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sheaf/io.hpp>
#include <sheaf/selection.hpp>

#include "binned_tables.hpp"
#include "core/fail.hpp"
#include "devices.hpp"

namespace sheaf {
namespace {

std::string shared(const std::string& path) { return std::string(SHEAF_TESTS_DIR) + "/../../shared/" + path; }

struct Golden {
  test::Columns columns;
  std::vector<std::int64_t> classes;
  nlohmann::json answer;
};

nlohmann::json read_json(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

Golden read_states(const std::string& name) {
  Golden golden;
  std::ifstream file(shared("oracles/information/" + name + ".csv"));
  for (std::string line; std::getline(file, line);) {
    std::vector<std::int64_t> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(std::stoll(cell));
    golden.columns.resize(cells.size() - 1);
    for (std::size_t j = 0; j + 1 < cells.size(); ++j) golden.columns[j].push_back(cells[j]);
    golden.classes.push_back(cells.back());
  }
  golden.answer = read_json(shared("oracles/information/" + name + ".json"));
  return golden;
}

/// Equal width, as the oracle's page says.
std::vector<std::int64_t> equal_width(const std::vector<double>& column, int bins) {
  const auto [low, high] = std::minmax_element(column.begin(), column.end());
  std::vector<std::int64_t> codes;
  for (const double x : column)
    codes.push_back(*high > *low
                        ? std::min<std::int64_t>(
                              bins - 1, static_cast<std::int64_t>(std::floor((x - *low) * (bins / (*high - *low)))))
                        : 0);
  return codes;
}

Golden read_real(const std::string& name, int bins) {
  Golden golden;
  golden.answer = read_json(shared("oracles/information/real/" + name + ".json"));
  ReadOptions options;
  options.storage = Storage::dense;
  options.features = golden.answer["p"];
  const auto data = read_dataset<double>(Context(), shared("data/" + name + "/train.libsvm.xz"), options);
  const auto& x = std::get<DenseMatrix<double>>(data.x);
  for (std::int64_t j = 0; j < x.columns; ++j) {
    std::vector<double> column;
    for (std::int64_t i = 0; i < x.rows; ++i) column.push_back(x.values[i * x.columns + j]);
    golden.columns.push_back(equal_width(column, bins));
  }
  std::vector<double> values;
  for (const std::string& label : data.target.class_names) values.push_back(std::stod(label));
  for (const std::int32_t id : data.target.classes)
    golden.classes.push_back(std::count_if(values.begin(), values.end(),
                                           [&](double v) { return v < values[static_cast<std::size_t>(id)]; }));
  return golden;
}

void expect_picks(const std::string& criterion, const nlohmann::json& wanted, const Selection& got) {
  std::size_t count = 0;
  // FEAST goes on with feature -1 (cmi) or feature 0 again (jmi, disr) when nothing scores above 0; Sheaf stops.
  while (count < wanted["selected"].size() && wanted["selected"][count].get<int>() >= 0) ++count;
  ASSERT_EQ(got.selected.size(), count) << criterion;
  for (std::size_t k = 0; k < count; ++k) {
    ASSERT_EQ(got.selected[k].index, wanted["selected"][k].get<std::int64_t>()) << criterion << " pick " << k;
    const double score = wanted["scores"][k];
    ASSERT_LE(std::abs(got.selected[k].score - score), 1e-12 * std::max(1.0, std::abs(score)))
        << criterion << " score " << k;
  }
}

void expect_golden(const Golden& golden) {
  const auto rows = static_cast<std::int64_t>(golden.classes.size());
  ASSERT_EQ(rows, golden.answer["n"].get<std::int64_t>());
  ASSERT_EQ(std::ssize(golden.columns), golden.answer["p"].get<std::int64_t>());
  const BinnedTable dense = test::dense_table(golden.columns, rows);
  const BinnedTable sparse = test::sparse_table(golden.columns, rows);
  const BinnedTarget target = test::target_of(golden.classes);
  for (const Device device : test::devices())
    for (const BinnedTable* table : {&dense, &sparse})
      for (const auto& [criterion, wanted] : golden.answer["results"].items()) {
        if (find_criterion(criterion).numeric) continue;
        SCOPED_TRACE(fmt::format("{} {} {}", to_string(device), table == &dense ? "dense" : "sparse", criterion));
        Context::Options context;
        context.device = device;
        SelectionOptions options;
        options.criterion = criterion;
        options.count = criterion == "fcbf" ? std::ssize(golden.columns) : golden.answer["k"].get<std::int64_t>();
        options.beta = golden.answer["beta"];
        options.gamma = golden.answer["gamma"];
        options.threshold = golden.answer["fcbf_threshold"];
        expect_picks(criterion, wanted, select_features(Context(context), *table, target, options));
      }
}

class MadeTables : public testing::TestWithParam<const char*> {};
TEST_P(MadeTables, ArePickedFromAsFeastDoes) {
  if (!std::filesystem::exists(shared("oracles/information")))
    GTEST_SKIP() << "FEAST's results are not beside the sources: no " << shared("oracles/information");
  expect_golden(read_states(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Feast, MadeTables, testing::Values("a_300x40_c2_b5", "b_97x500_c2_b64", "c_1000x60_c5_b16"));

struct RealTable {
  const char* name;
  int bins;
};
class RealTables : public testing::TestWithParam<RealTable> {};
TEST_P(RealTables, ArePickedFromAsFeastDoes) {
  if (!std::filesystem::exists(shared("oracles/information/real")) || !std::filesystem::exists(shared("data")))
    GTEST_SKIP() << "FEAST's results on real tables, or the tables, are not beside the sources";
  expect_golden(read_real(GetParam().name, GetParam().bins));
}
INSTANTIATE_TEST_SUITE_P(Feast, RealTables,
                         testing::Values(RealTable{"colon-cancer", 64}, RealTable{"leukemia", 64},
                                         RealTable{"srbct_khan", 16}, RealTable{"madelon", 20},
                                         RealTable{"mushrooms", 4}, RealTable{"digits8x8", 17}),
                         [](const auto& table) {
                           std::string name = table.param.name;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace sheaf

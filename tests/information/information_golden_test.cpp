// Features and scores that FEAST itself selects, on datasets made for the purpose and on real ones, on every device in
// SHEAF_TEST_DEVICES. More real datasets and their results are in shared/ beside some checkouts; without them those
// tests are skipped with a message.
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/io.hpp>
#include <sheaf/selection.hpp>

#include "binned_tables.hpp"
#include "core/fail.hpp"
#include "devices.hpp"
#include "golden.hpp"

namespace sheaf {
namespace information_golden_test {

struct Golden {
  test::Columns columns;
  std::vector<std::int64_t> classes;
  nlohmann::json answer;
};

Golden read_states(const std::string& name) {
  Golden golden;
  for (const auto& line : test::lines_of(test::contents(test::golden("feast/" + name + ".csv")))) {
    std::vector<std::int64_t> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(std::stoll(cell));
    golden.columns.resize(cells.size() - 1);
    for (std::size_t j = 0; j + 1 < cells.size(); ++j) golden.columns[j].push_back(cells[j]);
    golden.classes.push_back(cells.back());
  }
  golden.answer = test::read_json(test::golden("feast/" + name + ".json"));
  return golden;
}

/// Equal width, as the oracle's page defines it.
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

/// FEAST's results on a real dataset; empty if there are none.
std::string find_results(const std::string& name) {
  for (const std::string& path : {test::golden("feast/" + name + ".json"),
                                  SHEAF_TESTS_DIR "/../../shared/oracles/information/real/" + name + ".json"})
    if (std::filesystem::exists(path)) return path;
  return {};
}

Golden read_real(const std::string& name, int bins) {
  Golden golden;
  golden.answer = test::read_json(find_results(name));
  ReadOptions options;
  options.storage = Storage::dense;
  options.features = golden.answer["p"];
  const auto data = read_dataset<double>(Context(), test::find_data(name), options);
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

class GeneratedDatasets : public testing::TestWithParam<const char*> {};
TEST_P(GeneratedDatasets, SelectTheSameFeatures) { expect_golden(read_states(GetParam())); }
INSTANTIATE_TEST_SUITE_P(Feast, GeneratedDatasets,
                         testing::Values("a_300x40_c2_b5", "b_97x500_c2_b64", "c_1000x60_c5_b16"));

struct RealDataset {
  const char* name;
  int bins;
};
class RealDatasets : public testing::TestWithParam<RealDataset> {};
TEST_P(RealDatasets, SelectTheSameFeatures) {
  if (find_results(GetParam().name).empty() || test::find_data(GetParam().name).empty())
    GTEST_SKIP() << "shared/ with FEAST's results and larger datasets is not beside this checkout";
  expect_golden(read_real(GetParam().name, GetParam().bins));
}
INSTANTIATE_TEST_SUITE_P(Feast, RealDatasets,
                         testing::Values(RealDataset{"colon-cancer", 64}, RealDataset{"leukemia", 64},
                                         RealDataset{"srbct_khan", 16}, RealDataset{"madelon", 20},
                                         RealDataset{"mushrooms", 4}, RealDataset{"digits8x8", 17}),
                         [](const auto& table) {
                           std::string name = table.param.name;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace information_golden_test
}  // namespace sheaf

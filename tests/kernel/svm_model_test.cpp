// SVMs as models: written models are read back unchanged, and predictions follow from the numbers of a file, by plain
// loops over them.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/solvers/svm.hpp>

#include "core/fail.hpp"
#include "devices.hpp"
#include "kernel/model/c_random.hpp"
#include "kernel/model/platt.hpp"
#include "linear_tables.hpp"
#include "model_text.hpp"
#include "svm_reference.hpp"

namespace sheaf::test {
namespace svm_model_test {

struct Case {
  SvmKind kind;
  int classes;
  KernelType kernel = KernelType::rbf;
  MultiClass multi_class = MultiClass::one_vs_one;
  bool probabilities = false;
};

const std::vector<Case> cases{
    {SvmKind::c_svc, 2},
    {SvmKind::c_svc, 2, KernelType::linear, MultiClass::one_vs_one, true},
    {SvmKind::c_svc, 4, KernelType::polynomial},
    {SvmKind::c_svc, 4, KernelType::rbf, MultiClass::one_vs_one, true},
    {SvmKind::c_svc, 3, KernelType::rbf, MultiClass::one_vs_rest, true},
    {SvmKind::nu_svc, 3, KernelType::sigmoid},
    {SvmKind::one_class, 2},
    {SvmKind::one_class, 2, KernelType::rbf, MultiClass::one_vs_one, true},
    {SvmKind::epsilon_svr, 0, KernelType::rbf, MultiClass::one_vs_one, true},
    {SvmKind::nu_svr, 0, KernelType::linear},
};

SvmOptions options_of(const Case& one) {
  SvmOptions options;
  options.kind = one.kind;
  options.kernel = one.kernel;
  options.degree = 2;
  options.gamma = one.kernel == KernelType::sigmoid ? 0.02 : 0.1;
  options.coef0 = one.kernel == KernelType::polynomial ? 1 : 0;
  options.multi_class = one.multi_class;
  options.probabilities = one.probabilities;
  options.nu = 0.2;
  return options;
}

std::string name_of(const Case& one) {
  return fmt::format("{} {} {} classes", to_string(one.kind), to_string(one.kernel), one.classes);
}

/// Decision values from the model's own numbers, one plain loop for each.
std::vector<double> plain_decisions(const SvmModel& model, const Rows& queries) {
  Dataset<double> support;
  support.x = model.support.index() == 0
                  ? Matrix<double>(std::get<DenseMatrix<double>>(model.support).to(Device::cpu()))
                  : Matrix<double>(std::get<SparseMatrix<double>>(model.support).to(Device::cpu()));
  const auto vectors = rows_of(support);
  std::vector<double> decisions;
  for (const auto& query : queries)
    for (const auto& svm : model.svms) {
      double sum = -svm.rho;
      for (std::size_t k = 0; k < svm.rows.size(); ++k) {
        const auto row = static_cast<std::size_t>(svm.rows[k]);
        sum += svm.coefficients[k] * kernel_of(model.kernel, query, vectors[row], row);
      }
      decisions.push_back(sum);
    }
  return decisions;
}

template <class Check>
void for_cases(Check&& check) {
  for (const Device device : devices())
    for (const bool sparse : {false, true})
      for (const auto& one : cases) {
        SCOPED_TRACE(name_of(one) + (sparse ? " sparse " : " dense ") + to_string(device));
        const auto dataset = dataset_of<double>(make_table(150, 8, one.classes, 3), 8, sparse);
        check(one, dataset, on(device));
      }
}

TEST(SvmModel, PredictsWhatItsNumbersSay) {
  for_cases([](const Case& one, const Dataset<double>& dataset, const Context& context) {
    const auto model = train_svm(context, dataset, options_of(one));
    const auto predictions = predict_svm(context, model, dataset);
    const auto plain = plain_decisions(model, rows_of(dataset));
    ASSERT_EQ(predictions.decisions.size(), plain.size());
    double largest = 1;
    for (const double value : plain) largest = std::max(largest, std::abs(value));
    for (std::size_t k = 0; k < plain.size(); ++k) ASSERT_NEAR(predictions.decisions[k], plain[k], 2e-5 * largest) << k;
  });
}

TEST(SvmModel, SupportVectorsKnowTheirRows) {
  for_cases([](const Case& one, const Dataset<double>& dataset, const Context& context) {
    const auto model = train_svm(context, dataset, options_of(one));
    ASSERT_EQ(std::ssize(model.support_rows), model.support_vectors());
    const auto expected = take_rows(dataset, model.support_rows, 1);
    Dataset<double> support;
    std::visit([&](const auto& x) { support.x = x.to(Device::cpu()); }, model.support);
    EXPECT_EQ(rows_of(support), rows_of(expected));
  });
}

TEST(SvmModel, StepsAreLimited) {
  const auto dataset = dataset_of<double>(make_table(150, 8, 2, 3), 8, false);
  SvmOptions options;
  options.max_iterations = 3;
  for (const Device device : devices()) {
    const auto model = train_svm(on(device), dataset, options);
    EXPECT_FALSE(model.fits.front().converged) << to_string(device);
    EXPECT_EQ(warnings_of(model).size(), 1) << to_string(device);
  }
}

TEST(SvmModel, FilesReadBackTheSame) {
  for_cases([](const Case& one, const Dataset<double>& dataset, const Context& context) {
    const auto model = train_svm(context, dataset, options_of(one));
    for (const auto format : {ModelFile::sheaf, ModelFile::libsvm}) {
      if (format == ModelFile::libsvm && one.multi_class == MultiClass::one_vs_rest) continue;
      const auto text = format_model(model, format);
      const auto again = parse_svm(text, "model");
      EXPECT_EQ(format_model(again, format), text);
      const auto before = predict_svm(context, model, dataset, one.probabilities);
      const auto after = predict_svm(context, again, dataset, one.probabilities);
      EXPECT_EQ(before.classes, after.classes);
      for (std::size_t k = 0; k < before.decisions.size(); ++k)
        ASSERT_NEAR(before.decisions[k], after.decisions[k], 1e-6) << k;
      ASSERT_EQ(before.probabilities.size(), after.probabilities.size());
    }
  });
}

/// The numbers and names of LIBSVM's svm.h and svm.cpp.
TEST(SvmModel, KernelsHaveLibsvmsNumbersAndNames) {
  const std::vector<std::string> libsvm{"linear", "polynomial", "rbf", "sigmoid", "precomputed"};
  std::set<std::string_view> names;
  for (const auto& function : kernel_functions()) {
    EXPECT_TRUE(names.insert(function.name).second) << function.name << " stands twice";
    EXPECT_EQ(kernel_function(function.type).name, function.name);
    if (function.libsvm >= 0) {
      EXPECT_EQ(libsvm.at(static_cast<std::size_t>(function.libsvm)), function.name);
    }
  }
  for (const auto& name : libsvm) EXPECT_TRUE(names.contains(name)) << name;
}

TEST(SvmModel, NamesOfAnyKindSurvive) {
  auto dataset = dataset_of<double>(make_table(60, 4, 3, 5), 4, false);
  dataset.target.class_names = {"a b", "back\\slash", "new\nline"};
  dataset.feature_names = {"1:1", " lead", "", "ü,;"};
  const auto model = train_svm(Context(), dataset, {});
  const auto again = parse_svm(format_model(model, ModelFile::sheaf), "model");
  EXPECT_EQ(again.class_names, model.class_names);
  EXPECT_EQ(again.feature_names, model.feature_names);
  EXPECT_THROW(format_model(model, ModelFile::libsvm), Error);
  dataset.feature_names[1] = "other";
  EXPECT_THROW(predict_svm(Context(), model, dataset), Error);
}

/// The largest of one against the rest; of pairs the most votes, of equals the first class.
TEST(SvmModel, ChoosesByTheRule) {
  for (const auto rule : {ClassRule::automatic, ClassRule::votes, ClassRule::winner})
    for (const auto multi_class : {MultiClass::one_vs_one, MultiClass::one_vs_rest}) {
      const auto dataset = dataset_of<double>(make_table(200, 6, 4, 9), 6, false);
      SvmOptions options;
      options.rule = rule;
      options.multi_class = multi_class;
      const auto model = train_svm(Context(), dataset, options);
      const auto predictions = predict_svm(Context(), model, dataset);
      const bool rest = multi_class == MultiClass::one_vs_rest;
      const bool votes = rule == ClassRule::votes || (rule == ClassRule::automatic && !rest);
      const auto classes = model.class_names.size();
      for (std::size_t i = 0; i < static_cast<std::size_t>(predictions.rows); ++i) {
        std::vector<double> sums(classes, 0.0);
        const double* z = predictions.decisions.data() + i * static_cast<std::size_t>(predictions.columns);
        for (std::size_t a = 0; a < classes; ++a)
          for (std::size_t b = rest ? classes - 1 : a + 1; b < classes; ++b, ++z) {
            if (rest && votes)
              for (std::size_t c = 0; c < classes; ++c) sums[c] += (c == a) == (*z > 0) ? 1 : 0;
            else if (rest)
              sums[a] = *z;
            else if (votes)
              sums[*z > 0 ? a : b] += 1;
            else
              sums[a] += *z, sums[b] -= *z;
          }
        const auto best = std::max_element(sums.begin(), sums.end()) - sums.begin();
        ASSERT_EQ(predictions.classes[i], best) << i;
      }
    }
}

TEST(SvmModel, ARowOfWeightTwoIsTwoRows) {
  for (const Device device : devices()) {
    auto table = make_table(80, 5, 2, 11);
    const auto once = dataset_of<double>(table, 5, false);
    std::vector<float> weights(80, 1.0F);
    for (std::size_t i = 0; i < 80; i += 7) {
      weights[i] = 2;
      table.rows.push_back(table.rows[i]);
      table.labels.push_back(table.labels[i]);
    }
    const auto twice = dataset_of<double>(table, 5, false);
    SvmOptions options;
    options.tolerance = 1e-6;
    const auto weighted = predict_svm(on(device), train_svm(on(device), once, options, weights), once);
    const auto repeated = predict_svm(on(device), train_svm(on(device), twice, options), once);
    for (std::size_t k = 0; k < weighted.decisions.size(); ++k)
      ASSERT_NEAR(weighted.decisions[k], repeated.decisions[k], 1e-4) << k;
  }
}

TEST(SvmModel, APrecomputedKernelIsTheKernel) {
  for (const Device device : devices()) {
    const auto dataset = dataset_of<double>(make_table(90, 5, 3, 13), 5, false);
    const auto rows = rows_of(dataset);
    SvmOptions options;
    options.gamma = 0.2;
    options.tolerance = 1e-6;
    const auto direct = train_svm(on(device), dataset, options);
    Dataset<double> kernel;
    Rows values(rows.size(), std::vector<double>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < rows.size(); ++j) values[i][j] = kernel_of(direct.kernel, rows[i], rows[j], j);
    kernel.x = dense_of<double>(values, static_cast<std::int64_t>(rows.size()));
    kernel.target = target_of(make_table(90, 5, 3, 13).labels);
    options.kernel = KernelType::precomputed;
    const auto given = parse_svm(format_model(train_svm(on(device), kernel, options), ModelFile::libsvm), "model");
    const auto a = predict_svm(on(device), direct, dataset);
    const auto b = predict_svm(on(device), given, kernel);
    for (std::size_t k = 0; k < a.decisions.size(); ++k) ASSERT_NEAR(a.decisions[k], b.decisions[k], 1e-4) << k;
  }
}

TEST(SvmModel, OneClassAloneIsAlwaysItself) {
  auto table = make_table(20, 3, 2, 1);
  std::fill(table.labels.begin(), table.labels.end(), 7.0);
  const auto dataset = dataset_of<double>(table, 3, false);
  const auto model = train_svm(Context(), dataset, {});
  EXPECT_EQ(model.svms.size(), 0U);
  const auto again = parse_svm(format_model(model, ModelFile::libsvm), "model");
  EXPECT_EQ(score_of(again, predict_svm(Context(), again, dataset), dataset.target)->correct, 20);
}

TEST(SvmModel, WhatCannotBeTrainedIsSaid) {
  const auto dataset = dataset_of<double>(make_table(50, 4, 3, 2), 4, false);
  const auto says = [&](const SvmOptions& options, const std::vector<float>& weights, const std::string& part) {
    try {
      train_svm(Context(), dataset, options, weights);
    } catch (const Error& error) {
      return std::string(error.what()).find(part) != std::string::npos;
    }
    return false;
  };
  SvmOptions nu;
  nu.kind = SvmKind::nu_svc;
  nu.nu = 1;
  EXPECT_TRUE(says(nu, {}, "specified nu is infeasible"));
  SvmOptions weighted;
  weighted.class_weights = {{"9", 2.0}};
  EXPECT_TRUE(says(weighted, {}, "unknown class '9'"));
  EXPECT_TRUE(says({}, std::vector<float>(49, 1.0F), "49 row weights for 50 rows"));
  std::vector<float> without(50, 1.0F);
  for (std::size_t i = 0; i < 50; ++i)
    if (dataset.target.classes[i] == 1) without[i] = 0;
  EXPECT_TRUE(says({}, without, "no row of class"));
}

constexpr const char* sound =
    "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\nlabel 1 -1\nnr_sv 1 1\nSV\n"
    "1 1:0.5 2:1 \n-1 2:2 \n";

struct Defect {
  std::string from, to;  // replaced in the sound file
  std::string message;   // with its place
};

TEST(SvmModel, DefectsAreToldWithTheirPlace) {
  ASSERT_EQ(format_model(parse_svm(sound, "m"), ModelFile::libsvm), sound);
  const std::vector<Defect> defects{
      {"c_svc", "d_svc", "m:1:10: expected a type, one of c_svc"},
      {"rbf", "rbg", "m:2:13: expected a kernel"},
      {"gamma 0.5", "gamma", "m:3:6: expected gamma, a number, not the end of the line"},
      {"nr_class 2", "nr_class 0", "m:4:10: expected the number of classes"},
      {"rho 0.25", "rho nan", "m:6:5: expected rho"},
      {"rho 0.25", "rho 0.25 1", "m:6:10: expected the end of the line"},
      {"label 1 -1", "label 1", "m:7:8: expected a label"},
      {"nr_sv 1 1", "nr_sv 1 2", "m:9:1: nr_sv counts 3 support vectors, total_sv 2"},
      {"nr_sv 1 1\n", "", "no nr_sv"},
      {"kernel_type rbf\n", "", "no kernel_type"},
      {"gamma", "gama", "m:3:1: expected svm_type"},
      {"1 1:0.5", "x 1:0.5", "m:10:1: expected a coefficient"},
      {"1:0.5 2:1", "2:1 1:0.5", "m:10:7: the index 1 must be larger"},
      {"1:0.5", "0:0.5", "m:10:3: the index 0 must be larger"},
      {"1:0.5", "1:inf", "m:10:3: expected a feature as INDEX:VALUE"},
      {"1:0.5", "1=0.5", "m:10:3: expected a feature"},
      {"-1 2:2 \n", "", "m:11:1: expected a coefficient"},
      {"-1 2:2 \n", "-1 2:2 \n-1 2:2\n", "m:12:1: expected the end of the file"},
      {"SV\n", "", "m:9:1: expected svm_type"},
  };
  for (const auto& defect : defects) {
    std::string text = sound;
    text.replace(text.find(defect.from), defect.from.size(), defect.to);
    try {
      parse_svm(text, "m");
      ADD_FAILURE() << defect.from << " -> " << defect.to << " is taken";
    } catch (const ParseError& error) {
      EXPECT_NE(std::string(error.what()).find(defect.message), std::string::npos) << error.what();
    }
  }
}

/// No beginning of a file, and no file with a line less, is taken or ends in anything but a place.
TEST(SvmModel, TornFilesAreRefused) {
  const auto dataset = dataset_of<double>(make_table(40, 3, 3, 4), 3, true);
  SvmOptions options;
  options.probabilities = true;
  const auto model = train_svm(Context(), dataset, options);
  for (const auto format : {ModelFile::sheaf, ModelFile::libsvm}) {
    const auto text = format_model(model, format);
    for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
      try {
        const auto torn = parse_svm(std::string_view(text).substr(0, size), "m");
        // Only within the last line can a file be cut and still be whole.
        EXPECT_GT(size, text.rfind('\n', text.size() - 2)) << size;
      } catch (const ParseError&) {
      }
    }
  }
}

TEST(SvmModel, RandomNumbersAreThoseOfTheLibrary) {
  kernel::CRandom random(1);
  for (const int expected : {1804289383, 846930886, 1681692777, 1714636915, 1957747793})
    EXPECT_EQ(random.next(), expected);  // the numbers that every book prints
}

/// At the optimum no small change of the sigmoid makes the targets likelier.
TEST(SvmModel, SigmoidsAreTheMostLikely) {
  Random random(5);
  std::vector<double> z;
  std::vector<std::int8_t> sides;
  for (int i = 0; i < 200; ++i) {
    z.push_back(random.normal());
    sides.push_back(random.uniform() < 1 / (1 + std::exp(-2 * z.back() + 0.5)) ? 1 : -1);
  }
  const auto positive = static_cast<double>(std::count(sides.begin(), sides.end(), std::int8_t{1}));
  const auto loss = [&](double a, double b) {
    double sum = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double p = 1 / (1 + std::exp(a * z[i] + b));
      const double t = sides[i] > 0 ? (positive + 1) / (positive + 2) : 1 / (200 - positive + 2);
      sum -= t * std::log(p) + (1 - t) * std::log(1 - p);
    }
    return sum;
  };
  const auto best = fit_sigmoid(z, sides);
  EXPECT_LT(best.a, 0);
  for (const double step : {-1e-3, 1e-3}) {
    EXPECT_LT(loss(best.a, best.b), loss(best.a + step, best.b));
    EXPECT_LT(loss(best.a, best.b), loss(best.a, best.b + step));
  }
}

/// Pairs that agree with one distribution give it back.
TEST(SvmModel, CouplingFindsTheDistributionBehindPairs) {
  const std::vector<double> truth{0.5, 0.2, 0.2, 0.1};
  std::vector<double> pairs(16, 0.0);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      if (i != j) pairs[i * 4 + j] = truth[i] / (truth[i] + truth[j]);
  const auto found = kernel::couple(pairs, 4);
  for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(found[c], truth[c], 0.01);
}

}  // namespace svm_model_test
}  // namespace sheaf::test

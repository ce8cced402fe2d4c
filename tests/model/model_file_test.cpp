// Model files: what was written is read back to the last bit, LIBLINEAR's layout is met to the byte, and every defect
// is answered with its place.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <sheaf/error.hpp>
#include <sheaf/io.hpp>
#include <sheaf/model.hpp>
#include <sheaf/solvers/linear.hpp>

#include "model_text.hpp"

namespace sheaf::test {
namespace model_file_test {

using Names = std::vector<std::string>;

void expect_same_fits(const LinearModel& a, const LinearModel& b) {
  ASSERT_EQ(a.fits.size(), b.fits.size());
  for (std::size_t c = 0; c < a.fits.size(); ++c) {
    EXPECT_EQ(a.fits[c].objective, b.fits[c].objective);
    EXPECT_EQ(a.fits[c].gradient_norm, b.fits[c].gradient_norm);
    EXPECT_EQ(a.fits[c].tolerance, b.fits[c].tolerance);
    EXPECT_EQ(a.fits[c].iterations, b.fits[c].iterations);
    EXPECT_EQ(a.fits[c].products, b.fits[c].products);
    EXPECT_EQ(a.fits[c].converged, b.fits[c].converged);
  }
}

void expect_same(const LinearModel& a, const LinearModel& b) {
  EXPECT_EQ(a.solver, b.solver);
  EXPECT_EQ(a.class_names, b.class_names);
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.bias, b.bias);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.feature_names, b.feature_names);
  EXPECT_EQ(a.cost, b.cost);
  EXPECT_EQ(a.epsilon, b.epsilon);
  EXPECT_EQ(a.penalise_bias, b.penalise_bias);
  EXPECT_EQ(a.class_weights, b.class_weights);
  expect_same_fits(a, b);
}

LinearModel full_model() {
  LinearModel model;
  model.class_names = {"well", "", "a \\ b\nc\r d "};
  model.features = 4;
  model.columns = 3;
  model.bias = 0.1;
  model.penalise_bias = false;
  model.weights = {1.0 / 3, -2e-310, 5e300, 0, 0, 0, 1, -0.0, 2, 0.1, 0.2, 0.3, -1, -2, 1e-17};
  model.feature_names = {"height", "width of the leaf", "", "-"};
  model.cost = 0.7;
  model.epsilon = 0.01;
  model.class_weights = {1, 2.5, 1};
  for (int c = 0; c < 3; ++c) model.fits.push_back({1.1 / (c + 1), 1e-9, 2e-3, 4 + c, 17, c != 1});
  return model;
}

TEST(ModelFile, SheafsOwnIsReadBackExactly) {
  auto model = full_model();
  expect_same(parse_linear(format_model(model, ModelFile::sheaf), "m"), model);
  model.feature_names.clear();
  expect_same(parse_linear(format_model(model, ModelFile::sheaf), "m"), model);
  model.bias = 0;
  model.weights.resize(12);
  model.fits.clear();
  model.class_weights.clear();
  expect_same(parse_linear(format_model(model, ModelFile::sheaf), "m"), model);
}

TEST(ModelFile, SheafsOwnKeepsRegressionAndTwoColumnsOfTwoClasses) {
  LinearModel regression;
  regression.solver = "L2R_L2LOSS_SVR";
  regression.features = 2;
  regression.weights = {0.1, 0};
  expect_same(parse_linear(format_model(regression, ModelFile::sheaf), "m"), regression);
  LinearModel crammer;
  crammer.solver = "MCSVM_CS";
  crammer.class_names = {"1", "2"};
  crammer.features = 1;
  crammer.columns = 2;
  crammer.weights = {0.1, -0.1};
  expect_same(parse_linear(format_model(crammer, ModelFile::sheaf), "m"), crammer);
  expect_same(parse_linear(format_model(crammer, ModelFile::liblinear), "m"), crammer);
}

TEST(ModelFile, LiblinearsLayoutIsMetToTheByte) {
  LinearModel model;
  model.class_names = {"+1", "-1.0"};
  model.features = 2;
  model.bias = 1;
  model.weights = {0.1, -2, 0.5};
  EXPECT_EQ(format_model(model, ModelFile::liblinear),
            "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n0.10000000000000001 \n-2 \n0.5 \n");
  model.solver = "L2R_L2LOSS_SVR";
  model.class_names.clear();
  model.bias = 0;
  model.weights.resize(2);
  EXPECT_EQ(format_model(model, ModelFile::liblinear),
            "solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature 2\nbias -1\nw\n0.10000000000000001 \n-2 \n");
}

TEST(ModelFile, LiblinearsIsReadBackExactly) {
  LinearModel model;
  model.solver = "L2R_L2LOSS_SVC";
  model.class_names = {"3", "-7", "0"};
  model.features = 2;
  model.columns = 3;
  model.bias = 0.3;
  model.weights = {1.0 / 3, -2e-310, 5e300, 0, 0.1, 2, -1, -2, 1e-17};
  expect_same(parse_linear(format_model(model, ModelFile::liblinear), "m"), model);
}

LinearModel net_model() {
  LinearModel model;
  model.solver = "ELASTIC_NET_LOGISTIC";
  model.class_names = {"sick", "well"};
  model.features = 4;
  model.bias = 1;
  model.penalise_bias = false;
  model.weights = {0, 0.1, 0, -1.0 / 3, 0.25};
  model.feature_names = {"", "b", "", "d \\ e"};
  model.net = NetTraining{0.02, 0.5, true, {{0.3, 1e-5, 1e-4, 2, 17, 1, true}}};
  return model;
}

TEST(ModelFile, ANetKeepsOnlyTheFeaturesThatItUses) {
  const auto model = net_model();
  const auto text = format_model(model, ModelFile::sheaf);
  EXPECT_NE(text.find("names used\n"), std::string::npos);
  EXPECT_NE(text.find("\nalpha 0.02 l1-ratio 0.5 standardised\n"), std::string::npos);
  EXPECT_NE(text.find("\nweights 2\n2 0.1 b\n4 "), std::string::npos) << text;
  const auto back = parse_linear(text, "m");
  expect_same(back, model);
  ASSERT_TRUE(back.net);
  EXPECT_EQ(back.net->alpha, 0.02);
  EXPECT_EQ(back.net->l1_ratio, 0.5);
  EXPECT_TRUE(back.net->standardised);
  ASSERT_EQ(back.net->fits.size(), 1U);
  const auto& fit = back.net->fits[0];
  EXPECT_EQ(fit.objective, 0.3);
  EXPECT_EQ(fit.gap, 1e-5);
  EXPECT_EQ(fit.tolerance, 1e-4);
  EXPECT_EQ(fit.nonzeros, 2);
  EXPECT_EQ(fit.epochs, 17);
  EXPECT_TRUE(fit.converged);
  EXPECT_EQ(format_model(back, ModelFile::sheaf), text);
}

TEST(ModelFile, DefectsOfANetAreNamedWithTheirPlace) {
  const auto text = without_checksum(format_model(net_model(), ModelFile::sheaf));
  const auto complaint = [&](const std::string& from, const std::string& to) {
    auto damaged = text;
    damaged.replace(damaged.find(from), from.size(), to);
    try {
      parse_linear(damaged, "m");
    } catch (const ParseError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_NE(complaint("names used", "names yes").find("m:8:7: expected no or used"), std::string::npos)
      << complaint("names used", "names yes");
  EXPECT_NE(complaint("alpha 0.02", "alpha -1").find("m:10:7"), std::string::npos);
  EXPECT_NE(complaint("alpha 0.02", "cost 1").find("'alpha'"), std::string::npos);
  EXPECT_NE(complaint("standardised", "scaled").find("plain or standardised"), std::string::npos);
  EXPECT_NE(complaint("epochs", "steps").find("'epochs'"), std::string::npos);
  EXPECT_NE(complaint("\n4 ", "\n2 ").find("expected feature 3 or a later one"), std::string::npos);
  EXPECT_NE(complaint("\n4 ", "\n5 ").find("expected feature 3 or a later one"), std::string::npos);
}

TEST(ModelFile, LiblinearsOtherSolversAreRead) {
  const std::string rest = "\nnr_class 2\nlabel 5 2\nnr_feature 1\nbias -1\nw\n0.5 \n";
  for (const auto& solver : linear_solvers()) {
    if (solver.regression || solver.net() || solver.glm() || solver.name == "MCSVM_CS" || solver.name == "ONECLASS_SVM")
      continue;
    const auto model = parse_linear("solver_type " + std::string(solver.name) + rest, "m");
    EXPECT_EQ(model.solver, solver.name);
    EXPECT_EQ(model.class_names, (Names{"5", "2"}));
    EXPECT_EQ(model.weights, std::vector<double>{0.5});
    EXPECT_EQ(model.has_probabilities(), solver.name.find("_LR") != std::string::npos) << solver.name;
  }
  for (const char* name : {"L2R_L2LOSS_SVR_DUAL", "L2R_L1LOSS_SVR_DUAL"}) {
    const auto model =
        parse_linear("solver_type " + std::string(name) + "\nnr_class 2\nnr_feature 1\nbias -1\nw\n2 \n", "m");
    EXPECT_TRUE(model.is_regression());
    EXPECT_TRUE(model.class_names.empty());
  }
  // A bias of 0 has weights that nothing depends on.
  const auto model = parse_linear("solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias 0\nw\n2\n9\n", "m");
  EXPECT_EQ(model.weights, std::vector<double>{2});
  EXPECT_EQ(model.bias, 0);
}

TEST(ModelFile, LinesMayEndAsOnWindows) {
  auto text = format_model(full_model(), ModelFile::sheaf);
  std::string other;
  for (const char c : text) other += c == '\n' ? std::string("\r\n") : std::string(1, c);
  expect_same(parse_linear(other, "m"), full_model());
  EXPECT_EQ(parse_linear("solver_type L2R_LR\r\nnr_class 2\r\nlabel 1 2\r\nnr_feature 1\r\nbias -1\r\nw\r\n2 \r\n", "m")
                .weights,
            std::vector<double>{2});
}

TEST(ModelFile, ClassesThatAreNoIntegersDoNotGoIntoLiblinears) {
  for (const char* name : {"cat", "1.5", "", "1e40"}) {
    LinearModel model;
    model.class_names = {"1", name};
    try {
      format_model(model, ModelFile::liblinear);
      ADD_FAILURE() << "'" << name << "' was written";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("Sheaf's own format"), std::string::npos) << error.what();
    }
  }
}

struct Defect {
  std::string text;
  std::int64_t line, column;
  std::string words;  // of the message
};

void expect_defects(const std::vector<Defect>& defects) {
  for (const auto& [text, line, column, words] : defects) {
    try {
      parse_linear(text, "bad.model");
      ADD_FAILURE() << "was read:\n" << text;
    } catch (const ParseError& error) {
      EXPECT_EQ(error.place().file, "bad.model");
      EXPECT_EQ(error.place().line, line) << error.what() << "\n" << text;
      EXPECT_EQ(error.place().column, column) << error.what() << "\n" << text;
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what() << "\n" << text;
    }
  }
}

TEST(ModelFile, DefectsOfLiblinearsAreToldWithTheirPlace) {
  expect_defects({
      {"", 1, 1, "no model"},
      {"hello\n", 1, 1, "no model"},
      {"\n\nfrog 1\n", 3, 1, "no model"},
      {"solver_type L2R_XX\n", 1, 13, "'L2R_XX'"},
      {"solver_type ONECLASS_SVM\nnr_class 2\n", 3, 1, "end of the file"},
      {"solver_type ONECLASS_SVM\nnr_class 2\nnr_feature 1\nbias -1\nw\n1 \n", 5, 1, "rho"},
      {"solver_type", 1, 12, "end of the file"},
      {"solver_type L2R_LR\nnr_class two\n", 2, 10, "'two'"},
      {"solver_type L2R_LR\nnr_class 0\n", 2, 10, "1 or more"},
      {"solver_type L2R_LR\nnr_class 99999999999\n", 2, 10, "'99999999999'"},
      {"solver_type L2R_LR\nlabel 1 2\n", 2, 6, "nr_class"},
      {"solver_type L2R_LR\nnr_class 2\nlabel 1\n", 3, 8, "end of the line"},
      {"solver_type L2R_LR\nnr_class 2\nlabel 1 cat\n", 3, 9, "'cat'"},
      {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature -1\n", 4, 12, "0 or more"},
      {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias nan\n", 5, 6, "'nan'"},
      {"solver_type L2R_LR\nnr_class 2\nnr_feature 1\nbias 1\nw\n1\n1\n", 5, 1, "labels"},
      {"solver_type L2R_LR\nlabels 2\n", 2, 1, "'labels'"},
      {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nbias 1\nw\n1\n", 5, 1, "nr_feature"},
      {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 2\nbias -1\nw\n1 \n", 8, 1, "end of the file"},
      {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 2\nbias -1\nw\n1 \n1x \n", 8, 1, "'1x'"},
      {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 2\nbias -1\nw\n1 \ninf \n", 8, 1, "'inf'"},
      {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 2\nbias -1\nw\n1 \n1 \n1 \n", 9, 1, "end of the file"},
      {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias -1\n", 6, 1, "end of the file"},
  });
}

const std::string good =
    "sheaf-model 1\nfamily linear\nclasses 2\nclass a\nclass b\nfeatures 2\nsolver L2R_LR\nnames yes\nbias 1 "
    "penalised\ncost 1\nepsilon 0.1\ntraining 1\nconverged 3 steps 9 products objective 2 gradient 0.1 tolerance 0.5\n"
    "bias-weights 0.5\nweights 2\n1 0.25 x\n2 - y\n";

/// `good` with its line `line` made `text`.
std::string with_line(int line, const std::string& text) {
  std::size_t begin = 0;
  for (int k = 1; k < line; ++k) begin = good.find('\n', begin) + 1;
  return good.substr(0, begin) + text + good.substr(good.find('\n', begin));
}

TEST(ModelFile, DefectsOfSheafsOwnAreNamedWithTheirPlace) {
  ASSERT_NO_THROW(parse_linear(good, "good"));
  expect_defects({
      {with_line(1, "sheaf-model 4"), 1, 13, "version 4"},
      {with_line(1, "sheaf-model 2"), 17, 1, "checksum"},
      {with_line(1, "sheaf-model 3"), 17, 1, "checksum"},
      {with_line(1, "sheaf-model"), 1, 12, "version"},
      {with_line(1, "sheaf-linear-model 1"), 1, 1, "earlier version"},
      {with_line(2, "family forest"), 2, 8, "linear, svm, elastic-net"},
      {with_line(3, "classes 0"), 4, 1, "'features'"},
      {with_line(3, "classes -2"), 3, 9, "0 or more"},
      {with_line(3, "classes 3"), 6, 1, "'class'"},
      {with_line(4, "class"), 4, 6, "a blank and a name"},
      {with_line(4, "class a\\b"), 4, 8, "backslash"},
      {with_line(6, "features x"), 6, 10, "'x'"},
      {with_line(7, "solver L2R"), 7, 8, "'L2R'"},
      {with_line(7, "solver L2R_L2LOSS_SVR"), 7, 8, "2 classes"},
      {with_line(8, "names maybe"), 8, 7, "no or yes"},
      {with_line(9, "bias -1 penalised"), 9, 6, "0 or more"},
      {with_line(9, "bias 1 loose"), 9, 8, "free or penalised"},
      {with_line(9, "bias 1 penalised twice"), 9, 18, "'twice'"},
      {with_line(10, "coast 1"), 10, 1, "'cost'"},
      {with_line(11, "epsilon nan"), 11, 9, "'nan'"},
      {with_line(12, "training 2"), 12, 10, "0 or 1"},
      {with_line(13, "converged 3 steps 9 products objective inf gradient 0.1 tolerance 0.5"), 13, 40, "'inf'"},
      {with_line(14, "bias-weights 0.5 0.5"), 14, 18, "'0.5'"},
      {with_line(15, "weights 3"), 15, 9, "3 lines"},
      {with_line(15, "weights 1"), 15, 9, "found 1 line for"},
      {with_line(16, "2 0.25 x"), 16, 1, "feature 1"},
      {with_line(16, "1 0.25"), 16, 7, "name"},
      {with_line(16, "1 heavy x"), 16, 3, "'heavy'"},
      {with_line(17, "1 - y"), 17, 1, "feature 2"},
      {with_line(17, "2 - y\nmore"), 18, 1, "'more'"},
      {good.substr(0, good.find("2 - y")), 17, 1, "end of the file"},
      {good.substr(0, good.find("solver")), 7, 1, "end of the file"},
  });
}

TEST(ModelFile, AChangedByteIsFound) {
  LinearModel model;
  model.class_names = {"1", "-1"};
  model.features = 2;
  model.weights = {0.125, -2};
  const auto text = format_model(model);
  ASSERT_NO_THROW(parse_linear(text, "sound"));
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_THROW(parse_linear(changed, "changed"), ParseError) << changed;
  }
  std::string other_ends;
  for (const char c : text) other_ends += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(format_model(parse_linear(other_ends, "other line ends")), text);
}

/// Files that earlier versions wrote, and what those predicted from them.
class EarlierModelFiles : public testing::TestWithParam<const char*> {};

TEST_P(EarlierModelFiles, AreRead) {
  const std::string folder = SHEAF_TESTS_DIR "/golden/models/";
  const Context context;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder + GetParam())) {
    if (entry.path().extension() != ".model") continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++files;
    const auto model = Model::load(entry.path().string());
    const auto dataset =
        read_dataset<double>(context, folder + (model.is_regression() ? "numbers.csv" : "classes.csv"));
    const auto predictions = model.predict(context, dataset);
    std::ifstream expected(std::filesystem::path(entry.path()).replace_extension(".predictions"));
    for (std::size_t i = 0; i < static_cast<std::size_t>(predictions.rows); ++i) {
      std::string prediction;
      double decision = 0;
      ASSERT_TRUE(expected >> prediction >> decision);
      if (!model.is_regression()) {
        EXPECT_EQ(model.prediction_text(predictions, i), prediction) << "row " << i;
      }
      const auto columns = static_cast<std::size_t>(predictions.columns);
      EXPECT_NEAR(predictions.decisions[i * columns], decision, 1e-9 * (1 + std::abs(decision))) << "row " << i;
    }
    EXPECT_EQ(Model::parse(model.text(), "again").text(), model.text());
  }
  EXPECT_GE(files, 9);
}

INSTANTIATE_TEST_SUITE_P(Versions, EarlierModelFiles, testing::Values("version1", "version2", "version3"));

TEST(ModelFile, AnnotationsOfAnEarlierVersionAreRead) {
  const auto model = Model::load(SHEAF_TESTS_DIR "/golden/models/version3/knn.model");
  EXPECT_EQ(model.annotations().columns, (std::vector<std::string>{"meaning", "unit"}));
  EXPECT_EQ(model.annotations().of("a"), (std::vector<std::string>{"first measure", "mm"}));
  EXPECT_EQ(model.annotations().of("b"), (std::vector<std::string>{"second, \"quoted\"", ""}));
  EXPECT_EQ(model.annotations().of("d"), (std::vector<std::string>{"last measure", "kg"}));
  EXPECT_EQ(model.annotations().of("colour"), (std::vector<std::string>{"", ""}));
}

TEST(ModelFile, NoCutOffFileIsTakenForWhole) {
  for (const auto format : {ModelFile::sheaf, ModelFile::liblinear}) {
    LinearModel model;
    model.class_names = {"1", "-1"};
    model.features = 3;
    model.weights = {0.1, 0.2, 0.3};
    const auto text = format_model(model, format);
    const auto last = text.rfind("0.");  // a number cut short is a number still
    for (std::size_t size = 0; size < last; ++size)
      EXPECT_THROW(parse_linear(text.substr(0, size), "cut"), ParseError) << text.substr(0, size);
  }
}

TEST(ModelFile, IsWrittenWholeOrNotAtAll) {
  const auto folder = std::filesystem::temp_directory_path() / ("sheaf-model-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const auto path = (folder / "m.model").string();
  Model(full_model()).save(path);
  expect_same(*Model::load(path).get_if<LinearModel>(), full_model());
  auto named = full_model();
  EXPECT_THROW(Model(named).save((folder / "l.model").string(), ModelFile::liblinear), Error);
  EXPECT_THROW(Model(named).save((folder / "no" / "m.model").string()), Error);
  EXPECT_THROW(Model::load((folder / "missing").string()), Error);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++files;
  EXPECT_EQ(files, 1U);
  std::filesystem::remove_all(folder);
}

}  // namespace model_file_test
}  // namespace sheaf::test

// Labels: classes or numbers, the order of classes, and the positive one of two. None of it depends on the order of the
// rows.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/io.hpp>
#include <sheaf/memory.hpp>
#include <sheaf/model.hpp>
#include <sheaf/solvers/linear.hpp>

namespace sheaf::test {
namespace labels_test {

using Names = std::vector<std::string>;

Dataset<double> table_of(const Names& labels, ReadOptions options = {}) {
  options.format = "csv";
  std::string text = "x,outcome\n";
  for (std::size_t i = 0; i < labels.size(); ++i) text += std::to_string(i % 7) + "," + labels[i] + "\n";
  return parse_dataset<double>(Context(), text, "table.csv", options);
}

Names repeated(const Names& labels, int times) {
  Names all;
  for (int k = 0; k < times; ++k) all.insert(all.end(), labels.begin(), labels.end());
  return all;
}

template <class Work>
std::string error_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(ClassOrder, IsThatOfNumbersThenOfTheAlphabet) {
  EXPECT_EQ(table_of(repeated({"10", "9", "2"}, 3)).target.class_names, (Names{"2", "9", "10"}));
  EXPECT_EQ(table_of(repeated({"pear", "apple", "fig"}, 3)).target.class_names, (Names{"apple", "fig", "pear"}));
  EXPECT_EQ(table_of(repeated({"b", "3", "a"}, 3)).target.class_names, (Names{"3", "a", "b"}));
}

TEST(ClassOrder, OfTwoClassesThePositiveOneComesFirst) {
  EXPECT_EQ(table_of(repeated({"-1", "1"}, 3)).target.class_names, (Names{"1", "-1"}));
  EXPECT_EQ(table_of(repeated({"yes", "no"}, 3)).target.class_names, (Names{"yes", "no"}));
  ReadOptions options;
  options.positive = "no";
  const auto target = table_of(repeated({"yes", "no"}, 3), options).target;
  EXPECT_EQ(target.class_names, (Names{"no", "yes"}));
  EXPECT_EQ(target.positive, 0);
}

TEST(ClassOrder, RowsKeepTheirClasses) {
  const Names labels{"pear", "apple", "fig", "apple", "pear", "fig"};
  const auto target = table_of(labels).target;
  for (std::size_t i = 0; i < labels.size(); ++i)
    EXPECT_EQ(target.class_names[static_cast<std::size_t>(target.classes[i])], labels[i]);
}

TEST(ClassOrder, DatasetsFromMemoryAndFilesAgree) {
  const Names labels{"sick", "well", "sick", "well"};
  EXPECT_EQ(make_target(labels).class_names, table_of(labels).target.class_names);
  EXPECT_EQ(make_target(labels).positive, 0);
}

TEST(ClassOrder, ThatOfAppearanceStaysForOtherProgramsCommands) {
  ReadOptions options;
  options.class_order = ClassOrder::appearance;
  EXPECT_EQ(table_of(repeated({"9", "2"}, 3), options).target.class_names, (Names{"9", "2"}));
}

TEST(PositiveClass, FollowsTheWrittenRule) {
  const std::vector<std::pair<Names, std::string>> cases{{{"0", "1"}, "1"},
                                                         {{"2", "1"}, "2"},
                                                         {{"-1", "+1"}, "+1"},
                                                         {{"no", "Yes"}, "Yes"},
                                                         {{"case", "control"}, "case"},
                                                         {{"normal", "tumour"}, "tumour"},
                                                         {{"healthy", "sick"}, "sick"},
                                                         {{"negative", "positive"}, "positive"},
                                                         {{"True", "False"}, "True"},
                                                         {{"apple", "pear"}, "pear"}};
  for (auto [names, expected] : cases)
    for (int order = 0; order < 2; ++order) {
      EXPECT_EQ(names[static_cast<std::size_t>(positive_class(names))], expected);
      EXPECT_EQ(table_of(repeated(names, 4)).target.class_names[0], expected);
      std::swap(names[0], names[1]);
    }
  EXPECT_EQ(positive_class(Names{"a", "b", "c"}), -1);
}

TEST(PositiveClass, OneThatIsNotThereIsAnErrorWithTheKnownOnes) {
  ReadOptions options;
  options.positive = "ill";
  EXPECT_NE(error_of([&] { table_of(repeated({"sick", "well"}, 3), options); }).find("sick"), std::string::npos);
  EXPECT_NE(error_of([&] {
              table_of(repeated({"a", "b", "ill"}, 3), options);
            }).find("two classes"),
            std::string::npos);
}

TEST(PositiveClass, WeightsSpeakForItInWhateverOrderRowsStand) {
  Names labels;
  for (int i = 0; i < 28; ++i) labels.push_back(i % 7 > 3 ? "sick" : "healthy");
  for (int order = 0; order < 2; ++order) {
    std::string text = "x,outcome\n";
    for (std::size_t k = 0; k < labels.size(); ++k) {
      const auto i = order == 0 ? k : labels.size() - 1 - k;
      text += std::to_string(i % 7) + "," + labels[i] + "\n";
    }
    ReadOptions options;
    options.format = "csv";
    const auto dataset = parse_dataset<double>(Context(), text, "t.csv", options);
    const auto model = fit(Context(), dataset, LinearOptions{});
    EXPECT_EQ(model.class_names()[0], "sick");
    EXPECT_GT(model.get_if<LinearModel>()->weight(0, 0), 0) << "larger x goes with sick";
    EXPECT_EQ(model.class_names()[static_cast<std::size_t>(model.positive())], "sick");
  }
}

TEST(Task, FollowsTheWrittenRule) {
  const auto numbers = [](int count, int times, double step, int first) {
    Names labels;
    for (int k = 0; k < count * times; ++k) labels.push_back(std::to_string(first + step * (k % count)));
    return labels;
  };
  EXPECT_TRUE(table_of(repeated({"a", "b"}, 2)).target.looks_like_classes());
  EXPECT_TRUE(table_of(numbers(20, 2, 3, 5)).target.looks_like_classes()) << "20 whole numbers, each twice";
  EXPECT_FALSE(table_of(numbers(20, 1, 3, 5)).target.looks_like_classes()) << "each once";
  EXPECT_FALSE(table_of(numbers(21, 20, 3, 5)).target.looks_like_classes()) << "21 with gaps: measurements";
  EXPECT_TRUE(table_of(numbers(26, 10, 1, 1)).target.looks_like_classes()) << "1 to 26, ten of each: codes";
  EXPECT_FALSE(table_of(numbers(26, 9, 1, 1)).target.looks_like_classes()) << "too few of each";
  EXPECT_FALSE(table_of(numbers(5, 20, 0.5, 1)).target.looks_like_classes()) << "some are no whole numbers";
}

TEST(Task, CanBeSaid) {
  ReadOptions options;
  options.task = LabelKind::numbers;
  EXPECT_FALSE(table_of(repeated({"0", "1"}, 5), options).target.looks_like_classes());
  options.task = LabelKind::classes;
  EXPECT_TRUE(table_of(repeated({"0.5", "1.5"}, 5), options).target.looks_like_classes());
}

TEST(Task, AWordAmongTheNumbersOfARegressionIsAnErrorWithItsPlace) {
  ReadOptions options;
  options.task = LabelKind::numbers;
  EXPECT_NE(error_of([&] { table_of({"1", "2", "three"}, options); }).find("table.csv:4:3: "), std::string::npos);
}

TEST(Task, ManyClassesThatAreNoWholeNumbersAreAskedAbout) {
  Names decimals;
  Names words;
  for (int k = 0; k < 21; ++k) {
    decimals.push_back(std::to_string(k) + ".5");
    words.push_back("w" + std::to_string(k));
  }
  for (const auto& labels : {repeated(decimals, 3), repeated(words, 3)}) {
    LinearOptions logistic;
    logistic.loss = Loss::logistic;
    const auto message = error_of([&] { fit(Context(), table_of(labels), logistic); });
    EXPECT_NE(message.find("--task classification"), std::string::npos) << message;
    EXPECT_NE(message.find("outcome"), std::string::npos) << message;
    ReadOptions options;
    options.task = LabelKind::classes;
    EXPECT_EQ(fit(Context(), table_of(labels, options), LinearOptions{}).class_names().size(), 21U);
  }
}

}  // namespace labels_test
}  // namespace sheaf::test

// Searches for the cost and gamma of an SVM by five-fold cross-validation, all models trained together.
//
//     example_search TABLE.csv
#include <iostream>

#include <sheaf/sheaf.hpp>

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "usage: example_search TABLE.csv\n";
    return 2;
  }
  try {
    const sheaf::Context context;
    const auto dataset = sheaf::read_dataset<double>(context, words[1]);
    const auto result = sheaf::search(
        context, dataset, "svm", {{"cost", "0.1,1,10"}, {"gamma", "0.01:1:3"}, {"folds", "5"}, {"scale", "standard"}});

    // The same by structs: what a program computes itself needs no text.
    sheaf::SearchSpace space(sheaf::SvmOptions{});
    space["cost"] = {0.1, 1, 10};
    space["gamma"] = {0.01, 0.1, 1};
    sheaf::SearchOptions options;
    options.folds = 5;
    options.pipeline.scale = sheaf::ScaleMethod::standard;
    const auto same = sheaf::search(context, dataset, space, options);

    std::cout << "chosen: " << result.point_text(result.chosen()) << '\n';
    std::cout << "both ways agree: " << (result.model->text() == same.model->text() ? "yes" : "no") << '\n';
    std::cout << "accuracy: " << result.summary(result.level.chosen.chosen, sheaf::Metric::accuracy).mean << '\n';
  } catch (const sheaf::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

// Trains a model on a table, keeps it in a file, reads it again and predicts.
//
//     example_fit TRAIN.csv NEW.csv
#include <iostream>

#include <sheaf/sheaf.hpp>

int main(int count, char** words) {
  if (count != 3) {
    std::cerr << "usage: example_fit TRAIN.csv NEW.csv\n";
    return 2;
  }
  try {
    const sheaf::Context context;  // all cores, or a GPU if the work is worth it
    const auto train = sheaf::read_dataset<double>(context, words[1]);

    auto options = sheaf::find_model_kind("linear").options;
    sheaf::set_parameter(options, "cost",
                         "0.5");  // as on the command line; or options.get<sheaf::LinearOptions>().cost = 0.5
    sheaf::PipelineOptions steps;
    steps.scale = sheaf::ScaleMethod::standard;

    const auto model = sheaf::fit(context, train, options, {}, steps);
    model.save("example.model");

    const auto again = sheaf::Model::load("example.model");
    sheaf::ReadOptions reading;
    reading.known = again.known_columns();
    const auto rows = sheaf::read_dataset<double>(context, words[2], reading);
    const auto predictions = again.predict(context, rows);
    for (std::size_t i = 0; i < static_cast<std::size_t>(predictions.rows); ++i)
      std::cout << again.prediction_text(predictions, i) << '\n';
  } catch (const sheaf::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

// A program of one's own: arrays in memory become a dataset, a model is trained on some rows and predicts the others,
// and the features that know most about the classes are selected.
//
//   g++ -std=c++20 memory.cpp $(pkg-config --cflags --libs sheaf) -o memory && ./memory
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include <sheaf/sheaf.hpp>

namespace {

constexpr std::int64_t features = 20;

/// Row-major measurements of two kinds of flowers; only features 3 and 7 differ between them.
struct Flowers {
  std::vector<float> measured;
  std::vector<std::string> kinds;

  std::int64_t rows() const { return static_cast<std::int64_t>(kinds.size()); }
};

Flowers grow(std::int64_t rows, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise;
  Flowers flowers;
  for (std::int64_t i = 0; i < rows; ++i) {
    const bool rose = i % 2 == 0;
    for (std::int64_t j = 0; j < features; ++j)
      flowers.measured.push_back(noise(random) + (rose && (j == 3 || j == 7) ? 2.0F : 0.0F));
    flowers.kinds.emplace_back(rose ? "rose" : "tulip");
  }
  return flowers;
}

sheaf::DenseInput matrix(const Flowers& flowers) {
  return sheaf::DenseInput::row_major(flowers.measured, flowers.rows(), features);
}

void run() {
  const sheaf::Context context;  // all cores; sheaf::Context({.device = sheaf::Device::cuda()}) for a GPU
  const auto grown = grow(400, 1);
  const auto others = grow(200, 2);

  // The vectors of `grown` are used where they are: they must live as long as the dataset.
  sheaf::DatasetOptions options;
  options.class_names = {"tulip", "rose"};  // the order of classes; without it, that of their first rows
  for (std::int64_t j = 0; j < features; ++j) options.feature_names.push_back("petal" + std::to_string(j));
  const auto training = sheaf::make_dataset<float>(context, matrix(grown), grown.kinds, options);
  const auto test = sheaf::make_dataset<float>(context, matrix(others), others.kinds);

  const auto model = sheaf::train_linear(context, training, {});
  const auto predictions = sheaf::predict_linear(context, model, test);
  const auto score = sheaf::score_of(model, predictions, test.target);
  std::printf("%.1f %% of %lld flowers are recognised\n", 100 * score->accuracy(), static_cast<long long>(score->rows));

  sheaf::SelectRequest request;
  request.options.count = 2;
  request.binning.bins = 8;  // few rows fill few bins
  for (const auto& row : sheaf::select(context, training, request).selected)
    std::printf("selected: %s, with %.2f bits of information about the kind\n", row.name.c_str(),
                row.feature.relevance);
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}

// A CUDA function of one's own: the same text runs on a GPU or, without one, on the CPU.
//
//     example_cuda [DEVICE]        cpu (the default) or cuda
#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include <sheaf/sheaf.hpp>

int main(int count, char** words) {
  try {
    const bool gpu = count > 1 && std::string(words[1]) == "cuda";
    const sheaf::Context context({.device = gpu ? sheaf::Device::cuda() : sheaf::Device::cpu()});
    const std::vector<double> distances{0, 0.5, 1, 2};

    const sheaf::ElementwiseSnippet bell("double d", "double weight", "weight = exp(-d * d / 2);");
    const std::vector inputs{
        sheaf::DeviceArray::copy_of<double>(distances, std::ssize(distances), 1, context.device())};
    const auto weights = bell(context, inputs).front().values<double>();

    double largest = 0;
    for (std::size_t i = 0; i < distances.size(); ++i) {
      std::cout << "distance " << distances[i] << ": weight " << weights[i] << '\n';
      largest = std::max(largest, std::abs(weights[i] - std::exp(-distances[i] * distances[i] / 2)));
    }
    std::cout << "as the C++ library computes it: " << (largest < 1e-12 ? "yes" : "no") << '\n';
  } catch (const sheaf::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

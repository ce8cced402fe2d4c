// LIBSVM's model files read and applied by plain loops in double: independent of everything they check.
#pragma once

#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "linear_objective.hpp"
#include "svm_reference.hpp"

namespace sheaf::test {

struct PlainSvm {
  std::map<std::string, std::string> header;  // every line before the support vectors, by its first word
  KernelParams kernel;
  std::vector<double> rho;                        // of each pair of classes
  std::vector<std::size_t> counts;                // support vectors of each class; regression and one-class: none
  std::vector<std::vector<double>> coefficients;  // of each support vector: one for each other class
  Rows support_vectors;                           // none if the kernel is precomputed
};

inline std::vector<double> dense_row(const std::vector<std::pair<std::size_t, double>>& cells) {
  std::vector<double> row(cells.empty() ? 0 : cells.back().first + 1);
  for (const auto& [j, value] : cells) row[j] = value;
  return row;
}

template <class T>
std::vector<T> numbers_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<T> numbers;
  for (T value{}; in >> value;) numbers.push_back(value);
  return numbers;
}

inline KernelParams kernel_of_header(const std::map<std::string, std::string>& header) {
  const std::map<std::string, KernelType> types{{"linear", KernelType::linear},
                                                {"polynomial", KernelType::polynomial},
                                                {"rbf", KernelType::rbf},
                                                {"sigmoid", KernelType::sigmoid},
                                                {"precomputed", KernelType::precomputed}};
  KernelParams kernel{.type = types.at(header.at("kernel_type"))};
  if (header.contains("degree")) kernel.degree = std::stoi(header.at("degree"));
  if (header.contains("gamma")) kernel.gamma = std::stod(header.at("gamma"));
  if (header.contains("coef0")) kernel.coef0 = std::stod(header.at("coef0"));
  return kernel;
}

inline PlainSvm plain_svm(const std::string& text) {
  PlainSvm model;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line) && line != "SV")
    model.header[line.substr(0, line.find(' '))] = line.substr(line.find(' ') + 1);
  model.kernel = kernel_of_header(model.header);
  model.rho = numbers_of<double>(model.header.at("rho"));
  if (model.header.contains("nr_sv")) model.counts = numbers_of<std::size_t>(model.header.at("nr_sv"));
  const std::size_t each = model.counts.empty() ? 1 : model.counts.size() - 1;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    auto& coefficients = model.coefficients.emplace_back(each);
    for (double& value : coefficients) words >> value;
    if (model.kernel.type == KernelType::precomputed) continue;
    std::string cells;
    std::getline(words, cells);
    model.support_vectors.push_back(dense_row(plain_table("0 " + cells).rows.front()));
  }
  return model;
}

/// One value for each pair of classes (regression and one-class: one value).
inline std::vector<double> decisions_of(const PlainSvm& model, const std::vector<double>& row) {
  std::vector<double> kernel;
  for (const auto& vector : model.support_vectors) kernel.push_back(kernel_of(model.kernel, vector, row, 0));
  const auto sum = [&](std::size_t first, std::size_t count, std::size_t which) {
    double total = 0;
    for (std::size_t k = first; k < first + count; ++k) total += model.coefficients[k][which] * kernel[k];
    return total;
  };
  if (model.counts.empty()) return {sum(0, kernel.size(), 0) - model.rho[0]};
  std::vector<std::size_t> first{0};
  for (const std::size_t count : model.counts) first.push_back(first.back() + count);
  std::vector<double> decisions;
  for (std::size_t a = 0; a < model.counts.size(); ++a)
    for (std::size_t b = a + 1; b < model.counts.size(); ++b)
      decisions.push_back(sum(first[a], model.counts[a], b - 1) + sum(first[b], model.counts[b], a) -
                          model.rho[decisions.size()]);
  return decisions;
}

}  // namespace sheaf::test

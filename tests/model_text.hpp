// Models of one family from text.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <sheaf/model.hpp>

namespace sheaf::test {

inline LinearModel parse_linear(std::string_view text, const std::string& name) {
  auto model = Model::parse(text, name);
  if (model.linear() == nullptr) throw std::runtime_error("this is no linear model");
  return std::move(*model.linear());
}

inline SvmModel parse_svm(std::string_view text, const std::string& name) {
  auto model = Model::parse(text, name);
  if (model.svm() == nullptr) throw std::runtime_error("this is no SVM");
  return std::move(*model.svm());
}

}  // namespace sheaf::test

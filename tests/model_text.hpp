// Models of one family from text.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <sheaf/model.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/svm.hpp>

namespace sheaf::test {

/// The same model in version 1 of the file, which has no checksum: its lines can be changed and are read all the same.
inline std::string without_checksum(std::string text) {
  const std::string now = "sheaf-model 2";
  if (!text.starts_with(now)) throw std::runtime_error("this is no model file of version 2");
  text.replace(0, now.size(), "sheaf-model 1");
  return text.substr(0, text.rfind("checksum "));
}

inline LinearModel parse_linear(std::string_view text, const std::string& name) {
  auto model = Model::parse(text, name);
  if (model.get_if<LinearModel>() == nullptr) throw std::runtime_error("this is no linear model");
  return std::move(*model.get_if<LinearModel>());
}

inline SvmModel parse_svm(std::string_view text, const std::string& name) {
  auto model = Model::parse(text, name);
  if (model.get_if<SvmModel>() == nullptr) throw std::runtime_error("this is no SVM");
  return std::move(*model.get_if<SvmModel>());
}

}  // namespace sheaf::test

// SVMs with a kernel in words and in JSON.
#pragma once

#include <string>

#include <sheaf/svm_model.hpp>

namespace sheaf::cli {

std::string svm_text(const SvmModel& model, const std::string& source, std::int64_t rows);
std::string svm_json(const SvmModel& model, const std::string& path, std::int64_t rows);
/// What sharing saved; empty where this run computed nothing, or shared nothing.
std::string counts_text(const KernelCounts& counts);

}  // namespace sheaf::cli

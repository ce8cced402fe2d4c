// Shared by the commands that replace LIBSVM's programs.
#pragma once

#include <string>
#include <vector>

#include <sheaf/model.hpp>
#include <sheaf/solvers/svm.hpp>

#include "data/prepare/libsvm_scaling.hpp"

namespace sheaf::cli {

/// The lines that svm-train prints of each SVM of a model.
std::string training_lines(const SvmModel& model, const std::vector<SvmTraining>& fits, std::int64_t support);

/// "Accuracy = 86.6667% (234/270) (classification)", or the two lines of a regression.
std::string libsvm_score(const SvmModel& model, const Score& score);

/// One line for each row as svm-predict writes it, with probabilities if there are some.
std::string libsvm_predictions(const SvmModel& model, const Predictions& predictions);

/// The dataset as stored in the file, with explicit zeros.
Dataset<double> read_sparse_libsvm(const Context& context, const std::string& path);
/// svm-scale's warnings; `ranges` names the file they came from, empty: they are the dataset's own.
void warn_of_scaling(const Dataset<double>& dataset, const LibsvmScaling& scaling, const std::string& ranges,
                     std::int64_t written);

}  // namespace sheaf::cli

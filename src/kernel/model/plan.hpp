// Plans the sheaf of a dataset and its options: the classes, the binary SVMs that separate them, and the rows that each
// is trained on. Training, cross-validation and the search share it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sheaf/solvers/svm.hpp>

#include "data/labels.hpp"
#include "kernel/model/c_random.hpp"

namespace sheaf::kernel {

/// Throws an Error for labels that do not suit the kind, weights of unknown classes, and a nu that no SVM can have.
Labels make_svm_labels(const Target& target, const std::string& source, std::int64_t rows, const SvmOptions& options,
                       std::span<const float> row_weights = {});

struct Sides {
  std::int32_t positive = 0;
  std::int32_t negative = SvmTask::rest;
};
/// The two sides of each SVM. Kinds without classes have one SVM.
std::vector<Sides> sides_of(SvmKind kind, std::size_t classes, MultiClass multi_class);
/// How many there are.
std::size_t svms_of(SvmKind kind, std::size_t classes, MultiClass multi_class);

SvmParams svm_params(const SvmOptions& options, std::int64_t features);

constexpr std::int32_t platt_folds = 5;

/// The cross-validation within the training rows of one SVM, for its probabilities.
struct PlattPlan {
  std::vector<std::int32_t> rows;  // fold after fold
  std::vector<std::int8_t> sides;  // of each of them: +1, -1
  std::array<std::size_t, platt_folds + 1> begins{};
  std::array<std::int32_t, platt_folds> tasks{};  // -1: none if a side is missing
  std::array<double, platt_folds> constants{};    // decision values without a task
};

/// One model within a sheaf.
struct ModelPlan {
  std::int32_t column = 0;
  std::vector<std::int32_t> tasks;    // by SVM; -1: one of its sides has no row
  std::vector<std::uint8_t> present;  // by class: whether it has rows
  std::vector<PlattPlan> platt;       // by SVM
  std::vector<std::int64_t> rows;     // by SVM: how many it is trained on
  std::vector<double> class_weights;
};

class SheafPlan {
 public:
  /// Both must outlive it.
  SheafPlan(const Labels& labels, const SvmOptions& options);

  /// A column of row weights.
  std::int32_t add_rows(std::vector<float> weights);
  ModelPlan add_model(std::int32_t column, double cost);
  /// Adds the SVMs that probabilities need: five folds within the training rows. `order` is the order of the rows
  /// before they are shuffled into folds; empty: ascending.
  void add_platt(ModelPlan& model, double cost, CRandom& random, std::span<const std::int32_t> order = {});

  /// Returns the sheaf of everything added. Nothing may be added afterwards.
  SvmSheaf finish();

 private:
  SvmTask make_task(const ModelPlan& model, Sides sides, double cost) const;
  double feasible_nu(std::int32_t column, Sides sides) const;
  void count_classes(std::int32_t column);
  std::vector<std::int32_t> rows_of(std::int32_t column, Sides sides, std::span<const std::int32_t> order) const;
  PlattPlan deal(const ModelPlan& model, Sides sides, CRandom& random, std::span<const std::int32_t> order) const;
  void add_platt_fold(const ModelPlan& model, Sides sides, double cost, std::size_t fold, PlattPlan& plan);

  const Labels& labels_;
  const SvmOptions& options_;
  std::vector<Sides> sides_;
  std::vector<std::vector<float>> columns_;
  std::vector<std::vector<double>> counts_;  // rows with a weight, by column and class
  SvmSheaf sheaf_;
};

/// The decision values of one SVM's training rows, by SVMs of folds that were trained without them.
std::vector<double> held_out_decisions(const PlattPlan& plan, const Block<double>& decisions);

SvmTraining training_of(const SvmFit& fit, std::int64_t rows);

}  // namespace sheaf::kernel

// A study at work; see study.cpp.
#pragma once

#include <span>
#include <vector>

#include <sheaf/study.hpp>

#include "linear/model/net_problem.hpp"
#include "search/study_judge.hpp"
#include "search/study_plan.hpp"

namespace sheaf::search {

template <class T>
class Study {
 public:
  Study(const Context& context, const Dataset<T>& dataset, const StudyOptions& options,
        std::span<const float> row_weights, StudyLog* log);

  StudyResult run();

 private:
  using Contexts = std::span<const Context>;
  using Places = std::vector<std::vector<std::int32_t>>;  // of the alphas of each path: pairs

  void find_alphas();
  BatchPlan propose() const;
  std::int32_t most_splits(std::int64_t memory) const;
  std::int64_t models_to_train() const;
  void load_splits(std::int32_t first, std::int32_t count);
  void add_paths(std::int32_t part, std::span<const std::int32_t> pairs, Places& places);
  /// Trains the paths of the sheaf; use(model, scores) hears of each model, keep(net, model, column) of each net.
  template <class Use, class Keep>
  void train(Contexts contexts, const NetParams& params, bool keep_weights, const Places& places, const Use& use,
             const Keep& keep);

  std::vector<StudySplit> try_pairs(Contexts contexts, std::int32_t first, std::int32_t count);
  std::vector<double> scores_of(const StudySplit& split) const;
  void choose_pair(StudySplit& split) const;
  std::vector<StudySplit> refit(Contexts contexts, std::int32_t first, std::int32_t count);
  template <class Work>
  std::vector<StudySplit> remembered(std::int32_t batch, std::int32_t splits, const Work& work);
  void train_path(const Context& context, StudyResult& result);
  void run_batches(Contexts contexts, const BatchPlan& plan);
  StudyResult result() const;

  const Context& context_;
  const Dataset<T>& dataset_;
  StudyOptions options_;
  StudyLog* log_;
  linear::NetProblem made_;
  StudyPlan plan_;
  StudyJudge<T> judge_;
  NetSheaf sheaf_;
  std::vector<std::vector<double>> alphas_;
  std::int32_t first_split_ = -1, loaded_splits_ = 0;  // those in the sheaf's tables
  std::vector<StudySplit> splits_;
};

}  // namespace sheaf::search

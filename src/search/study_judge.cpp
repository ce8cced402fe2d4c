#include "search/study_judge.hpp"

#include "search/truth.hpp"

namespace sheaf::search {

template <class T>
StudyJudge<T>::StudyJudge(std::span<const Context> contexts, const Dataset<T>& dataset, const linear::Problem& problem,
                          const LinearOptions& options)
    : rows_(dataset.rows()),
      columns_(problem.sheaf.target_columns),
      positive_(positive_class(problem, dataset.target)) {
  for (const auto& context : contexts) {
    places_.push_back(
        {context.device(),
         score::Scorer<T>(context, truth_of(problem, dataset.target), linear_solver(options.loss).probabilities),
         nullptr});
    if (columns_ > 1) places_.back().ops = linear::make_ops<T>(context, dataset);
  }
}

template <class T>
void StudyJudge<T>::load_tests(const score::TestRows& tests) {
  for (auto& place : places_) place.judge.load_tests(tests);
}

template <class T>
typename StudyJudge<T>::Parts& StudyJudge<T>::gather(std::size_t context, BlockView<const T> z, std::int32_t t,
                                                     const StudyModel& model, std::int32_t column) {
  auto& from = places_[context];
  auto& first = places_.front();
  auto [found, added] = waiting_.try_emplace({model.part, model.pair});
  auto& parts = found->second;
  if (added) parts = {Block<T>(rows_, columns_, first.device), columns_};
  Block<T> one(rows_, 1, from.device);
  from.ops->keep_tasks(z, std::span(&t, 1), one.view());
  from.ops->synchronize();
  if (context > 0) one = one.to(first.device);
  first.ops->place_tasks(std::as_const(one).view(), std::span(&column, 1), parts.decisions.view());
  first.ops->synchronize();
  --parts.missing;
  return parts;
}

template <class T>
void StudyJudge<T>::judge(std::size_t context, BlockView<const T> z, std::span<const StudyModel> models,
                          std::span<const std::int32_t> columns,
                          const std::function<void(const StudyModel&, const Scores&)>& use) {
  if (columns_ == 1) {
    std::vector<std::int32_t> tests;
    for (const auto& model : models) tests.push_back(model.part);
    const auto scores = places_[context].judge.score(z, tests);
    for (std::size_t t = 0; t < models.size(); ++t) use(models[t], scores[t]);
    return;
  }
  for (std::size_t t = 0; t < models.size(); ++t) {
    auto& parts = gather(context, z, static_cast<std::int32_t>(t), models[t], columns[t]);
    if (parts.missing > 0) continue;
    const auto block = std::as_const(parts.decisions).view();
    use(models[t], places_.front().judge.score(block, std::span(&models[t].part, 1)).front());
    waiting_.erase({models[t].part, models[t].pair});
  }
}

template class StudyJudge<float>;
template class StudyJudge<double>;

}  // namespace sheaf::search

#include "search/study_judge.hpp"

namespace sheaf::search {

template <class T>
StudyJudge<T>::StudyJudge(const Context& context, const Dataset<T>& dataset, const linear::Problem& problem,
                          const LinearOptions& options)
    : device_(context.device()),
      rows_(dataset.rows()),
      columns_(problem.sheaf.target_columns),
      judge_(context, problem, dataset.target, options) {
  if (columns_ > 1) ops_ = linear::make_ops<T>(context, dataset);
}

template <class T>
typename StudyJudge<T>::Parts& StudyJudge<T>::place(BlockView<const T> z, std::int32_t t, const StudyModel& model,
                                                    std::int32_t column) {
  auto [found, added] = waiting_.try_emplace({model.part, model.pair});
  auto& parts = found->second;
  if (added) parts = {Block<T>(rows_, columns_, device_), columns_};
  Block<T> one(rows_, 1, device_);
  ops_->keep_tasks(z, std::span(&t, 1), one.view());
  ops_->place_tasks(std::as_const(one).view(), std::span(&column, 1), parts.decisions.view());
  ops_->synchronize();
  --parts.missing;
  return parts;
}

template <class T>
void StudyJudge<T>::judge(BlockView<const T> z, std::span<const StudyModel> models,
                          std::span<const std::int32_t> columns,
                          const std::function<void(const StudyModel&, const ModelScores&)>& use) {
  std::vector<std::int32_t> tests;
  if (columns_ == 1) {
    for (const auto& model : models) tests.push_back(model.part);
    const auto scores = judge_.judge(z, tests);
    for (std::size_t t = 0; t < models.size(); ++t) use(models[t], scores[t]);
    return;
  }
  for (std::size_t t = 0; t < models.size(); ++t) {
    auto& parts = place(z, static_cast<std::int32_t>(t), models[t], columns[t]);
    if (parts.missing > 0) continue;
    use(models[t], judge_.judge(std::as_const(parts.decisions).view(), std::span(&models[t].part, 1)).front());
    waiting_.erase({models[t].part, models[t].pair});
  }
}

template class StudyJudge<float>;
template class StudyJudge<double>;

}  // namespace sheaf::search

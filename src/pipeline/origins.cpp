#include "pipeline/origins.hpp"

#include <algorithm>
#include <numeric>

#include <sheaf/error.hpp>

namespace sheaf::pipeline {
namespace {

void follow(const ImputeStep& step, std::vector<std::int64_t>& from) {
  for (const auto feature : step.indicated) from.push_back(from[static_cast<std::size_t>(feature)]);
}
void follow(const EncodeStep& step, std::vector<std::int64_t>& from) {
  std::vector<std::int64_t> result;
  for (const auto& column : step.columns) result.push_back(from[static_cast<std::size_t>(column.feature)]);
  from = std::move(result);
}
void follow(const TakeStep& step, std::vector<std::int64_t>& from) {
  std::vector<std::int64_t> result;
  for (const auto feature : step.features) result.push_back(from[static_cast<std::size_t>(feature)]);
  from = std::move(result);
}
void follow(const RowStep& /*step*/, std::vector<std::int64_t>& /*from*/) {}
void follow(const Scaling& /*step*/, std::vector<std::int64_t>& /*from*/) {}

constexpr std::int64_t left_out = -1;

std::int64_t next_place(const EncodeStep& step, std::int64_t place) {
  for (std::size_t c = 0; c < step.columns.size(); ++c)
    if (step.columns[c].feature == place && step.columns[c].levels.empty()) return static_cast<std::int64_t>(c);
  return left_out;
}
std::int64_t next_place(const TakeStep& step, std::int64_t place) {
  const auto found = std::find(step.features.begin(), step.features.end(), place);
  return found == step.features.end() ? left_out : found - step.features.begin();
}
template <class Step>
std::int64_t next_place(const Step& /*step*/, std::int64_t place) {
  return place;
}

}  // namespace

std::optional<std::int64_t> place_behind(const Pipeline& pipeline, std::int64_t feature) {
  auto place = feature;
  for (const auto& step : pipeline.steps) {
    place = std::visit([&](const auto& one) { return next_place(one, place); }, step);
    if (place == left_out) return std::nullopt;
  }
  return place;
}

std::vector<std::int64_t> origins(const Pipeline& pipeline, std::int64_t features) {
  std::vector<std::int64_t> from(static_cast<std::size_t>(pipeline.empty() ? features : pipeline.features));
  std::iota(from.begin(), from.end(), 0);
  for (const auto& step : pipeline.steps) std::visit([&](const auto& one) { follow(one, from); }, step);
  require(std::ssize(from) == features, "a pipeline gives another number of features than its model has");
  return from;
}

bool mixes_features(const Pipeline& pipeline) {
  return std::any_of(pipeline.steps.begin(), pipeline.steps.end(), [](const auto& step) {
    const auto* row = std::get_if<RowStep>(&step);
    return row != nullptr && row->mixes_features();
  });
}

}  // namespace sheaf::pipeline

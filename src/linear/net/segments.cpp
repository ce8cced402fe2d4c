// Selects the models that a device trains at once, and their starting points.
//
// A GPU has room for more models than a search has paths. On a GPU a path is cut into segments: a first pass trains
// every m-th model, then the models between are trained, all segments at once, each from the model that it follows.
#include <algorithm>
#include <cmath>
#include <utility>

#include "linear/losses/losses.hpp"
#include "linear/net/paths.hpp"

namespace sheaf::linear {
namespace {

/// Models beyond which a device gains nothing.
constexpr std::int32_t worthwhile_on_cpu = 64;
constexpr std::int32_t worthwhile_on_gpu = 2048;
/// Paths are cut if models are fewer.
constexpr std::int32_t models_to_fill_gpu = 512;

/// The log odds of a class against the others, which determine its loss.
double log_odds_of(std::span<const double> decisions, std::int32_t c) {
  const double own = decisions[static_cast<std::size_t>(c)];
  double others = 0;
  for (std::size_t k = 0; k < decisions.size(); ++k)
    others += k != static_cast<std::size_t>(c) ? std::exp(decisions[k] - own) : 0.0;
  return -std::log(others);
}

}  // namespace

template <class T>
std::int32_t NetRun<T>::most_models() const {
  if (params_.models_at_once > 0) return params_.models_at_once;
  std::int64_t of_rows = classes() > 1 ? row_vectors<Softmax>(classes()) / classes() + 1 : 5;
  bool smoothed = false;
  with_net_loss(params_.loss, [&](auto functor) {
    using Functor = decltype(functor);
    smoothed = has_width<Functor>;
    if constexpr (is_cox<Functor>) of_rows = row_vectors<Functor>(1);
    if constexpr (has_width<Functor>) of_rows = row_vectors<Functor>(1) * 2;  // doubles
  });
  std::int64_t per_column = (4 * features_ + of_rows * sheaf_.examples) * static_cast<std::int64_t>(sizeof(T));
  if (smoothed && context_.device().is_cuda())
    per_column += SystemRoom::numbers(SystemRoom::largest) * static_cast<std::int64_t>(sizeof(double));
  const std::int64_t room = (context_.memory() - linear_->data_bytes()) / 2;
  const std::int64_t worthwhile = context_.device().is_cuda() ? worthwhile_on_gpu : worthwhile_on_cpu;
  const std::int64_t columns = std::min(room / per_column / 8 * 8, worthwhile);
  return static_cast<std::int32_t>(std::max<std::int64_t>(columns / classes(), 1));
}

/// Whole paths on the CPU; pieces of about the square root of their length if the GPU has room.
template <class T>
void NetRun<T>::plan_segments(std::span<const std::int32_t> paths) {
  const auto count = static_cast<std::int32_t>(paths.size());
  const bool cut = context_.device().is_cuda() && count < models_to_fill_gpu;
  const std::int32_t room = std::min(most_models(), models_to_fill_gpu) / std::max(count, 1);
  std::vector<PathSegment> pieces;
  segments_.clear();
  held_.clear();
  for (const std::int32_t p : paths) {
    const auto alphas = static_cast<std::int32_t>(sheaf_.paths[static_cast<std::size_t>(p)].alphas.size());
    if (alphas == 0) continue;
    const auto root = static_cast<std::int32_t>(std::lround(std::sqrt(static_cast<double>(alphas))));
    const std::int32_t parts = cut ? std::clamp(std::min(root, room), 1, alphas) : 1;
    const std::int32_t length = (alphas + parts - 1) / parts;
    PathSegment first{p, {}, -1, -1};
    if (parts == 1) {
      for (std::int32_t a = 0; a < alphas; ++a) first.alphas.push_back(a);
    } else {
      first.hold = static_cast<std::int32_t>(held_.size());
      for (std::int32_t a = 0; a < alphas; a += length) {
        first.alphas.push_back(a);
        PathSegment piece{p, {}, static_cast<std::int32_t>(held_.size()), -1};
        for (std::int32_t b = a + 1; b < std::min(a + length, alphas); ++b) piece.alphas.push_back(b);
        if (!piece.alphas.empty()) pieces.push_back(std::move(piece));
        held_.emplace_back();
      }
    }
    segments_.push_back(std::move(first));
  }
  first_pass_ = static_cast<std::int32_t>(segments_.size());
  segments_.insert(segments_.end(), pieces.begin(), pieces.end());
  if (held_.empty()) return;
  const auto columns = static_cast<std::int32_t>(held_.size()) * classes();
  held_w_ = Block<T>(features_, columns, context_.device());
  held_z_ = Block<T>(sheaf_.examples, columns, context_.device());
  held_u_ = Block<T>(sheaf_.examples, columns, context_.device());
}

template <class T>
void NetRun<T>::begin(std::int32_t first, std::int32_t last) {
  states_.clear();
  for (std::int32_t s = first; s < last; ++s) {
    ModelState state;
    const auto& segment = segments_[static_cast<std::size_t>(s)];
    if (segment.from >= 0) state = held_[static_cast<std::size_t>(segment.from)];
    state.segment = s;
    state.at = 0;
    state.id = started_++;
    state.finished = false;
    state.fresh = segment.from < 0;
    state.alpha = target_alpha(state);
    advance(state);
    states_.push_back(state);
  }
  moved_.assign(states_.size() * static_cast<std::size_t>(parts()), 1);
  g_ = Block<T>(features_, count() * classes(), context_.device());
  segments_[static_cast<std::size_t>(first)].from < 0 ? start_without_weights() : start_from_held();
}

/// No weights, and the intercepts that are best without any.
template <class T>
void NetRun<T>::start_without_weights() {
  const std::int32_t columns = count() * classes();
  Block<T> z(sheaf_.examples, columns), u(sheaf_.examples, columns);
  for (std::int32_t t = 0; t < count(); ++t) {
    auto& state = states_[static_cast<std::size_t>(t)];
    const auto& path = path_of(state);
    const auto& null = null_of(state);
    state.intercepts = null.intercepts;
    state.rows = {null.loss, null.loss};  // without weights they are equal
    for (std::int32_t c = 0; c < classes(); ++c) {
      const auto decision_of = [&](const std::vector<double>& values) {
        return params_.loss == Loss::softmax ? log_odds_of(values, c) : values[static_cast<std::size_t>(c)];
      };
      const auto decision = [&](std::int64_t i) {
        auto decisions = null.intercepts;
        for (std::int32_t k = 0; k < classes(); ++k) decisions[static_cast<std::size_t>(k)] += offset_of(sheaf_, i, k);
        return decision_of(decisions);
      };
      const double same = decision_of(null.intercepts);
      const LossParameters parameters{params_.loss_parameter, null.width};
      with_net_loss(params_.loss, [&](auto functor) {
        std::vector<double> residuals;
        if constexpr (is_cox<decltype(functor)>)
          null_cox(sheaf_, *risk_, path, null.total, &residuals);
        else
          for (std::int64_t i = 0; i < sheaf_.examples; ++i) {
            const double y = target_of(sheaf_, i, path.target + c);
            const double at = sheaf_.offsets.empty() ? same : decision(i);
            residuals.push_back(-row_weight(sheaf_, i, path.rows) *
                                terms_of<decltype(functor)>(at, y, parameters).slope);
          }
        for (std::int64_t i = 0; i < sheaf_.examples; ++i) {
          z(i, t * classes() + c) = static_cast<T>(null.intercepts[static_cast<std::size_t>(c)]);
          u(i, t * classes() + c) = static_cast<T>(residuals[static_cast<std::size_t>(i)]);
        }
      });
    }
  }
  u_ = u.to(context_.device());
  w_ = Block<T>(features_, columns, context_.device());
  z_ = z.to(context_.device());
}

template <class T>
void NetRun<T>::start_from_held() {
  std::vector<std::int32_t> models;
  for (const auto& state : states_) models.push_back(segment_of(state).from);
  const auto from = columns_of(models);
  w_ = kept_columns(*linear_, held_w_, from);
  z_ = kept_columns(*linear_, held_z_, from);
  u_ = kept_columns(*linear_, held_u_, from);
}

// The rest of the class is instantiated in paths.cpp.
#define SHEAF_INSTANTIATE(T)                                             \
  template std::int32_t NetRun<T>::most_models() const;                  \
  template void NetRun<T>::plan_segments(std::span<const std::int32_t>); \
  template void NetRun<T>::begin(std::int32_t, std::int32_t);
SHEAF_INSTANTIATE(float)
SHEAF_INSTANTIATE(double)
#undef SHEAF_INSTANTIATE

}  // namespace sheaf::linear

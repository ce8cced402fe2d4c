// Which lanes a device works on at once.
//
// A GPU has room for more lanes than a search has paths. There a path is cut: first every m-th model is trained, then
// the models between, all pieces abreast, each from the model that it follows.
#include <algorithm>
#include <cmath>

#include "linear/net/paths.hpp"

namespace sheaf::linear {
namespace {

/// Lanes beyond which a device gains nothing.
constexpr std::int32_t worthwhile_on_cpu = 64;
constexpr std::int32_t worthwhile_on_gpu = 2048;
/// Paths are cut where they are fewer.
constexpr std::int32_t lanes_to_fill_gpu = 512;

}  // namespace

template <class T>
std::int32_t NetRun<T>::most_lanes() const {
  if (params_.lanes > 0) return params_.lanes;
  const std::int64_t per_lane = (4 * features_ + 5 * sheaf_.examples) * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t room = (context_.memory() - linear_->data_bytes()) / 2;
  const bool gpu = context_.device().is_cuda();
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(room / per_lane / 8 * 8, 1, gpu ? worthwhile_on_gpu : worthwhile_on_cpu));
}

/// Whole paths on the CPU; pieces of about the square root of their length where the GPU has room.
template <class T>
void NetRun<T>::plan_stretches(std::span<const std::int32_t> paths) {
  const auto count = static_cast<std::int32_t>(paths.size());
  const bool cut = context_.device().is_cuda() && count < lanes_to_fill_gpu;
  const std::int32_t room = std::min(most_lanes(), lanes_to_fill_gpu) / std::max(count, 1);
  std::vector<NetStretch> pieces;
  stretches_.clear();
  held_.clear();
  for (const std::int32_t p : paths) {
    const auto alphas = static_cast<std::int32_t>(sheaf_.paths[static_cast<std::size_t>(p)].alphas.size());
    if (alphas == 0) continue;
    const auto root = static_cast<std::int32_t>(std::lround(std::sqrt(static_cast<double>(alphas))));
    const std::int32_t parts = cut ? std::clamp(std::min(root, room), 1, alphas) : 1;
    const std::int32_t length = (alphas + parts - 1) / parts;
    NetStretch head{p, {}, -1, -1};
    if (parts == 1) {
      for (std::int32_t a = 0; a < alphas; ++a) head.alphas.push_back(a);
    } else {
      head.hold = static_cast<std::int32_t>(held_.size());
      for (std::int32_t a = 0; a < alphas; a += length) {
        head.alphas.push_back(a);
        NetStretch piece{p, {}, static_cast<std::int32_t>(held_.size()), -1};
        for (std::int32_t b = a + 1; b < std::min(a + length, alphas); ++b) piece.alphas.push_back(b);
        if (!piece.alphas.empty()) pieces.push_back(std::move(piece));
        held_.emplace_back();
      }
    }
    stretches_.push_back(std::move(head));
  }
  heads_ = static_cast<std::int32_t>(stretches_.size());
  stretches_.insert(stretches_.end(), pieces.begin(), pieces.end());
  if (held_.empty()) return;
  const auto columns = static_cast<std::int32_t>(held_.size());
  held_w_ = Block<T>(features_, columns, context_.device());
  held_z_ = Block<T>(sheaf_.examples, columns, context_.device());
  held_u_ = Block<T>(sheaf_.examples, columns, context_.device());
}

template std::int32_t NetRun<float>::most_lanes() const;
template std::int32_t NetRun<double>::most_lanes() const;
template void NetRun<float>::plan_stretches(std::span<const std::int32_t>);
template void NetRun<double>::plan_stretches(std::span<const std::int32_t>);

}  // namespace sheaf::linear

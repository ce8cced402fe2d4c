// Votes and the choice of classes on one NVIDIA GPU: one thread takes one query under one rule or model.
#include <algorithm>

#include "cuda/check.cuh"
#include "neighbors/votes/votes.hpp"

namespace sheaf::neighbors {
namespace {

constexpr int vote_threads = 128;
constexpr std::int64_t most_blocks = 65535;

unsigned blocks_for(std::int64_t size) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((size + vote_threads - 1) / vote_threads, 1, most_blocks));
}

struct VotersView {
  std::int32_t classes;  // 0: regression
  const std::int32_t* labels;
  const double* numbers;
  const float* weights;  // nullptr: 1
};

/// `values`: queries x rules x columns, all 0.
__global__ void count_rows(VotersView voters, const VoteRule* rules, std::int64_t rule_count, const std::int32_t* rows,
                           const double* distances, std::int64_t queries, std::int64_t length, double* values) {
  const std::int64_t columns = voters.classes > 0 ? voters.classes : 1;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; e < queries * rule_count;
       e += step) {
    const VoteRule rule = rules[e % rule_count];
    const std::int32_t* mine = rows + e / rule_count * length;
    const double* near = distances + e / rule_count * length;
    double* own = values + e * columns;
    double total = 0;
    for (std::int64_t n = 0; n < rule.k; ++n) {
      double vote = vote_of(rule.vote, near, n, rule.k);
      if (voters.weights != nullptr) vote *= static_cast<double>(voters.weights[mine[n]]);
      total += vote;
      if (voters.classes > 0)
        own[voters.labels[mine[n]]] += vote;
      else
        own[0] += vote * voters.numbers[mine[n]];
    }
    for (std::int64_t c = 0; c < columns; ++c) own[c] = total > 0 ? own[c] / total : 0;
  }
}

__global__ void choose_rows(OrderedChoice choice, const double* values, const std::int32_t* rows, std::int64_t queries,
                            std::int64_t models, BlockView<double> z, BlockView<std::int32_t> predicted) {
  const std::int64_t each = choice.classes > 0 ? choice.classes : 1;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; e < queries * models;
       e += step) {
    const std::int64_t row = rows[e / models];
    const std::int64_t m = e % models;
    choice.put(values + e * each, z.data + row * z.stride + m * choice.columns(),
               choice.classes > 0 ? predicted.data + row * predicted.stride + m : nullptr);
  }
}

}  // namespace

Array<double> count_votes_cuda(const Context& context, const Voters& voters, std::span<const VoteRule> rules,
                               const NeighborLists& lists) {
  context.check_stop();
  const auto device = context.device();
  const cuda::Current current(device.index);
  const auto pairs = lists.queries * std::ssize(rules);
  auto values = Array<double>::zeros(pairs * static_cast<std::int64_t>(voters.columns()), device);
  if (pairs == 0) return values;
  const auto on_device = Array<VoteRule>::copy_of(rules, device);
  const auto labels = Array<std::int32_t>::copy_of(voters.labels, device);
  const auto numbers = Array<double>::copy_of(voters.values, device);
  const auto weights = Array<float>::copy_of(voters.weights, device);
  const auto rows = Array<std::int32_t>::copy_of(lists.indices, device);
  const auto distances = Array<double>::copy_of(lists.distances, device);
  const VotersView view{voters.classes, labels.data(), numbers.data(),
                        voters.weights.empty() ? nullptr : weights.data()};
  cuda::Stream stream;
  count_rows<<<blocks_for(pairs), vote_threads, 0, stream>>>(view, on_device.data(), std::ssize(rules), rows.data(),
                                                             distances.data(), lists.queries, lists.k, values.data());
  cuda::check_launch("count_rows");
  stream.synchronize();
  return values;
}

void choose_classes_cuda(const Context& context, std::span<const std::int32_t> order, const Decided& decided) {
  context.check_stop();
  const auto device = context.device();
  const cuda::Current current(device.index);
  const auto classes = Array<std::int32_t>::copy_of(order, device);
  const auto rows = Array<std::int32_t>::copy_of(decided.rows, device);
  const OrderedChoice choice{classes.data(), static_cast<std::int32_t>(order.size())};
  const std::int64_t models = decided.z.tasks / choice.columns();
  const std::int64_t size = std::ssize(decided.rows) * models;
  if (size == 0) return;
  cuda::Stream stream;
  choose_rows<<<blocks_for(size), vote_threads, 0, stream>>>(
      choice, decided.values, rows.data(), std::ssize(decided.rows), models, decided.z, decided.predicted);
  cuda::check_launch("choose_rows");
  stream.synchronize();
}

}  // namespace sheaf::neighbors

#include "data/split/time_windows.hpp"

#include <algorithm>
#include <numeric>

#include "core/fail.hpp"
#include "core/text.hpp"

namespace sheaf {
namespace {

/// Places of the times among all different ones.
std::vector<std::int32_t> moments_of(std::int64_t rows, std::span<const std::int32_t> times) {
  std::vector<std::int32_t> moments(static_cast<std::size_t>(rows));
  if (times.empty()) {
    std::iota(moments.begin(), moments.end(), 0);
    return moments;
  }
  std::vector<std::int32_t> distinct(times.begin(), times.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (std::size_t i = 0; i < moments.size(); ++i)
    moments[i] =
        static_cast<std::int32_t>(std::lower_bound(distinct.begin(), distinct.end(), times[i]) - distinct.begin());
  return moments;
}

std::vector<bool> tested_groups(std::span<const std::int32_t> rows, std::span<const std::int32_t> groups) {
  std::vector<bool> tested(static_cast<std::size_t>(*std::max_element(groups.begin(), groups.end())) + 1, false);
  for (const auto row : rows) tested[static_cast<std::size_t>(groups[static_cast<std::size_t>(row)])] = true;
  return tested;
}

}  // namespace

TimeWindows::TimeWindows(std::int64_t rows, std::span<const std::int32_t> times, const SplitOptions& options)
    : moments_(moments_of(rows, times)),
      count_(*std::max_element(moments_.begin(), moments_.end()) + 1),
      splits_(options.count),
      test_size_(options.test_size > 0 ? options.test_size : count_ / (splits_ + 1)),
      window_(options.window),
      gap_(options.gap) {
  const auto* what = times.empty() ? "rows" : "different times";
  if (test_size_ < 1)
    fail_usage("{} by time need at least {} {}, not {}", counted(splits_, "split"), splits_ + 1, what, count_);
  if (test_size_ > count_ || gap_ > count_ || splits_ * test_size_ + gap_ >= count_)
    fail_usage(
        "{} that test {} {} each after a gap of {} need more than {} of them, not {}; take fewer splits, a "
        "smaller test size or a smaller gap",
        counted(splits_, "split"), test_size_, what, gap_, splits_ * test_size_ + gap_, count_);
}

std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>> TimeWindows::rows_of(
    std::int32_t split, std::span<const std::int32_t> groups) const {
  const auto first_test = count_ - (splits_ - split) * test_size_;
  const auto end = first_test - gap_;
  const auto begin = window_ > 0 ? std::max<std::int64_t>(0, end - window_) : 0;
  std::vector<std::int32_t> train, test;
  for (std::size_t i = 0; i < moments_.size(); ++i) {
    const auto moment = moments_[i];
    if (moment >= begin && moment < end) train.push_back(static_cast<std::int32_t>(i));
    if (moment >= first_test && moment < first_test + test_size_) test.push_back(static_cast<std::int32_t>(i));
  }
  if (!groups.empty()) {
    const auto tested = tested_groups(test, groups);
    std::erase_if(train,
                  [&](auto row) { return tested[static_cast<std::size_t>(groups[static_cast<std::size_t>(row)])]; });
  }
  return {std::move(train), std::move(test)};
}

}  // namespace sheaf

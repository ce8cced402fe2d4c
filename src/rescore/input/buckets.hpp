// Many elements put into buckets by all threads, the first step of sorts, joins and passes over files in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"

namespace sheaf::rescore {

/// Elements 0 .. count-1 by their bucket.
struct Buckets {
  std::vector<std::int32_t> elements;  ///< of one bucket in ascending order
  std::vector<std::int64_t> begins;    ///< of each bucket, and the end of the last

  std::int64_t size() const { return static_cast<std::int64_t>(begins.size()) - 1; }
  std::span<std::int32_t> operator[](std::int64_t bucket) {
    return std::span(elements).subspan(begin(bucket), begin(bucket + 1) - begin(bucket));
  }
  std::span<const std::int32_t> operator[](std::int64_t bucket) const {
    return std::span(elements).subspan(begin(bucket), begin(bucket + 1) - begin(bucket));
  }

 private:
  std::size_t begin(std::int64_t bucket) const {
    return static_cast<std::size_t>(begins[static_cast<std::size_t>(bucket)]);
  }
};

/// Buckets for `count` elements: few enough to be written to at once, enough for all threads, small enough for a cache.
inline std::int64_t bucket_count(std::int64_t count) { return std::clamp<std::int64_t>(count >> 13U, 1, 4096); }

/// bucket_of(i): of element i, below `buckets`; it is called twice.
template <class BucketOf>
Buckets put_in_buckets(const Context& context, std::int64_t count, std::int64_t buckets, const BucketOf& bucket_of) {
  constexpr std::int64_t least = 1 << 16;
  const std::int64_t parts = std::clamp<std::int64_t>(count / least, 1, 4 * std::int64_t{context.threads()});
  const auto width = static_cast<std::size_t>(buckets);
  std::vector<std::int64_t> places(static_cast<std::size_t>(parts) * width, 0);  // of each part and bucket
  const auto each = [&](std::int64_t part, const auto& take) {
    std::int64_t* const mine = places.data() + static_cast<std::size_t>(part) * width;
    const Range range = part_of(count, parts, part);
    for (std::int64_t i = range.begin; i < range.end; ++i) take(mine[bucket_of(i)], i);
  };
  parallel_for(context, parts,
               [&](std::int64_t part) { each(part, [](std::int64_t& place, std::int64_t /*i*/) { ++place; }); });
  Buckets result;
  std::int64_t place = 0;
  for (std::size_t b = 0; b < width; ++b) {
    result.begins.push_back(place);
    for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part)
      place += std::exchange(places[part * width + b], place);
  }
  result.begins.push_back(place);
  result.elements.resize(static_cast<std::size_t>(count));
  parallel_for(context, parts, [&](std::int64_t part) {
    each(part, [&](std::int64_t& next, std::int64_t i) {
      result.elements[static_cast<std::size_t>(next++)] = static_cast<std::int32_t>(i);
    });
  });
  return result;
}

}  // namespace sheaf::rescore

// Nearly all rows of most datasets differ in two of their values. A table of bits, 16 for each row, finds those that
// do not; only these are compared as a whole.
#include "data/split/equal_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "core/parallel.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t rows_at_once = 1024;

std::uint64_t mix(std::uint64_t hash, std::uint64_t bits) {
  hash = (hash ^ bits) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29U);
}

/// The same for values that count as equal.
template <class T>
std::uint64_t bits_of(T value) {
  using Bits = std::conditional_t<sizeof(T) == sizeof(double), std::uint64_t, std::uint32_t>;
  if (value == 0) return 0;
  return std::isnan(value) ? ~std::uint64_t{0} : std::bit_cast<Bits>(value);
}

/// Some features of rows: the first of them, the step to the next, and how many at most (of sparse rows: non-zeros).
struct Part {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

template <class T>
std::uint64_t hash_row(const DenseMatrix<T>& x, std::int64_t row, const Part& part) {
  const T* values = x.values.data() + row * x.columns;
  std::uint64_t hash = 0;
  auto left = part.most;
  for (std::int64_t j = part.first; j < x.columns && left > 0; j += part.step, --left)
    hash = mix(hash, bits_of(values[j]));
  return hash;
}

template <class T>
std::uint64_t hash_row(const SparseMatrix<T>& x, std::int64_t row, const Part& part) {
  std::uint64_t hash = 0;
  std::int64_t taken = 0;
  for (std::int64_t k = x.offsets[row]; k < x.offsets[row + 1] && taken < part.most; ++k) {
    if (x.values[k] == 0 || x.indices[k] % part.step != part.first) continue;
    hash = mix(mix(hash, static_cast<std::uint64_t>(x.indices[k]) + 1), bits_of(x.values[k]));
    ++taken;
  }
  return hash;
}

/// The two features of a dense dataset that have the most different values in some of its rows.
template <class T>
Part telling_part(const DenseMatrix<T>& x) {
  constexpr std::int64_t probed = 64;
  std::vector<std::pair<std::int64_t, std::int64_t>> found;  // number of values, negative, and feature
  std::vector<std::uint64_t> values;
  const auto rows = std::min(probed * 4, x.rows);
  for (std::int64_t j = 0; j < x.columns; j += std::max<std::int64_t>(1, x.columns / probed)) {
    values.clear();
    for (std::int64_t i = 0; i < rows; ++i) values.push_back(bits_of(x.values[x.rows / rows * i * x.columns + j]));
    std::sort(values.begin(), values.end());
    found.emplace_back(-(std::unique(values.begin(), values.end()) - values.begin()), j);
  }
  std::sort(found.begin(), found.end());
  if (found.size() < 2) return {};
  const auto [low, high] = std::minmax(found[0].second, found[1].second);
  return {low, high - low, 2};
}

template <class T>
Part telling_part(const SparseMatrix<T>&) {
  return {.most = 2};
}

template <class T>
bool are_equal(const DenseMatrix<T>& x, std::int64_t a, std::int64_t b) {
  const T* first = x.values.data() + a * x.columns;
  const T* second = x.values.data() + b * x.columns;
  return std::equal(first, first + x.columns, second, [](T one, T other) { return bits_of(one) == bits_of(other); });
}

template <class T>
bool are_equal(const SparseMatrix<T>& x, std::int64_t a, std::int64_t b) {
  auto i = x.offsets[a];
  auto k = x.offsets[b];
  const auto next = [&](std::int64_t& at, std::int64_t end) {
    while (at < end && x.values[at] == 0) ++at;
    return at < end;
  };
  while (true) {
    const bool one = next(i, x.offsets[a + 1]);
    const bool other = next(k, x.offsets[b + 1]);
    if (!one || !other) return one == other;
    if (x.indices[i] != x.indices[k] || bits_of(x.values[i]) != bits_of(x.values[k])) return false;
    ++i;
    ++k;
  }
}

template <class T>
std::vector<std::uint64_t> hashes_of(const Matrix<T>& x, std::span<const std::int32_t> rows, const Part& part,
                                     int threads) {
  std::vector<std::uint64_t> hashes(rows.size());
  std::visit(
      [&](const auto& matrix) {
        parallel_ranges(threads, std::ssize(rows), rows_at_once, [&](Range range) {
          for (auto k = static_cast<std::size_t>(range.begin); k < static_cast<std::size_t>(range.end); ++k)
            hashes[k] = hash_row(matrix, rows[k], part);
        });
      },
      x);
  return hashes;
}

/// Rows of those given that may be equal to another one by some of their features, in the same order.
template <class T>
std::vector<std::int32_t> candidates(const Matrix<T>& x, std::span<const std::int32_t> rows, const Part& part,
                                     int threads) {
  const auto hashes = hashes_of(x, rows, part, threads);
  const std::uint64_t slots = std::bit_ceil(hashes.size() * 16 + 64);
  std::vector<std::uint64_t> once(slots / 64), twice(slots / 64);
  const auto slot = [&](std::uint64_t hash) { return (hash * 0xD6E8FEB86659FD93ULL >> 20U) & (slots - 1); };
  for (const auto hash : hashes) {
    const auto at = slot(hash);
    const auto bit = std::uint64_t{1} << (at % 64);
    twice[at / 64] |= once[at / 64] & bit;
    once[at / 64] |= bit;
  }
  std::vector<std::int32_t> found;
  for (std::size_t i = 0; i < hashes.size(); ++i)
    if (const auto at = slot(hashes[i]); (twice[at / 64] >> (at % 64) & 1U) != 0) found.push_back(rows[i]);
  return found;
}

/// Calls meet(place, first place of the same) for each hash that occurred before, according to same(first place,
/// place).
template <class Same, class Meet>
void find_repeated(const std::vector<std::uint64_t>& hashes, Same&& same, Meet&& meet) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> slots(std::bit_ceil(hashes.size() * 2 + 2), none);
  for (std::uint32_t place = 0; place < hashes.size(); ++place) {
    auto at = static_cast<std::size_t>(hashes[place] >> 7U) & (slots.size() - 1);
    while (slots[at] != none && (hashes[slots[at]] != hashes[place] || !same(slots[at], place)))
      at = (at + 1) & (slots.size() - 1);
    if (slots[at] == none)
      slots[at] = place;
    else
      meet(place, slots[at]);
  }
}

template <class T>
std::int64_t count_distinct(const Matrix<T>& x, std::span<const std::int32_t> rows, const Part& part, int threads) {
  auto count = std::ssize(rows);
  find_repeated(
      hashes_of(x, rows, part, threads), [](auto, auto) { return true; }, [&](auto, auto) { --count; });
  return count;
}

template <class T>
bool have_few_values(const Matrix<T>& x, const EqualRowSets& sets, int threads) {
  constexpr double many = 0.1;
  constexpr double nearly_all = 0.9;
  if (static_cast<double>(sets.rows) <= many * static_cast<double>(rows(x))) return false;
  std::vector<std::int32_t> distinct;
  for (std::size_t i = 0; i < sets.first.size(); ++i)
    if (sets.first[i] == static_cast<std::int32_t>(i)) distinct.push_back(sets.first[i]);
  if (columns(x) < 2) return true;
  const auto most =
      std::max(count_distinct(x, distinct, {0, 2}, threads), count_distinct(x, distinct, {1, 2}, threads));
  return static_cast<double>(most) < nearly_all * static_cast<double>(distinct.size());
}

}  // namespace

template <class T>
EqualRowSets find_equal_rows(const Matrix<T>& x, int threads) {
  constexpr std::int64_t sampled = 16;
  EqualRowSets sets;
  std::vector<std::int32_t> all(static_cast<std::size_t>(rows(x)));
  std::iota(all.begin(), all.end(), 0);
  auto some = candidates(x, all, std::visit([](const auto& matrix) { return telling_part(matrix); }, x), threads);
  if (!some.empty() && columns(x) > 2 * sampled && !is_sparse(x))
    some = candidates(x, some, {0, columns(x) / sampled}, threads);
  std::vector<std::uint8_t> has_equal(all.size(), 0);
  find_repeated(
      hashes_of(x, some, {}, threads),
      [&](auto first, auto place) {
        return std::visit([&](const auto& matrix) { return are_equal(matrix, some[first], some[place]); }, x);
      },
      [&](auto place, auto first) {
        all[static_cast<std::size_t>(some[place])] = some[first];
        has_equal[static_cast<std::size_t>(some[place])] = has_equal[static_cast<std::size_t>(some[first])] = 1;
      });
  sets.rows = std::count(has_equal.begin(), has_equal.end(), 1);
  if (sets.rows == 0) return sets;
  sets.first = std::move(all);
  sets.few_values = have_few_values(x, sets, threads);
  return sets;
}

template EqualRowSets find_equal_rows(const Matrix<float>&, int);
template EqualRowSets find_equal_rows(const Matrix<double>&, int);

std::vector<std::int32_t> join_groups(std::span<const std::int32_t> groups, const EqualRowSets& sets) {
  const auto rows = std::max(groups.size(), sets.first.size());
  std::vector<std::int32_t> parent(rows);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::int32_t row) {
    while (parent[static_cast<std::size_t>(row)] != row) {
      auto& up = parent[static_cast<std::size_t>(row)];
      row = up = parent[static_cast<std::size_t>(up)];
    }
    return row;
  };
  const auto join = [&](std::int32_t a, std::int32_t b) {
    const auto one = root(a);
    const auto other = root(b);
    parent[static_cast<std::size_t>(std::max(one, other))] = std::min(one, other);
  };
  std::vector<std::int32_t> first_of_group;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<std::int32_t>(i);
    if (!sets.first.empty()) join(sets.first[i], row);
    if (groups.empty()) continue;
    const auto group = static_cast<std::size_t>(groups[i]);
    if (group >= first_of_group.size()) first_of_group.resize(group + 1, -1);
    if (first_of_group[group] < 0) first_of_group[group] = row;
    join(first_of_group[group], row);
  }
  std::vector<std::int32_t> numbers(rows, -1);
  std::int32_t next = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    auto& mine = numbers[static_cast<std::size_t>(root(static_cast<std::int32_t>(i)))];
    if (mine < 0) mine = next++;
    numbers[i] = mine;
  }
  return numbers;
}

}  // namespace sheaf

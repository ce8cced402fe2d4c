// Most rows are told apart by a few of their values: a table of bits, 16 for each row, finds those that may have an
// equal. Only these are looked at as a whole.
#include "data/split/equal_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "core/parallel.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t sampled_values = 16;
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

/// Some features of a row: all, every other one from the first or the second, or those that tell most rows apart.
enum class Part : std::uint8_t { all, even, odd, sample };

bool takes(Part part, std::int64_t feature) {
  return part == Part::all || part == Part::sample || feature % 2 == (part == Part::odd ? 1 : 0);
}

template <class T>
std::uint64_t hash_row(const DenseMatrix<T>& x, std::int64_t row, Part part) {
  const T* values = x.values.data() + row * x.columns;
  const std::int64_t step = part == Part::sample ? std::max<std::int64_t>(1, x.columns / sampled_values)
                            : part == Part::all  ? 1
                                                 : 2;
  std::uint64_t hash = 0;
  for (std::int64_t j = part == Part::odd ? 1 : 0; j < x.columns; j += step) hash = mix(hash, bits_of(values[j]));
  return hash;
}

template <class T>
std::uint64_t hash_row(const SparseMatrix<T>& x, std::int64_t row, Part part) {
  const std::int64_t most = part == Part::sample ? sampled_values : x.columns;
  std::uint64_t hash = 0;
  std::int64_t taken = 0;
  for (std::int64_t k = x.offsets[row]; k < x.offsets[row + 1] && taken < most; ++k) {
    if (x.values[k] == 0 || !takes(part, x.indices[k])) continue;
    hash = mix(mix(hash, static_cast<std::uint64_t>(x.indices[k]) + 1), bits_of(x.values[k]));
    ++taken;
  }
  return hash;
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
std::vector<std::uint64_t> hashes_of(const Matrix<T>& x, std::span<const std::int32_t> rows, Part part, int threads) {
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

/// Rows whose sampled values another row may have too, ascending.
template <class T>
std::vector<std::int32_t> candidates(const Matrix<T>& x, std::span<const std::int32_t> all, int threads) {
  const auto hashes = hashes_of(x, all, Part::sample, threads);
  const std::uint64_t slots = std::bit_ceil(hashes.size() * 16);
  std::vector<std::uint64_t> once(slots / 64 + 1), twice(slots / 64 + 1);
  const auto slot = [&](std::uint64_t hash) { return (hash * 0xD6E8FEB86659FD93ULL >> 20U) & (slots - 1); };
  for (const auto hash : hashes) {
    const auto at = slot(hash);
    const auto bit = std::uint64_t{1} << (at % 64);
    twice[at / 64] |= once[at / 64] & bit;
    once[at / 64] |= bit;
  }
  std::vector<std::int32_t> found;
  for (std::size_t i = 0; i < hashes.size(); ++i)
    if (const auto at = slot(hashes[i]); (twice[at / 64] >> (at % 64) & 1U) != 0) found.push_back(all[i]);
  return found;
}

template <class T>
std::int64_t count_distinct(const Matrix<T>& x, std::span<const std::int32_t> rows, Part part, int threads) {
  auto hashes = hashes_of(x, rows, part, threads);
  std::sort(hashes.begin(), hashes.end());
  return std::unique(hashes.begin(), hashes.end()) - hashes.begin();
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
      std::max(count_distinct(x, distinct, Part::even, threads), count_distinct(x, distinct, Part::odd, threads));
  return static_cast<double>(most) < nearly_all * static_cast<double>(distinct.size());
}

}  // namespace

template <class T>
EqualRowSets find_equal_rows(const Matrix<T>& x, int threads) {
  EqualRowSets sets;
  std::vector<std::int32_t> all(static_cast<std::size_t>(rows(x)));
  std::iota(all.begin(), all.end(), 0);
  const auto some = candidates(x, all, threads);
  if (some.empty()) return sets;
  const auto hashes = hashes_of(x, some, Part::all, threads);
  std::vector<std::size_t> order(some.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return std::pair(hashes[a], a) < std::pair(hashes[b], b); });
  std::vector<std::uint8_t> has_equal(all.size(), 0);
  std::vector<std::int32_t> firsts;  // of rows that have one hash and differ
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k == 0 || hashes[order[k]] != hashes[order[k - 1]]) firsts.clear();
    const auto row = some[order[k]];
    const auto found = std::find_if(firsts.begin(), firsts.end(), [&](std::int32_t first) {
      return std::visit([&](const auto& matrix) { return are_equal(matrix, first, row); }, x);
    });
    if (found == firsts.end()) {
      firsts.push_back(row);
      continue;
    }
    all[static_cast<std::size_t>(row)] = *found;
    has_equal[static_cast<std::size_t>(row)] = has_equal[static_cast<std::size_t>(*found)] = 1;
  }
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
    const auto [low, high] = std::minmax(root(a), root(b));
    parent[static_cast<std::size_t>(high)] = low;
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

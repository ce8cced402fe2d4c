#include <algorithm>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "data/memory/argument.hpp"
#include "data/memory/matrices.hpp"

namespace sheaf::memory {
namespace {

constexpr std::int64_t row_grain = 1024;

/// Names of rows and columns in messages: compressed columns are the compressed rows of the transpose.
struct Axes {
  std::int64_t major, minor;
  std::string_view majors, minors;
};

Axes axes_of(const SparseInput& input) {
  if (input.layout == SparseLayout::csr) return {input.rows, input.columns, "rows", "columns"};
  return {input.columns, input.rows, "columns", "rows"};
}

std::int64_t size_of(const auto& any) {
  return std::visit([](const auto& values) { return static_cast<std::int64_t>(values.size()); }, any);
}

void check_sizes(const SparseInput& input, const Axes& axes) {
  check_extent("rows", input.rows);
  check_extent("columns", input.columns);
  if (size_of(input.offsets) != axes.major + 1)
    fail_argument("offsets", "has {}, but {} {} need {}", counted(size_of(input.offsets), "entry"), axes.major,
                  axes.majors, axes.major + 1);
  if (size_of(input.indices) != size_of(input.values))
    fail_argument("indices", "has {}, but 'values' has {}", counted(size_of(input.indices), "entry"),
                  size_of(input.values));
}

Array<std::int64_t> import_offsets(const SparseInput& input, int threads) {
  auto offsets = std::visit(
      [&](auto values) { return converted<std::int64_t>(on_host("offsets", values, input.device), threads); },
      input.offsets);
  if (offsets[0] != 0) fail_argument("offsets", "entry 0 is {}, but 0 is expected", offsets[0]);
  const std::int64_t last = offsets.size() - 1;
  const auto falls = find_first(threads, last, [&](std::int64_t i) { return offsets[i + 1] < offsets[i]; });
  if (falls < last)
    fail_argument("offsets", "entry {} is {}, less than the entry before it, {}", falls + 1, offsets[falls + 1],
                  offsets[falls]);
  if (offsets[last] != size_of(input.values))
    fail_argument("offsets", "the last entry is {}, but there are {} indices and values", offsets[last],
                  size_of(input.values));
  return offsets;
}

Array<std::int32_t> import_indices(const SparseInput& input, const Axes& axes, int threads) {
  return std::visit(
      [&](auto values) {
        auto indices = on_host("indices", values, input.device);
        const auto wrong = find_first(threads, indices.size(),
                                      [&](std::int64_t k) { return indices[k] < 0 || indices[k] >= axes.minor; });
        if (wrong < indices.size())
          fail_argument("indices", "entry {} is {}, but the matrix has {} {}", wrong, indices[wrong], axes.minor,
                        axes.minors);
        return converted<std::int32_t>(std::move(indices), threads);
      },
      input.indices);
}

/// The first row with is_wrong(first entry, one behind the last); x.rows: none.
template <class T, class Question>
std::int64_t find_row(const SparseMatrix<T>& x, int threads, Question&& is_wrong) {
  std::vector<std::int64_t> found(static_cast<std::size_t>((x.rows + row_grain - 1) / row_grain), x.rows);
  parallel_for(threads, std::ssize(found), [&](std::int64_t part) {
    const std::int64_t end = std::min((part + 1) * row_grain, x.rows);
    for (std::int64_t i = part * row_grain; i < end; ++i)
      if (is_wrong(x.indices.data() + x.offsets[i], x.indices.data() + x.offsets[i + 1])) {
        found[static_cast<std::size_t>(part)] = i;
        return;
      }
  });
  return found.empty() ? x.rows : *std::min_element(found.begin(), found.end());
}

bool ascends(const std::int32_t* begin, const std::int32_t* end) {
  return std::adjacent_find(begin, end, std::greater_equal<>()) == end;
}

template <class T>
void sort_row(SparseMatrix<T>& x, std::int64_t i) {
  const std::int64_t begin = x.offsets[i];
  const std::int64_t end = x.offsets[i + 1];
  if (ascends(x.indices.data() + begin, x.indices.data() + end)) return;
  std::vector<std::pair<std::int32_t, T>> entries;
  for (std::int64_t k = begin; k < end; ++k) entries.emplace_back(x.indices[k], x.values[k]);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::int64_t k = begin; k < end; ++k)
    std::tie(x.indices[k], x.values[k]) = entries[static_cast<std::size_t>(k - begin)];
}

/// Columns ascend in each row of the result; false if they did already.
template <class T>
bool sort_rows(SparseMatrix<T>& x, int threads) {
  const auto unsorted = [](const auto* begin, const auto* end) { return !ascends(begin, end); };
  if (find_row(x, threads, unsorted) == x.rows) return false;
  if (!x.indices.is_owned()) x.indices = x.indices.to(Device::cpu());
  if (!x.values.is_owned()) x.values = x.values.to(Device::cpu());
  parallel_ranges(threads, x.rows, row_grain, [&](Range rows) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i) sort_row(x, i);
  });
  return true;
}

/// Requires rows whose columns do not fall.
template <class T>
void check_no_repeats(const SparseMatrix<T>& x, int threads) {
  const auto repeats = [](const auto* begin, const auto* end) { return std::adjacent_find(begin, end) != end; };
  const auto row = find_row(x, threads, repeats);
  if (row == x.rows) return;
  const auto column = *std::adjacent_find(x.indices.begin() + x.offsets[row], x.indices.begin() + x.offsets[row + 1]);
  fail_argument("indices", "row {} has column {} twice; add the values up, so that each place stands once", row,
                column);
}

/// The caller's memory if it is a matrix on a GPU as it is.
template <class T>
std::optional<Matrix<T>> resident_of(const SparseInput& input) {
  const auto* offsets = std::get_if<std::span<const std::int64_t>>(&input.offsets);
  const auto* indices = std::get_if<std::span<const std::int32_t>>(&input.indices);
  const auto* values = std::get_if<std::span<const T>>(&input.values);
  const bool fits = input.layout == SparseLayout::csr && offsets != nullptr && indices != nullptr && values != nullptr;
  if (input.device.is_cpu() || !fits) return {};
  if (!suits_kernels(*offsets) || !suits_kernels(*indices) || !suits_kernels(*values)) return {};
  const auto over = [&](auto span) {
    using Element = std::remove_cv_t<typename decltype(span)::element_type>;
    return Array<Element>::over(span.data(), std::ssize(span), input.device);
  };
  return SparseMatrix<T>{input.rows, input.columns, over(*offsets), over(*indices), over(*values)};
}

}  // namespace

template <class T>
Imported<T> import_sparse(const Context& context, const SparseInput& input) {
  const int threads = context.threads();
  const auto axes = axes_of(input);
  check_sizes(input, axes);
  SparseMatrix<T> x{axes.major, axes.minor, import_offsets(input, threads), import_indices(input, axes, threads), {}};
  x.values = std::visit([&](auto values) { return converted<T>(on_host("values", values, input.device), threads); },
                        input.values);
  Imported<T> result;
  if (input.layout == SparseLayout::csc)
    x = transpose(x, threads);
  else if (!sort_rows(x, threads)) {
    result.resident = resident_of<T>(input);
    result.x = std::move(x);
    return result;
  }
  check_no_repeats(x, threads);
  result.x = std::move(x);
  return result;
}

template Imported<float> import_sparse(const Context&, const SparseInput&);
template Imported<double> import_sparse(const Context&, const SparseInput&);

}  // namespace sheaf::memory

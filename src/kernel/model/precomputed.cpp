// Precomputed kernels in LIBSVM's format: every row begins with 0:SERIAL, and column N is the kernel value with the row
// of serial N.
#include <algorithm>
#include <charconv>

#include <sheaf/io.hpp>
#include <sheaf/solvers/svm.hpp>

#include "core/fail.hpp"
#include "data/bytes/text_source.hpp"

namespace sheaf {
namespace {

/// Overwrites a 0:SERIAL behind the label with blanks, so that columns in messages stay right. Returns the serial, 0:
/// none.
std::int32_t take_serial(std::string& text, std::size_t begin, std::size_t end) {
  const auto blank = [&](std::size_t at) { return text[at] == ' ' || text[at] == '\t'; };
  std::size_t at = begin;
  while (at < end && blank(at)) ++at;
  while (at < end && !blank(at)) ++at;
  while (at < end && blank(at)) ++at;
  if (at + 2 > end || text[at] != '0' || text[at + 1] != ':') return 0;
  std::int32_t serial = 0;
  const auto result = std::from_chars(text.data() + at + 2, text.data() + end, serial);
  const auto after = static_cast<std::size_t>(result.ptr - text.data());
  if (result.ec != std::errc() || (after < end && !blank(after) && text[after] != '\r')) return 0;
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(after), ' ');
  return serial;
}

}  // namespace

KernelTable read_kernel_table(const Context& context, const std::string& path) {
  const TextSource source(path, context.progress(), context.stop());
  std::string text(source.text());
  KernelTable table;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const bool empty =
        std::all_of(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end),
                    [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    if (!empty) table.serials.push_back(take_serial(text, begin, end));
    begin = end + 1;
  }
  ReadOptions options;
  options.format = "libsvm";
  options.storage = Storage::dense;
  table.dataset = parse_dataset<double>(context, text, path, options);
  return table;
}

void order_by_serials(KernelTable& table) {
  auto& x = std::get<DenseMatrix<double>>(table.dataset.x);
  for (std::size_t i = 0; i < table.serials.size(); ++i)
    if (table.serials[i] < 1 || table.serials[i] > x.columns)
      fail("{}: Wrong input format: row {} must begin with 0:sample_serial_number, a number of 1 to {}",
           table.dataset.source, i + 1, x.columns);
  const auto rows = static_cast<std::int64_t>(table.serials.size());
  DenseMatrix<double> ordered{x.rows, rows, Array<double>(x.rows * rows)};
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < rows; ++j)
      ordered.values[i * rows + j] = x.values[i * x.columns + table.serials[static_cast<std::size_t>(j)] - 1];
  table.dataset.x = std::move(ordered);
}

}  // namespace sheaf

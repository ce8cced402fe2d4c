#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/bytes/sink.hpp"
#include "data/write/writing.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t chunk_entries = 1 << 16;

template <class T>
void append_any_number(std::string& out, T value, int digits) {
  if (value == 0 && !std::signbit(value)) {  // most entries of a sparse matrix written as CSV
    out += '0';
    return;
  }
  if (!std::isfinite(value)) fail("a value is {} and cannot be written; every value must be finite", value);
  std::array<char, 64> text{};
  char* end = text.data() + text.size();
  const auto result = digits > 0 ? std::to_chars(text.data(), end, value, std::chars_format::general, digits)
                                 : std::to_chars(text.data(), end, value);
  out.append(text.data(), static_cast<std::size_t>(result.ptr - text.data()));
}

template <class T>
void write_row(const RowWriter<T>& writer, std::int64_t i, const std::string& path, std::string& text) {
  try {
    writer.row(i, text);
  } catch (const Error& error) {
    fail("{}: row {}: {}", path, i + 1, error.what());
  }
}

}  // namespace

void append_number(std::string& out, double value, int digits) { append_any_number(out, value, digits); }
void append_number(std::string& out, float value, int digits) { append_any_number(out, value, digits); }

template <class T>
void append_label(std::string& out, const Dataset<T>& dataset, std::int64_t row) {
  const auto at = static_cast<std::size_t>(row);
  const Target& target = dataset.target;
  if (!target.classes.empty())
    out += target.class_names[static_cast<std::size_t>(target.classes[at])];
  else if (!target.values.empty())
    append_number(out, target.values[at], 0);
  else
    out += '0';
}

template <class T>
std::string unused_name(const Dataset<T>& dataset, std::string wanted) {
  const auto& names = dataset.feature_names;
  while (std::find(names.begin(), names.end(), wanted) != names.end()) wanted += '_';
  return wanted;
}

template <class T>
void check_columns(const Writing<T>& writing) {
  constexpr std::int64_t many = 1 << 20;
  constexpr std::int64_t nearly_all = 1000;
  const auto& [context, dataset, path, options] = writing;
  if (!is_sparse(dataset.x) || dataset.features() < many || dataset.features() / nearly_all < stored(dataset.x)) return;
  fail(
      "{}: of the {} features of {}, only {} are not 0, and this format has a column for each; write LIBSVM, Matrix "
      "Market or .sheaf, or number the features without gaps",
      path, grouped(dataset.features()), dataset.source, counted(stored(dataset.x), "value"));
}

template <class T>
void write_rows(const Writing<T>& writing, const RowWriter<T>& writer) {
  const auto& [context, dataset, path, options] = writing;
  const auto sink = open_sink(path);
  sink->write(writer.preamble());
  const std::int64_t rows = dataset.rows();
  const std::int64_t row_entries =
      writer.writes_zeros() ? dataset.features() + 1 : stored(dataset.x) / std::max<std::int64_t>(rows, 1) + 1;
  const std::int64_t chunk_rows = std::max<std::int64_t>(chunk_entries / row_entries, 1);
  const std::int64_t round_rows = chunk_rows * context.threads() * 4;
  std::vector<std::string> texts(static_cast<std::size_t>(context.threads()) * 4);
  Stage stage(context.progress(), fmt::format("writing {}", path == "-" ? "standard output" : path), rows,
              context.stop());
  for (std::int64_t first = 0; first < rows; first += round_rows) {
    const std::int64_t end = std::min(first + round_rows, rows);
    const std::int64_t chunks = (end - first + chunk_rows - 1) / chunk_rows;
    parallel_for(context, chunks, [&](std::int64_t k) {
      std::string& text = texts[static_cast<std::size_t>(k)];
      text.clear();
      const std::int64_t stop = std::min(first + (k + 1) * chunk_rows, end);
      for (std::int64_t i = first + k * chunk_rows; i < stop; ++i) write_row(writer, i, path, text);
    });
    for (std::int64_t k = 0; k < chunks; ++k) {
      sink->write(texts[static_cast<std::size_t>(k)]);
      stage.advance(std::min(chunk_rows, end - first - k * chunk_rows));
    }
  }
  sink->finish();
}

template void append_label(std::string&, const Dataset<float>&, std::int64_t);
template void append_label(std::string&, const Dataset<double>&, std::int64_t);
template std::string unused_name(const Dataset<float>&, std::string);
template std::string unused_name(const Dataset<double>&, std::string);
template void check_columns(const Writing<float>&);
template void check_columns(const Writing<double>&);
template void write_rows(const Writing<float>&, const RowWriter<float>&);
template void write_rows(const Writing<double>&, const RowWriter<double>&);

}  // namespace sheaf

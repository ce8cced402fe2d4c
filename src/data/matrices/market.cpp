// Matrix Market: "%%MatrixMarket matrix coordinate real general", sizes, and "row column value" in each line, counted
// from 1, or (array) one value a line, column by column. Single-cell programs put names files beside it: features.tsv
// or genes.tsv for the rows of the matrix, which are features then, and barcodes.tsv for its columns.
//
// Two passes over chunks of lines: the first counts the entries of each row of the dataset, the second puts them there.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/matrices/market_names.hpp"
#include "data/matrices/matrix_file.hpp"
#include "data/row_subset.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace {

constexpr std::string_view market_magic = "%%MatrixMarket";

struct MarketHeader {
  bool dense = false;
  bool pattern = false;
  bool symmetric = false;  // also skew-symmetric
  bool skew = false;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;  // lines that follow
  const char* body = nullptr;
};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos;) {
    const auto end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

const char* skip_blanks_here(const char* at, const char* end) {
  while (at < end && is_blank(*at)) ++at;
  return at;
}

void read_kind(const Reading& reading, std::string_view line, MarketHeader& header) {
  const auto words = words_of(line);
  const auto word = [&](std::size_t k) { return k < words.size() ? lower_case(words[k]) : std::string(); };
  const auto refuse = [&](std::size_t k, std::string_view expected) {
    fail_at(reading, k < words.size() ? words[k].data() : line.data() + line.size(),
            fmt::format("{} expected, found {}", expected, shown(word(k))));
  };
  if (word(1) != "matrix") refuse(1, "matrix");
  if (word(2) != "coordinate" && word(2) != "array") refuse(2, "coordinate or array");
  header.dense = word(2) == "array";
  if (word(3) != "real" && word(3) != "double" && word(3) != "integer" && word(3) != "pattern")
    refuse(3, "real, integer or pattern");
  header.pattern = word(3) == "pattern";
  if (header.dense && header.pattern) refuse(3, "real or integer values of an array");
  if (word(4) != "general" && word(4) != "symmetric" && word(4) != "skew-symmetric")
    refuse(4, "general, symmetric or skew-symmetric");
  header.symmetric = word(4) != "general";
  header.skew = word(4) == "skew-symmetric";
}

MarketHeader read_header(const Reading& reading) {
  const char* end = reading.limit();
  if (!reading.text.starts_with(market_magic))
    fail_at(reading, reading.text.data(), "a Matrix Market file must begin with %%MatrixMarket");
  MarketHeader header;
  const char* at = reading.text.data();
  const char* stop = line_end(at, end);
  read_kind(reading, {at, static_cast<std::size_t>(stop - at)}, header);
  for (at = std::min(stop + 1, end); at < end; at = std::min(stop + 1, end)) {
    stop = line_end(at, end);
    const char* first = skip_blanks_here(at, stop);
    if (first < stop && *first != '%') break;
  }
  const auto words = words_of({at, static_cast<std::size_t>(at < end ? stop - at : 0)});
  const std::array<std::int64_t*, 3> sizes{&header.rows, &header.columns, &header.entries};
  const std::size_t expected = header.dense ? 2 : 3;
  bool whole = words.size() == expected;
  for (std::size_t k = 0; k < expected && whole; ++k) {
    double number = -1;
    whole = parse_whole_number(words[k], number) == NumberStatus::ok && number >= 0 && number <= 9e15 &&
            number == std::floor(number);
    *sizes[k] = static_cast<std::int64_t>(number);
  }
  if (!whole)
    fail_at(reading, at,
            fmt::format("the sizes of the matrix expected: {}",
                        header.dense ? "rows and columns" : "rows, columns and entries"));
  check_shape(reading, header.rows, header.columns);
  check_shape(reading, header.columns, header.rows);
  if (header.symmetric && header.rows != header.columns)
    fail_at(reading, at,
            fmt::format("a symmetric matrix must be square, and this one has {} and {}", counted(header.rows, "row"),
                        counted(header.columns, "column")));
  if (header.dense) {
    const auto n = header.rows;
    header.entries = !header.symmetric ? n * header.columns : header.skew ? n * (n - 1) / 2 : n * (n + 1) / 2;
  }
  header.body = std::min(stop + 1, end);
  return header;
}

/// Lines with something on them, of each chunk.
std::vector<std::int64_t> count_lines(const Reading& reading, const std::vector<Chunk>& chunks) {
  std::vector<std::int64_t> counts(chunks.size());
  parallel_for(reading.context, std::ssize(chunks), [&](std::int64_t k) {
    const auto chunk = chunks[static_cast<std::size_t>(k)];
    std::int64_t lines = 0;
    for (const char* at = chunk.begin; at < chunk.end;) {
      const char* stop = line_end(at, chunk.end);
      lines += skip_blanks_here(at, stop) < stop ? 1 : 0;
      at = stop + 1;
    }
    counts[static_cast<std::size_t>(k)] = lines;
    release_pages(reading, chunk);
  });
  return counts;
}

template <class T>
class MarketReader {
 public:
  MarketReader(const Reading& reading, bool features_are_rows)
      : reading_(reading),
        header_(read_header(reading)),
        turned_(features_are_rows),
        chunks_(
            cut_lines({header_.body, static_cast<std::size_t>(reading.limit() - header_.body)}, reading.chunk_bytes)),
        lines_(count_lines(reading, chunks_)) {
    const auto found = std::accumulate(lines_.begin(), lines_.end(), std::int64_t{0});
    if (found != header_.entries)
      fail("{}: declares {} {}, but has {}; the file is cut short or damaged", reading.name, header_.entries,
           header_.dense ? "values" : "entries", counted(found, "line"));
  }

  Matrix<T> read() {
    if (header_.dense) return read_array();
    return read_entries();
  }

 private:
  std::int64_t rows() const { return turned_ ? header_.columns : header_.rows; }
  std::int64_t columns() const { return turned_ ? header_.rows : header_.columns; }

  std::int64_t index(const char*& at, const char* end, std::int64_t most, std::string_view what) const {
    at = skip_blanks_here(at, end);
    std::int64_t value = 0;
    const char* begin = at;
    for (; at < end && *at >= '0' && *at <= '9'; ++at) value = std::min(value * 10 + (*at - '0'), most + 1);
    if (at == begin || (at < end && !is_blank(*at)) || value < 1 || value > most) {
      const char* stop = std::find_if(begin, end, is_blank);
      fail_at(reading_, begin,
              fmt::format("a {} from 1 to {} expected, found {}", what, most,
                          shown({begin, static_cast<std::size_t>(stop - begin)})));
    }
    return value - 1;
  }

  T value(const char*& at, const char* end) const {
    at = skip_blanks_here(at, end);
    const auto number = parse_number<T>(at, reading_.limit());
    const bool whole = number.end <= end && (number.end == end || is_blank(*number.end));
    if (number.status != NumberStatus::ok || !whole) {
      const char* stop = std::find_if(at, end, is_blank);
      const std::string_view text(at, static_cast<std::size_t>(stop - at));
      if (lower_case(text) == "nan") {
        at = stop;
        return std::numeric_limits<T>::quiet_NaN();
      }
      fail_at(
          reading_, at,
          fmt::format("{} expected, found {}",
                      number.status == NumberStatus::none || !whole ? "a number" : "a finite number of this precision",
                      shown(text)));
    }
    at = number.end;
    return number.value;
  }

  void check_rest(const char* at, const char* end) const {
    at = skip_blanks_here(at, end);
    if (at < end) fail_at(reading_, at, "the end of the line expected");
  }

  /// Calls take(row, column, value) for each entry of the dataset.
  template <class Take>
  void parse_chunk(std::size_t k, bool with_values, const Take& take) const {
    const auto chunk = chunks_[k];
    for (const char* at = chunk.begin; at < chunk.end;) {
      const char* stop = line_end(at, chunk.end);
      const char* next = stop + 1;
      at = skip_blanks_here(at, stop);
      if (at < stop) {
        auto i = index(at, stop, header_.rows, "row");
        auto j = index(at, stop, header_.columns, "column");
        T entry = 1;
        if (with_values) {
          if (!header_.pattern) entry = value(at, stop);
          check_rest(at, stop);
        }
        if (turned_) std::swap(i, j);
        take(i, j, entry);
        if (header_.symmetric && i != j) take(j, i, header_.skew ? -entry : entry);
      }
      at = next;
    }
  }

  template <class Work>
  void for_chunks(const Work& work) const {
    parallel_for(reading_.context, std::ssize(chunks_), [&](std::int64_t k) {
      work(static_cast<std::size_t>(k));
      release_pages(reading_, chunks_[static_cast<std::size_t>(k)]);
    });
  }

  Matrix<T> read_entries() {
    check_memory(reading_, sparse_bytes<T>(2 * rows(), header_.entries * (header_.symmetric ? 2 : 1)),
                 fmt::format("{} with {}", counted(rows(), "row"), counted(header_.entries, "value")));
    auto offsets = Array<std::int64_t>::zeros(rows() + 1);
    try {
      for_chunks([&](std::size_t k) {
        parse_chunk(k, false, [&](std::int64_t i, std::int64_t, T) {
          std::atomic_ref(offsets[i + 1]).fetch_add(1, std::memory_order_relaxed);
        });
      });
    } catch (const ParseError&) {  // a wrong value may stand before the wrong place that was found
      for_chunks([&](std::size_t k) { parse_chunk(k, true, [](std::int64_t, std::int64_t, T) {}); });
      throw;
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    auto next = Array<std::int64_t>::copy_of(std::as_const(offsets).span());
    const auto entries = offsets[rows()];
    Array<std::int32_t> indices(entries);
    Array<T> values(entries);
    for_chunks([&](std::size_t k) {
      parse_chunk(k, true, [&](std::int64_t i, std::int64_t j, T entry) {
        const auto at = std::atomic_ref(next[i]).fetch_add(1, std::memory_order_relaxed);
        if (at >= offsets[i + 1]) fail_changed(reading_);
        indices[at] = static_cast<std::int32_t>(j);
        values[at] = entry;
      });
      reading_.context.progress().advance(chunks_[k].size());
    });
    return make_sparse<T>(reading_, CompressedArrays<T>{rows(), columns(), std::move(offsets), std::move(indices),
                                                        std::move(values), false});
  }

  Matrix<T> read_array() {
    check_memory(reading_, dense_bytes(rows(), columns(), sizeof(T)) * 2,
                 fmt::format("{} of {}", counted(rows(), "row"), counted(columns(), "feature")));
    Array<T> listed(header_.entries);
    std::vector<std::int64_t> firsts(chunks_.size() + 1, 0);
    std::partial_sum(lines_.begin(), lines_.end(), firsts.begin() + 1);
    for_chunks([&](std::size_t k) {
      auto to = firsts[k];
      for (const char* at = chunks_[k].begin; at < chunks_[k].end;) {
        const char* stop = line_end(at, chunks_[k].end);
        const char* next = stop + 1;
        at = skip_blanks_here(at, stop);
        if (at < stop) {
          if (to == firsts[k + 1]) fail_changed(reading_);
          listed[to++] = value(at, stop);
          check_rest(at, stop);
        }
        at = next;
      }
      reading_.context.progress().advance(chunks_[k].size());
    });
    DenseMatrix<T> x{rows(), columns(), Array<T>::zeros(rows() * columns())};
    const auto set = [&](std::int64_t i, std::int64_t j, T entry) {
      x.values[turned_ ? j * x.columns + i : i * x.columns + j] = entry;
    };
    std::int64_t k = 0;
    for (std::int64_t j = 0; j < header_.columns; ++j)
      for (std::int64_t i = !header_.symmetric ? 0 : header_.skew ? j + 1 : j; i < header_.rows; ++i, ++k) {
        set(i, j, listed[k]);
        if (header_.symmetric && i != j) set(j, i, header_.skew ? -listed[k] : listed[k]);
      }
    return x;
  }

  const Reading& reading_;
  MarketHeader header_;
  bool turned_;
  std::vector<Chunk> chunks_;
  std::vector<std::int64_t> lines_;
};

/// Entries of one sample after the other: "feature sample value".
template <class T>
class MarketWriter : public RowWriter<T> {
 public:
  explicit MarketWriter(const Writing<T>& writing) : dataset_(writing.dataset), options_(writing.options) {
    if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset_.x))
      entries_ = dense->values.size() - std::count(dense->values.begin(), dense->values.end(), T(0));
    else
      entries_ = stored(dataset_.x);
  }
  std::string preamble() const override {
    return fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", dataset_.features(),
                       dataset_.rows(), entries_);
  }
  void row(std::int64_t i, std::string& out) const override {
    for_row_entries(dataset_.x, i, [&](std::int64_t feature, T value) {
      if (value == 0 && !is_sparse(dataset_.x)) return;
      out += fmt::format("{} {} ", feature + 1, i + 1);
      if (options_.missing && std::isnan(value))
        out += "nan";
      else
        append_number(out, value, options_.digits);
      out += '\n';
    });
  }

 private:
  const Dataset<T>& dataset_;
  const WriteOptions& options_;
  std::int64_t entries_ = 0;
};

}  // namespace

bool looks_like_market(std::string_view bytes) { return bytes.starts_with(market_magic); }

template <class T>
Dataset<T> read_market(const Reading& reading) {
  const NamesFiles files(reading.name);
  MatrixFile<T> file;
  const auto header = read_header(reading);
  auto names = read_market_names(reading, header.rows, header.columns, files, file.dataset);
  file.dataset.x = MarketReader<T>(reading, names.features_are_rows).read();
  annotate_features(reading, std::move(names), file.dataset);
  if (files.metadata.empty() || file.dataset.row_names.empty() || !reading.options.metadata.empty())
    return finish_dataset(reading, std::move(file));
  auto options = reading.options;
  options.metadata = files.metadata;
  return finish_dataset({reading.context, reading.text, reading.name, options, reading.chunk_bytes, reading.mapped},
                        std::move(file));
}

template <class T>
void write_market(const Writing<T>& writing) {
  if (writing.path == "-")
    fail_usage("a Matrix Market file has names files beside it, which standard output cannot hold; name a file");
  const WriteOptions any_digits;
  check_numbers_only(Writing<T>{writing.context, writing.dataset, writing.path, any_digits});
  NamesWriter names(writing);
  write_rows(writing, MarketWriter<T>(writing));
  names.finish();
}

template Dataset<float> read_market(const Reading&);
template Dataset<double> read_market(const Reading&);
template void write_market(const Writing<float>&);
template void write_market(const Writing<double>&);

}  // namespace sheaf

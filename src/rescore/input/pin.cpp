// PIN files: tab-separated, one PSM a line, the proteins in as many fields as there are at the end of each line.
//
// Lines are counted at memory speed, which gives every chunk its first row; then chunks are parsed in parallel, each
// into its rows.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/read/reading.hpp"
#include "data/text/number.hpp"
#include "rescore/input/buckets.hpp"
#include "rescore/input/other_formats.hpp"
#include "rescore/input/pin_header.hpp"

namespace sheaf::rescore {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Mixes eight bytes of a line into its hash.
std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at < end; at += 8) hash = mix(hash, load_eight(at, end));
  return mix(hash, 0);
}

/// Lines of one file that are parsed together.
struct Piece {
  std::size_t file;
  Chunk chunk;
  std::int64_t first_row = 0;
  std::vector<std::string_view> file_names;  // spectrum files in the order of first appearance; rows hold places here
  std::unordered_map<std::string_view, std::int32_t> file_places;  // of these names
  std::int64_t unlabelled = 0;                                     // rows whose label is neither 1 nor -1
};

template <class T>
class PinReader {
 public:
  PinReader(const Context& context, const std::vector<std::string>& paths, const PinOptions& options)
      : context_(context), paths_(paths), options_(options) {}

  Psms<T> read() {
    open_files();
    const Stage stage(context_.progress(), "reading PSMs", text_bytes(), context_.stop());
    unite_features();
    cut();
    allocate();
    parallel_for(context_, static_cast<std::int64_t>(pieces_.size()), [&](std::int64_t k) {
      Piece& piece = pieces_[static_cast<std::size_t>(k)];
      parse(piece);
      release_pages(readings_[piece.file], piece.chunk);
      context_.progress().advance(piece.chunk.size());
    });
    unite_file_names();
    drop_unlabelled();
    if (!options_.keep_order) put_in_order();
    return std::move(psms_);
  }

 private:
  void open_files();
  std::int64_t text_bytes() const;
  void convert(PinFile& file) const;
  void unite_features();
  void cut();
  void check_lines() const;
  void allocate();
  void parse(Piece& piece);
  void parse_line(Piece& piece, std::int64_t row, const char* begin, std::string_view line);
  T feature(const Piece& piece, std::string_view field, std::size_t column) const;
  std::int32_t whole_number(const Piece& piece, std::string_view field, std::string_view what) const;
  double number(const Piece& piece, std::string_view field, std::size_t column) const;
  [[noreturn]] void fail_short(const Piece& piece, std::string_view line, std::size_t column) const;
  static std::int32_t file_place(Piece& piece, std::string_view name);
  void unite_file_names();
  void drop_unlabelled();
  struct SavedRow;
  SavedRow saved_row(std::int64_t row) const;
  void restore_row(const SavedRow& saved, std::int64_t to);
  std::vector<std::int32_t> find_order() const;
  void put_in_order();
  void move_row(std::int64_t from, std::int64_t to);

  const Context& context_;
  const std::vector<std::string>& paths_;
  const PinOptions& options_;
  const ReadOptions reading_options_ = {};
  std::vector<std::string> names_;  // of the files, for messages
  std::vector<Reading> readings_;
  std::vector<PinHeader> headers_;
  std::vector<Piece> pieces_;
  Psms<T> psms_;
  Array<std::uint64_t> hashes_;  // of the lines, if rows are to be put in order
  bool names_files_ = false;
};

template <class T>
void PinReader<T>::open_files() {
  if (paths_.empty()) fail_usage("no PIN file is given");
  names_.reserve(paths_.size());
  for (const std::string& path : paths_) {
    names_.push_back(path == "-" ? "standard input" : path);
    PinFile file{path, std::make_unique<TextSource>(path, context_.progress(), context_.stop()), {}};
    if (options_.rules == PinRules::by_name) convert(file);
    std::string_view text = file.contents();
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    if (text.empty()) fail("{}: is empty", names_.back());
    Reading reading{context_, text, names_.back(), reading_options_};
    reading.mapped = !file.made && file.source->mapped();
    check_is_text(reading);
    readings_.push_back(reading);
    headers_.push_back(read_pin_header(reading, options_));
    psms_.pins.push_back(std::move(file));
  }
}

template <class T>
std::int64_t PinReader<T>::text_bytes() const {
  std::int64_t bytes = 0;
  for (const Reading& reading : readings_) bytes += static_cast<std::int64_t>(reading.text.size());
  return bytes;
}

/// A file of another format becomes the text of a PIN file.
template <class T>
void PinReader<T>::convert(PinFile& file) const {
  std::string_view text = file.source->text();
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  const Reading reading{context_, text, names_.back(), reading_options_};
  auto made = as_pin(reading, options_);
  if (!made) return;
  file.has_units = text.starts_with("<");  // XML
  file.made = std::make_unique<const std::string>(std::move(*made));
  file.source = nullptr;
}

/// The features of the widest file; those of other files are found by name.
template <class T>
void PinReader<T>::unite_features() {
  std::size_t widest = 0;
  for (std::size_t f = 1; f < headers_.size(); ++f)
    if (headers_[f].feature_names.size() > headers_[widest].feature_names.size()) widest = f;
  const auto& names = headers_[widest].feature_names;
  std::unordered_map<std::string_view, std::int32_t> places;
  for (std::size_t j = 0; j < names.size(); ++j) places.try_emplace(names[j], static_cast<std::int32_t>(j));
  psms_.feature_names = names;
  psms_.default_direction = headers_[0].default_direction;
  psms_.default_direction.resize(psms_.default_direction.empty() ? 0 : names.size());
  for (std::size_t f = 0; f < headers_.size(); ++f) {
    auto& layout = headers_[f].layout;
    std::vector<std::uint8_t> found(names.size(), 0);
    for (std::size_t c = 0; c < layout.columns.size(); ++c) {
      names_files_ |= layout.columns[c] == PinColumn::file;
      if (layout.columns[c] != PinColumn::feature) continue;
      const auto place = places.find(headers_[f].names[c]);
      if (f == widest) {
        found[static_cast<std::size_t>(layout.feature[c])] = 1;
      } else if (place != places.end()) {
        layout.feature[c] = place->second;
        found[static_cast<std::size_t>(place->second)] = 1;
      } else if (options_.rules == PinRules::by_name) {
        fail("{}: has a feature '{}' that {} has not; name it with --ignore, or add it there", names_[f],
             headers_[f].names[c], names_[widest]);
      } else {
        layout.columns[c] = PinColumn::ignored;
        psms_.warnings.push_back(fmt::format("{}: the feature '{}' is left out; {} does not have it", names_[f],
                                             headers_[f].names[c], names_[widest]));
      }
    }
    const auto missing = static_cast<std::size_t>(std::find(found.begin(), found.end(), 0) - found.begin());
    if (missing < found.size() && options_.rules == PinRules::by_name)
      fail("{}: has no feature '{}', which {} has; name it with --ignore, or add it", names_[f], names[missing],
           names_[widest]);
    psms_.pins[f].layout = layout;
  }
}

template <class T>
void PinReader<T>::cut() {
  for (std::size_t f = 0; f < readings_.size(); ++f) {
    const char* begin = headers_[f].first_psm;
    const std::string_view rest(begin, static_cast<std::size_t>(readings_[f].limit() - begin));
    for (const Chunk chunk : cut_lines(rest, readings_[f].chunk_bytes)) pieces_.push_back({f, chunk, 0, {}, {}, 0});
  }
  std::vector<std::int64_t> rows(pieces_.size());
  parallel_for(context_, static_cast<std::int64_t>(pieces_.size()), [&](std::int64_t k) {
    const Piece& piece = pieces_[static_cast<std::size_t>(k)];
    rows[static_cast<std::size_t>(k)] = count_byte(piece.chunk, '\n') + (piece.chunk.end[-1] == '\n' ? 0 : 1);
    release_pages(readings_[piece.file], piece.chunk);
  });
  std::int64_t row = 0;
  for (std::size_t k = 0; k < pieces_.size(); ++k) {
    pieces_[k].first_row = row;
    row += rows[k];
  }
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (row > most) fail("{} PSMs are too many; at most {} fit", grouped(row), grouped(most));
  psms_.x.rows = row;
}

/// A line has a byte for each column at least: a table that claims more rows x columns than the file has bytes is
/// refused before memory is allocated.
template <class T>
void PinReader<T>::check_lines() const {
  for (const Piece& piece : pieces_) {
    const auto columns = static_cast<std::int64_t>(headers_[piece.file].layout.columns.size());
    for (const char* at = piece.chunk.begin; at < piece.chunk.end;) {
      const char* end = line_end(at, piece.chunk.end);
      const auto line = trimmed_line(at, end);
      if (line.empty()) fail_at(readings_[piece.file], at, "a PSM expected, found an empty line");
      const auto fields = count_byte({line.data(), line.data() + line.size()}, '\t') + 1;
      if (fields < columns) fail_short(piece, line, static_cast<std::size_t>(fields));
      at = end + 1;
    }
  }
}

template <class T>
void PinReader<T>::allocate() {
  const std::int64_t rows = psms_.x.rows;
  psms_.x.columns = static_cast<std::int64_t>(psms_.feature_names.size());
  if (dense_bytes(rows, psms_.x.columns, 1) > static_cast<double>(text_bytes())) check_lines();
  if (const auto bytes = dense_bytes(rows, psms_.x.columns, sizeof(T));
      bytes > static_cast<double>(cpu_budget(context_)))
    fail("{} PSMs with {} features take {:.1f} GB of memory, and {} may be used; allow more (--memory), or take fewer",
         grouped(rows), grouped(psms_.x.columns), bytes / 1e9, format_bytes(cpu_budget(context_)));
  psms_.x.values = headers_.size() > 1 ? Array<T>::zeros(rows * psms_.x.columns) : Array<T>(rows * psms_.x.columns);
  psms_.labels = Array<std::int8_t>(rows);
  psms_.scans = Array<std::int32_t>(rows);
  psms_.masses = Array<double>::zeros(rows);
  psms_.lines = Array<LinePlace>(rows);
  if (names_files_ || (options_.rules == PinRules::by_name && headers_.size() > 1))
    psms_.files = Array<std::int32_t>(rows);
  if (!options_.keep_order) hashes_ = Array<std::uint64_t>(rows);
}

template <class T>
void PinReader<T>::parse(Piece& piece) {
  std::int64_t row = piece.first_row;
  for (const char* at = piece.chunk.begin; at < piece.chunk.end; ++row) {
    const char* end = line_end(at, piece.chunk.end);
    parse_line(piece, row, at, trimmed_line(at, end));
    at = end + 1;
  }
}

template <class T>
void PinReader<T>::parse_line(Piece& piece, std::int64_t row, const char* begin, std::string_view line) {
  const Reading& reading = readings_[piece.file];
  const PinHeader& header = headers_[piece.file];
  if (line.empty()) fail_at(reading, begin, "a PSM expected, found an empty line");
  psms_.scans[row] = static_cast<std::int32_t>(row + (headers_[0].has_direction_row ? 3 : 2));
  psms_.lines[row] = LinePlace(piece.file, begin - psms_.pins[piece.file].contents().data());
  if (!options_.keep_order) hashes_[row] = hash_of(line);
  bool named = false;
  T* x = psms_.x.values.data() + row * psms_.x.columns;
  std::string_view rest = line;
  const auto& columns = header.layout.columns;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (rest.data() == nullptr) fail_short(piece, line, c);
    const auto tab = rest.find('\t');
    const std::string_view field = rest.substr(0, tab);
    rest = tab == std::string_view::npos ? std::string_view{} : rest.substr(tab + 1);
    switch (columns[c]) {
      case PinColumn::feature:
        x[header.layout.feature[c]] = feature(piece, field, c);
        break;
      case PinColumn::label: {
        const auto label = whole_number(piece, field, "1 (target) or -1 (decoy)");
        psms_.labels[row] = label == 1 || label == -1 ? static_cast<std::int8_t>(label) : std::int8_t{0};
        piece.unlabelled += psms_.labels[row] == 0 ? 1 : 0;
        break;
      }
      case PinColumn::scan:
        psms_.scans[row] = whole_number(piece, field, "a scan number");
        break;
      case PinColumn::mass:
        psms_.masses[row] = number(piece, field, c);
        break;
      case PinColumn::file:
        psms_.files[row] = file_place(piece, field);
        named = true;
        break;
      case PinColumn::peptide:
        if (field.empty()) fail_at(reading, field.data(), "a peptide expected, found nothing");
        break;
      case PinColumn::protein:
        if (field.empty()) fail_at(reading, field.data(), "a protein expected, found nothing");
        break;
      default:
        break;
    }
  }
  if (!named && psms_.files.size() > 0) psms_.files[row] = file_place(piece, names_[piece.file]);
}

template <class T>
void PinReader<T>::fail_short(const Piece& piece, std::string_view line, std::size_t column) const {
  const PinHeader& header = headers_[piece.file];
  const std::string name = column < header.names.size() ? header.names[column] : "Proteins";
  fail_at(readings_[piece.file], line.data() + line.size(),
          fmt::format("the line ends before column {} ('{}'); an id, a label, {}, a peptide and a protein are "
                      "expected",
                      column + 1, name, counted(header.feature_names.size(), "feature")));
}

template <class T>
T PinReader<T>::feature(const Piece& piece, std::string_view field, std::size_t column) const {
  T value = 0;
  const auto status = parse_whole_number(field, value);
  if (status == NumberStatus::ok) [[likely]]
    return value;
  const auto& name = headers_[piece.file].names[column];
  if (status == NumberStatus::none)
    fail_at(readings_[piece.file], field.data(),
            fmt::format("a number expected in column {} ('{}'), found {}", column + 1, name, shown(field)));
  if (options_.replace_not_finite) return 0;
  fail_at(readings_[piece.file], field.data(),
          fmt::format("the value {} in column {} ('{}') is not a finite number", shown(field), column + 1, name));
}

template <class T>
double PinReader<T>::number(const Piece& piece, std::string_view field, std::size_t column) const {
  double value = 0;
  if (parse_whole_number(field, value) == NumberStatus::ok) return value;
  fail_at(readings_[piece.file], field.data(),
          fmt::format("a number expected in column {} ('{}'), found {}", column + 1, headers_[piece.file].names[column],
                      shown(field)));
}

template <class T>
std::int32_t PinReader<T>::whole_number(const Piece& piece, std::string_view field, std::string_view what) const {
  std::int32_t value = 0;
  const char* begin = field.data() + (field.starts_with('+') ? 1 : 0);
  const char* end = field.data() + field.size();
  const auto result = std::from_chars(begin, end, value);
  if (result.ec == std::errc() && result.ptr == end) return value;
  if (result.ec == std::errc::result_out_of_range)
    fail_at(readings_[piece.file], field.data(),
            fmt::format("{} expected; {} does not fit 32 bits", what, shown(field)));
  fail_at(readings_[piece.file], field.data(), fmt::format("{} expected, found {}", what, shown(field)));
}

template <class T>
std::int32_t PinReader<T>::file_place(Piece& piece, std::string_view name) {
  auto& names = piece.file_names;
  if (!names.empty() && names.back() == name) return static_cast<std::int32_t>(names.size() - 1);
  const auto [found, fresh] = piece.file_places.try_emplace(name, static_cast<std::int32_t>(names.size()));
  if (fresh) names.push_back(name);
  return found->second;
}

/// Places within pieces become places within the whole, in the order of first appearance.
template <class T>
void PinReader<T>::unite_file_names() {
  if (psms_.files.size() == 0) return;
  std::unordered_map<std::string_view, std::int32_t> places;
  std::vector<std::vector<std::int32_t>> of_pieces;
  for (const Piece& piece : pieces_) {
    std::vector<std::int32_t> mine;
    for (const auto name : piece.file_names) {
      const auto [entry, fresh] = places.try_emplace(name, static_cast<std::int32_t>(places.size()));
      if (fresh) psms_.file_names.emplace_back(name);
      mine.push_back(entry->second);
    }
    of_pieces.push_back(std::move(mine));
  }
  parallel_for(context_, static_cast<std::int64_t>(pieces_.size()), [&](std::int64_t k) {
    const auto place = static_cast<std::size_t>(k);
    const std::int64_t end = place + 1 < pieces_.size() ? pieces_[place + 1].first_row : psms_.x.rows;
    for (std::int64_t i = pieces_[place].first_row; i < end; ++i)
      psms_.files[i] = of_pieces[place][static_cast<std::size_t>(psms_.files[i])];
  });
}

template <class T>
void PinReader<T>::move_row(std::int64_t from, std::int64_t to) {
  const std::int64_t p = psms_.x.columns;
  std::copy_n(psms_.x.values.data() + from * p, p, psms_.x.values.data() + to * p);
  psms_.labels[to] = psms_.labels[from];
  psms_.scans[to] = psms_.scans[from];
  psms_.masses[to] = psms_.masses[from];
  psms_.lines[to] = psms_.lines[from];
  if (psms_.files.size() > 0) psms_.files[to] = psms_.files[from];
  if (hashes_.size() > 0) hashes_[to] = hashes_[from];
}

/// A smaller array over the front of the same memory would keep all of it: rows are few, so they are copied.
template <class V>
void shorten(Array<V>& values, std::int64_t size) {
  if (values.size() > size) values = Array<V>::copy_of(values.span().first(static_cast<std::size_t>(size)));
}

template <class T>
void PinReader<T>::drop_unlabelled() {
  const std::int64_t dropped = std::accumulate(pieces_.begin(), pieces_.end(), std::int64_t{0},
                                               [](std::int64_t sum, const Piece& p) { return sum + p.unlabelled; });
  if (dropped == 0) return;
  psms_.warnings.push_back(
      fmt::format("{} PSMs have a label that is neither 1 nor -1 and are left out", grouped(dropped)));
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < psms_.x.rows; ++i)
    if (psms_.labels[i] != 0) {
      if (kept != i) move_row(i, kept);
      ++kept;
    }
  psms_.x.rows = kept;
  shorten(psms_.x.values, kept * psms_.x.columns);
  shorten(psms_.labels, kept);
  shorten(psms_.scans, kept);
  shorten(psms_.masses, kept);
  shorten(psms_.lines, kept);
  shorten(psms_.files, kept);
  shorten(hashes_, kept);
}

/// By the hash of the line, then by the line itself: an order that has nothing to do with that of the files. Buckets of
/// hashes are sorted side by side.
template <class T>
std::vector<std::int32_t> PinReader<T>::find_order() const {
  struct Hashed {
    std::uint64_t hash;
    std::int32_t row;
  };
  const auto line_of = [&](std::int64_t i) {
    const auto& pin = psms_.pins[psms_.lines[i].file()];
    const std::string_view text = pin.contents();
    const char* at = text.data() + psms_.lines[i].byte();
    return trimmed_line(at, line_end(at, text.data() + text.size()));
  };
  const auto name_of = [&](std::int64_t i) -> std::string_view {
    return psms_.files.size() > 0 ? std::string_view(psms_.file_names[static_cast<std::size_t>(psms_.files[i])])
                                  : std::string_view{};
  };
  const auto before = [&](const Hashed& a, const Hashed& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    const auto left = line_of(a.row);
    const auto right = line_of(b.row);
    return left != right ? left < right : name_of(a.row) < name_of(b.row);
  };
  const auto count = static_cast<std::uint64_t>(bucket_count(psms_.x.rows));
  auto buckets = put_in_buckets(context_, psms_.x.rows, static_cast<std::int64_t>(count), [&](std::int64_t i) {
    return static_cast<std::int64_t>((hashes_[i] >> 32U) * count >> 32U);
  });
  parallel_for(context_, buckets.size(), [&](std::int64_t k) {
    const auto rows = buckets[k];
    std::vector<Hashed> sorted;
    sorted.reserve(rows.size());
    for (const std::int32_t row : rows) sorted.push_back({hashes_[row], row});
    std::sort(sorted.begin(), sorted.end(), before);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = sorted[i].row;
  });
  return std::move(buckets.elements);
}

/// A row while its place is taken by another.
template <class T>
struct PinReader<T>::SavedRow {
  std::vector<T> x;
  std::int8_t label;
  std::int32_t scan;
  double mass;
  LinePlace line;
  std::int32_t file;
};

template <class T>
auto PinReader<T>::saved_row(std::int64_t row) const -> SavedRow {
  const T* x = psms_.row(row);
  return {{x, x + psms_.x.columns}, psms_.labels[row], psms_.scans[row],
          psms_.masses[row],        psms_.lines[row],  psms_.file(row)};
}

template <class T>
void PinReader<T>::restore_row(const SavedRow& saved, std::int64_t to) {
  std::copy(saved.x.begin(), saved.x.end(), psms_.x.values.data() + to * psms_.x.columns);
  psms_.labels[to] = saved.label;
  psms_.scans[to] = saved.scan;
  psms_.masses[to] = saved.mass;
  psms_.lines[to] = saved.line;
  if (psms_.files.size() > 0) psms_.files[to] = saved.file;
}

/// Rows move along the cycles of the permutation, so that no second copy of the features is needed. A random
/// permutation has few cycles, most rows in one: they are cut at every step-th row, which is saved, and the pieces
/// between are moved side by side. Cycles without such a row are short.
template <class T>
void PinReader<T>::put_in_order() {
  for (const std::uint64_t hash : hashes_) psms_.fingerprint += mix(hash, 0);
  auto order = find_order();
  hashes_ = {};
  const auto rows = static_cast<std::int32_t>(psms_.x.rows);
  constexpr std::int32_t most_cuts = 4096;
  const std::int32_t step = rows / most_cuts + 1;
  std::vector<SavedRow> saved;
  for (std::int32_t i = 0; i < rows; i += step) saved.push_back(saved_row(i));
  const auto follow = [&](std::int32_t begin, const auto& is_saved, const auto& saved_at) {
    std::int32_t to = begin;
    while (true) {
      const std::int32_t from = std::exchange(order[static_cast<std::size_t>(to)], -1);
      if (is_saved(from)) {
        restore_row(saved_at(from), to);
        return;
      }
      move_row(from, to);
      to = from;
    }
  };
  parallel_for(context_, static_cast<std::int64_t>(saved.size()), [&](std::int64_t k) {
    follow(
        static_cast<std::int32_t>(k) * step, [&](std::int32_t row) { return row % step == 0; },
        [&](std::int32_t row) -> const SavedRow& { return saved[static_cast<std::size_t>(row / step)]; });
  });
  for (std::int32_t begin = 0; begin < rows; ++begin) {
    if (order[static_cast<std::size_t>(begin)] < 0) continue;
    const SavedRow first = saved_row(begin);
    follow(
        begin, [&](std::int32_t row) { return row == begin; },
        [&](std::int32_t /*row*/) -> const SavedRow& { return first; });
  }
  const auto has_scans = [](const PinHeader& header) {
    return std::count(header.layout.columns.begin(), header.layout.columns.end(), PinColumn::scan) > 0;
  };
  if (std::none_of(headers_.begin(), headers_.end(), has_scans)) std::iota(psms_.scans.begin(), psms_.scans.end(), 1);
}

}  // namespace

PsmText PinFile::text(std::int64_t line) const {
  const std::string_view all = contents();
  const char* at = all.data() + line;
  std::string_view rest = trimmed_line(at, line_end(at, all.data() + all.size()));
  PsmText text;
  for (const PinColumn column : layout.columns) {
    const auto tab = rest.find('\t');
    const std::string_view field = rest.substr(0, tab);
    if (column == PinColumn::id) text.id = field;
    if (column == PinColumn::peptide) text.peptide = field;
    if (column == PinColumn::time) text.time = field;
    if (column == PinColumn::calculated_mass) text.calculated_mass = field;
    if (column == PinColumn::protein) text.proteins = rest;
    rest = tab == std::string_view::npos ? std::string_view{} : rest.substr(tab + 1);
  }
  return text;
}

template <class T>
Psms<T> read_pins(const Context& context, const std::vector<std::string>& paths, const PinOptions& options) {
  return PinReader<T>(context, paths, options).read();
}

template Psms<float> read_pins(const Context&, const std::vector<std::string>&, const PinOptions&);
template Psms<double> read_pins(const Context&, const std::vector<std::string>&, const PinOptions&);

}  // namespace sheaf::rescore

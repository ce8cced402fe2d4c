// Distance matrices of any size in files. Devices take blocks of rows from a queue; each block is written at its place
// while its device computes the next, and is then listed, so that after an interruption the rest alone is computed.
#include <sheaf/neighbors.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <sheaf/io.hpp>

#include "core/fail.hpp"
#include "core/sha256.hpp"
#include "neighbors/npy.hpp"
#include "neighbors/verbs/ops.hpp"

namespace sheaf {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t block_share = 16;  // a block may take this part of the memory; each device holds two
constexpr std::int64_t blocks_each = 8;   // for each device at least, so that they end together
constexpr std::int64_t most_block_bytes = std::int64_t{64} << 20;  // beyond it, writing and computing gain nothing
constexpr std::int64_t value_bytes = sizeof(double);

template <class Value>
std::string hash_of(std::span<const Value> values) {
  return sha256({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

template <class T>
std::string hash_of(const Matrix<T>& x) {
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&x)) return hash_of<T>(dense->values.span());
  const auto& sparse = std::get<SparseMatrix<T>>(x);
  return sha256(hash_of<std::int64_t>(sparse.offsets.span()) + hash_of<std::int32_t>(sparse.indices.span()) +
                hash_of<T>(sparse.values.span()));
}

/// What two calls must have in common for one to go on with the other's file.
template <class T>
std::string settings_of(const Dataset<T>& dataset, const Dataset<T>* queries, const DistanceOptions& distance,
                        bool upper) {
  return fmt::format(
      "sheaf-distances 2\nrows {} {}\nqueries {}\nmetric {}\npower {}\nweights {}\nupper {}\n", dataset.rows(),
      hash_of(dataset.x),
      queries == nullptr ? std::string("none") : fmt::format("{} {}", queries->rows(), hash_of(queries->x)),
      to_string(distance.metric), distance.power, hash_of<double>(std::span<const double>(distance.weights)),
      upper ? "yes" : "no");
}

/// An open file, closed on every way out.
class OpenFile {
 public:
  OpenFile(std::string path, int flags) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail_to_write();
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int descriptor() const { return descriptor_; }
  std::int64_t size() const { return static_cast<std::int64_t>(fs::file_size(path_)); }
  void set_size(std::int64_t bytes) {
    if (::ftruncate(descriptor_, bytes) != 0) fail_to_write();
  }
  void append(std::string_view text) {
    write_all(text.data(), std::ssize(text),
              [&](const char* from, std::size_t count) { return ::write(descriptor_, from, count); });
  }
  /// Any thread may write its own part.
  void write_at(std::int64_t offset, const void* bytes, std::int64_t count) {
    write_all(static_cast<const char*>(bytes), count, [&](const char* from, std::size_t left) {
      return ::pwrite(descriptor_, from, left, offset + (from - static_cast<const char*>(bytes)));
    });
  }
  void close_durably() {
    const bool closed = ::fsync(descriptor_) == 0 && ::close(descriptor_) == 0;
    descriptor_ = -1;
    if (!closed) fail_to_write();
  }

 private:
  [[noreturn]] void fail_to_write() const { fail("{}: cannot be written: {}", path_, std::strerror(errno)); }
  template <class Write>
  void write_all(const char* from, std::int64_t count, const Write& write) const {
    while (count > 0) {
      const auto written = write(from, static_cast<std::size_t>(count));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail_to_write();
      from += written;
      count -= written;
    }
  }

  std::string path_;
  int descriptor_ = -1;
};

/// Where the rows of the file lie.
struct Layout {
  std::int64_t rows, columns;
  bool upper;
  std::int64_t header_bytes = 0;

  /// Values before row i.
  std::int64_t before(std::int64_t i) const { return upper ? i * columns - i * (i + 1) / 2 : i * columns; }
  std::int64_t first_column(std::int64_t i) const { return upper ? i + 1 : 0; }
  std::int64_t offset(std::int64_t i) const { return header_bytes + before(i) * value_bytes; }
};

/// A file under construction that survives the process. Beside it lies one with its settings, and with the rows that
/// are in it: a line for each block.
class PartialFile {
 public:
  PartialFile(const std::string& target, const std::string& settings, const Layout& layout, bool resume)
      : target_(target),
        settings_path_(target + ".settings"),
        layout_(layout),
        matrix_(target + ".partial", O_RDWR | O_CREAT) {
    if (::flock(matrix_.descriptor(), LOCK_EX | LOCK_NB) != 0)
      fail("{}.partial: another program is writing it", target_);
    const bool known = resume && matrix_.size() > 0;
    if (known)
      read_done(settings);
    else
      matrix_.set_size(0);
    auto text = settings;
    for (const auto& rows : done_) text += line_of(rows);
    write_text_file(settings_path_, text);
    list_.emplace(settings_path_, O_WRONLY | O_APPEND);
  }

  /// Rows that an earlier run has written, ascending.
  const std::vector<Range>& done() const { return done_; }
  void write_header(const std::string& header) { matrix_.write_at(0, header.data(), std::ssize(header)); }
  /// All values of the rows. Any thread may bring its own.
  void write(Range rows, const double* values) {
    matrix_.write_at(layout_.offset(rows.begin), values, layout_.offset(rows.end) - layout_.offset(rows.begin));
    const std::lock_guard lock(mutex_);
    list_->append(line_of(rows));
  }
  /// Gives the complete file its name.
  void publish() {
    matrix_.set_size(layout_.offset(layout_.rows));
    matrix_.close_durably();
    std::error_code error;
    fs::rename(target_ + ".partial", target_, error);
    if (error)
      fail("{}: cannot be given its name: {}; its contents are in {}.partial", target_, error.message(), target_);
    fs::remove(settings_path_, error);
  }

 private:
  /// The settings must be the same. A line that was torn, or speaks of rows that the file is too short for, does not
  /// count.
  void read_done(const std::string& settings) {
    std::ifstream file(settings_path_, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!text.starts_with(settings))
      fail(
          "{}.partial: was begun with other rows or another distance, or by another version of Sheaf; leave out "
          "--resume to begin again",
          target_);
    for (std::size_t begin = settings.size(); begin < text.size();) {
      const auto end = text.find('\n', begin);
      if (end == std::string::npos) break;
      const auto rows = parse_done(std::string_view(text).substr(begin, end - begin));
      if (rows.begin < rows.end && layout_.offset(rows.end) <= matrix_.size()) done_.push_back(rows);
      begin = end + 1;
    }
    std::sort(done_.begin(), done_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  }
  static std::string line_of(Range rows) { return fmt::format("done {} {}\n", rows.begin, rows.end); }
  /// "done 3 7"; anything else is no row.
  Range parse_done(std::string_view line) const {
    constexpr std::string_view word = "done ";
    Range rows;
    if (!line.starts_with(word)) return {};
    const auto* end = line.data() + line.size();
    const auto first = std::from_chars(line.data() + word.size(), end, rows.begin);
    if (first.ec != std::errc() || first.ptr == end) return {};
    const auto last = std::from_chars(first.ptr + 1, end, rows.end);
    const bool good = last.ec == std::errc() && last.ptr == end && rows.begin >= 0 && rows.end <= layout_.rows;
    return good ? rows : Range{};
  }

  std::string target_, settings_path_;
  Layout layout_;
  OpenFile matrix_;
  std::optional<OpenFile> list_;
  std::vector<Range> done_;
  std::mutex mutex_;  // of the list
};

/// The rows that are not done, in blocks of at most `step`.
std::vector<Range> blocks_beside(const std::vector<Range>& done, std::int64_t rows, std::int64_t step) {
  std::vector<Range> blocks;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; begin += step) blocks.push_back({begin, std::min(begin + step, end)});
  };
  std::int64_t reached = 0;
  for (const auto& range : done) {
    add(reached, range.begin);
    reached = std::max(reached, range.end);
  }
  add(reached, rows);
  return blocks;
}

/// Rows of a block: within the memory, and enough blocks for all devices.
std::int64_t block_rows(const Context& context, const Layout& layout, std::int64_t devices) {
  const auto row_bytes = std::max<std::int64_t>(layout.columns * value_bytes, 1);
  const auto room = std::min(context.memory() / block_share, most_block_bytes) / row_bytes;
  return std::max<std::int64_t>(std::min(room, layout.rows / (blocks_each * devices)), 1);
}

/// The values of a block as they lie in the file.
void compute_block(neighbors::NeighborOps& ops, const Layout& layout, Range rows, std::vector<double>& values) {
  const auto first = layout.first_column(rows.begin);
  const auto columns = std::max<std::int64_t>(layout.columns - first, 0);
  values.resize(static_cast<std::size_t>((rows.end - rows.begin) * columns));
  if (columns > 0) ops.distances(rows, {first, layout.columns}, values);
  if (!layout.upper) return;
  for (auto i = rows.begin; i < rows.end; ++i) {
    const auto row = values.begin() + (i - rows.begin) * columns;
    std::copy(row + (layout.first_column(i) - first), row + columns,
              values.begin() + (layout.before(i) - layout.before(rows.begin)));
  }
}

/// Every device computes the next block when it is free, while the one before is written. After an error no block is
/// begun; that of the device that failed first is thrown.
void compute_blocks(const std::vector<Context>& devices, const neighbors::AnyRowPair& pair, const Layout& layout,
                    const std::vector<Range>& blocks, Stage& stage, PartialFile& file) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&](const Context& context) {
    try {
      const auto ops = neighbors::make_ops(context, pair);
      std::vector<double> computed, written;
      std::future<void> writing;
      for (auto b = next++; b < blocks.size(); b = next++) {
        context.check_stop();
        compute_block(*ops, layout, blocks[b], computed);
        if (writing.valid()) writing.get();
        std::swap(computed, written);
        writing = std::async(std::launch::async, [&, rows = blocks[b]] { file.write(rows, written.data()); });
        stage.advance(blocks[b].end - blocks[b].begin);
      }
      if (writing.valid()) writing.get();
    } catch (...) {
      const std::lock_guard lock(mutex);
      next = blocks.size();
      if (!error) error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t d = 1; d < devices.size(); ++d) others.emplace_back([&, d] { work(devices[d]); });
    work(devices.front());
  }
  if (error) std::rethrow_exception(error);
}

/// The context's device and those that share its work. A CPU among several leaves a core to each of the others.
std::vector<Context> contexts_of(const Context& context, const std::vector<Device>& also) {
  const auto others = static_cast<int>(also.size());
  std::vector<Context> contexts{context};
  for (const Device device : also) contexts.push_back(context.with({.device = device, .memory = 0}));
  for (auto& one : contexts)
    if (one.device().is_cpu()) one = one.with({.threads = std::max(1, context.threads() - others)});
  return contexts;
}

}  // namespace

template <class T>
void write_distances(const Context& given, const Dataset<T>& dataset, const DistanceOptions& distance,
                     const std::string& path, const MatrixFileOptions& options, const Dataset<T>* queries) {
  if (options.upper && queries != nullptr)
    fail_usage("the part above the diagonal is that of rows among themselves, not of other queries");
  const auto context = given.for_work(neighbors_work(dataset, queries));
  const auto pair = neighbors::make_row_pair(context, dataset, queries, distance);
  const auto devices = contexts_of(context, options.also);
  Layout layout{queries == nullptr ? dataset.rows() : queries->rows(), dataset.rows(), options.upper};
  const auto header =
      neighbors::npy_header("'<f8'", options.upper ? fmt::format("{},", layout.before(layout.rows))
                                                   : fmt::format("{}, {}", layout.rows, layout.columns));
  layout.header_bytes = std::ssize(header);
  PartialFile file(path, settings_of(dataset, queries, distance, options.upper), layout, options.resume);
  file.write_header(header);
  const auto blocks = blocks_beside(file.done(), layout.rows, block_rows(context, layout, std::ssize(devices)));
  Stage stage(context.progress(), "computing distances", layout.rows, context.stop());
  std::int64_t left = 0;
  for (const auto& block : blocks) left += block.end - block.begin;
  stage.advance(layout.rows - left);
  compute_blocks(devices, pair, layout, blocks, stage, file);
  file.publish();
}

template void write_distances(const Context&, const Dataset<float>&, const DistanceOptions&, const std::string&,
                              const MatrixFileOptions&, const Dataset<float>*);
template void write_distances(const Context&, const Dataset<double>&, const DistanceOptions&, const std::string&,
                              const MatrixFileOptions&, const Dataset<double>*);

}  // namespace sheaf

// Distance matrices of any size in files. Devices take blocks of rows from a queue; each block is written at its place
// while its device computes the next, brought to the disk and then listed with its checksum, so that after an
// interruption the rest alone is computed.
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
#include <sys/stat.h>
#include <unistd.h>

#include "core/fail.hpp"
#include "core/hash/sha256.hpp"
#include "core/temporary.hpp"
#include "data/bytes/sink.hpp"
#include "neighbors/npy.hpp"
#include "neighbors/verbs/ops.hpp"

namespace sheaf {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t block_share = 16;  // a block may take this part of the memory; each device holds two
constexpr std::int64_t blocks_each = 8;   // for each device at least, so that they end together
constexpr std::int64_t most_block_bytes = std::int64_t{64} << 20;  // beyond it, writing and computing gain nothing
constexpr std::int64_t value_bytes = sizeof(double);
constexpr std::size_t check_digits = 16;
constexpr std::string_view first_line = "sheaf-distances 2\n";

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
      "{}rows {} {}\nqueries {}\nmetric {}\npower {}\nweights {}\nupper {}\n", first_line, dataset.rows(),
      hash_of(dataset.x),
      queries == nullptr ? std::string("none") : fmt::format("{} {}", queries->rows(), hash_of(queries->x)),
      to_string(distance.metric), distance.power, hash_of<double>(std::span<const double>(distance.weights)),
      upper ? "yes" : "no");
}

/// An open file, closed on every way out.
class OpenFile {
 public:
  OpenFile(std::string path, int flags) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno == ELOOP) fail("{}: is a symbolic link, and is not followed; remove it", path_);
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
  /// False: the file ends before that.
  bool read_at(std::int64_t offset, void* bytes, std::int64_t count) const {
    for (auto* to = static_cast<char*>(bytes); count > 0;) {
      const auto got = ::pread(descriptor_, to, static_cast<std::size_t>(count), offset);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("{}: cannot be read: {}", path_, std::strerror(errno));
      if (got == 0) return false;
      to += got;
      offset += got;
      count -= got;
    }
    return true;
  }
  /// Returns when the bytes will survive a loss of power.
  void synchronise() {
    if (::fdatasync(descriptor_) != 0) fail_to_write();
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

/// Rows that are in the file, and what they are checked by.
struct DoneRows {
  Range rows;
  std::string check;
};

/// A file under construction that survives the process. Beside it lies one with its settings, and with the rows that
/// are in it: a line for each block, written when the block is on the disk.
class PartialFile {
 public:
  PartialFile(const Context& context, const std::string& target, const std::string& settings, const Layout& layout,
              bool resume)
      : target_(without_links(target)),
        partial_path_(target_ + ".partial"),
        settings_path_(target_ + ".settings"),
        layout_(layout),
        matrix_(partial_path_, O_RDWR | O_CREAT) {
    if (::flock(matrix_.descriptor(), LOCK_EX | LOCK_NB) != 0)
      fail("{}: another program is writing it; wait until it has ended, or name another file", partial_path_);
    const auto known = text_of(settings_path_);
    if ((matrix_.size() > 0 || !known.empty()) && !known.starts_with(first_line)) {
      if (matrix_.size() == 0) fs::remove(partial_path_);
      fail("{} and {}: are not what an earlier run of Sheaf has left; remove or rename them, or name another matrix",
           partial_path_, settings_path_);
    }
    if (resume && matrix_.size() > 0)
      read_done(context, settings, known);
    else
      matrix_.set_size(0);
    auto text = settings;
    for (const auto& done : done_) text += line_of(done);
    write_file(settings_path_, text, Links::replace);
    list_.emplace(settings_path_, O_WRONLY | O_APPEND);
  }

  /// Rows that an earlier run has written, ascending.
  std::vector<Range> done() const {
    std::vector<Range> rows;
    for (const auto& done : done_) rows.push_back(done.rows);
    return rows;
  }
  void write_header(const std::string& header) { matrix_.write_at(0, header.data(), std::ssize(header)); }
  /// All values of the rows. Any thread may bring its own.
  void write(Range rows, const double* values) {
    const auto bytes = bytes_of(rows);
    matrix_.write_at(layout_.offset(rows.begin), values, bytes);
    matrix_.synchronise();
    const auto line = line_of({rows, check_of(values, bytes)});
    const std::lock_guard lock(mutex_);
    list_->append(line);
  }
  /// Gives the complete file its name, and the permissions of one that it replaces.
  void publish() {
    matrix_.set_size(layout_.offset(layout_.rows));
    if (struct stat old{}; ::stat(target_.c_str(), &old) == 0) ::fchmod(matrix_.descriptor(), old.st_mode & 0777);
    matrix_.close_durably();
    std::error_code error;
    fs::rename(partial_path_, target_, error);
    if (error)
      fail("{}: cannot be given its name: {}; its contents are in {}", target_, error.message(), partial_path_);
    fs::remove(settings_path_, error);
    synchronise_folder_of(target_);
  }

 private:
  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::int64_t bytes_of(Range rows) const { return layout_.offset(rows.end) - layout_.offset(rows.begin); }
  static std::string check_of(const double* values, std::int64_t bytes) {
    return sha256({reinterpret_cast<const char*>(values), static_cast<std::size_t>(bytes)}).substr(0, check_digits);
  }

  /// The settings must be the same. A line that was torn does not count, nor one whose rows are not those that the
  /// file holds.
  void read_done(const Context& context, const std::string& settings, const std::string& text) {
    if (!text.starts_with(settings))
      fail(
          "{}: was begun with other rows or another distance, or by another version of Sheaf; leave out --resume to "
          "begin again",
          partial_path_);
    std::vector<double> values;
    for (std::size_t begin = settings.size(); begin < text.size();) {
      context.check_stop();
      const auto end = text.find('\n', begin);
      if (end == std::string::npos) break;
      auto done = parse_done(std::string_view(text).substr(begin, end - begin));
      if (done.rows.begin < done.rows.end && is_in_file(done, values)) done_.push_back(std::move(done));
      begin = end + 1;
    }
    std::sort(done_.begin(), done_.end(), [](const auto& a, const auto& b) { return a.rows.begin < b.rows.begin; });
  }
  bool is_in_file(const DoneRows& done, std::vector<double>& values) const {
    const auto bytes = bytes_of(done.rows);
    const bool is_block = bytes <= most_block_bytes || done.rows.end - done.rows.begin == 1;
    if (!is_block || layout_.offset(done.rows.end) > matrix_.size()) return false;
    values.resize(static_cast<std::size_t>(bytes / value_bytes));
    return matrix_.read_at(layout_.offset(done.rows.begin), values.data(), bytes) &&
           check_of(values.data(), bytes) == done.check;
  }
  static std::string line_of(const DoneRows& done) {
    return fmt::format("done {} {} {}\n", done.rows.begin, done.rows.end, done.check);
  }
  /// "done 3 7 0123456789abcdef"; anything else is no row.
  DoneRows parse_done(std::string_view line) const {
    constexpr std::string_view word = "done ";
    DoneRows done;
    if (!line.starts_with(word)) return {};
    const auto* end = line.data() + line.size();
    const auto first = std::from_chars(line.data() + word.size(), end, done.rows.begin);
    if (first.ec != std::errc() || first.ptr == end) return {};
    const auto last = std::from_chars(first.ptr + 1, end, done.rows.end);
    if (last.ec != std::errc() || last.ptr == end) return {};
    done.check.assign(last.ptr + 1, end);
    const bool good = done.rows.begin >= 0 && done.rows.end <= layout_.rows && done.check.size() == check_digits;
    return good ? done : DoneRows{};
  }

  std::string target_, partial_path_, settings_path_;
  Layout layout_;
  OpenFile matrix_;
  std::optional<OpenFile> list_;
  std::vector<DoneRows> done_;
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
        // Deferred if the system starts no more threads: get() then writes.
        writing = std::async(std::launch::async | std::launch::deferred,
                             [&, rows = blocks[b]] { file.write(rows, written.data()); });
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
  PartialFile file(context, path, settings_of(dataset, queries, distance, options.upper), layout, options.resume);
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

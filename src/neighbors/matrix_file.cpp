// Distance matrices of any size in files. Devices take blocks of rows from a queue; each block is written at its place
// while its device computes the next, brought to the disk and then noted in a journal with its checksum, so that after
// an interruption the rest alone is computed.
#include <sheaf/neighbors.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <future>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fail.hpp"
#include "core/hash/sha256.hpp"
#include "core/temporary.hpp"
#include "neighbors/npy.hpp"
#include "neighbors/verbs/ops.hpp"
#include "queue/journal.hpp"
#include "queue/units.hpp"

namespace sheaf {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t block_share = 16;  // a block may take this part of the memory; each device holds two
constexpr std::int64_t blocks_each = 8;   // for each device at least, so that they end together
constexpr std::int64_t most_block_bytes = std::int64_t{64} << 20;  // beyond it, writing and computing gain nothing
constexpr std::int64_t value_bytes = sizeof(double);
constexpr std::size_t check_digits = 16;
constexpr queue::JournalKind distances_journal{"distances", 3, 3,
                                               "remove it and the file .partial beside it, or name another matrix"};

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

/// Properties that two calls share if one can go on with the other's file.
template <class T>
std::string settings_of(const Dataset<T>& dataset, const Dataset<T>* queries, const DistanceOptions& distance,
                        bool upper) {
  return fmt::format(
      "rows {} {}; queries {}; metric {}; power {}; weights {}; upper {}", dataset.rows(), hash_of(dataset.x),
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

/// The positions of rows in the file.
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

/// A file under construction that survives the process. Beside it lies a journal: which matrix it is, and the blocks of
/// rows that are on the disk.
class PartialFile {
 public:
  PartialFile(const Context& context, const std::string& target, const std::string& settings, const Layout& layout,
              bool resume)
      : target_(without_links(target)),
        partial_path_(target_ + ".partial"),
        layout_(layout),
        matrix_(partial_path_, O_RDWR | O_CREAT),
        journal_path_(target_ + ".settings"),
        journal_(distances_journal, journal_path_) {
    try {
      open(context, settings, resume);
    } catch (...) {
      if (matrix_.size() == 0) fs::remove(partial_path_);
      if (journal_.is_new()) fs::remove(journal_path_);
      throw;
    }
  }

  /// Rows that an earlier run has written, ascending.
  std::vector<Range> done() const {
    std::vector<Range> rows;
    for (const auto& done : done_) rows.push_back(done.rows);
    return rows;
  }
  void write_header(const std::string& header) { matrix_.write_at(0, header.data(), std::ssize(header)); }
  /// All values of the rows. `unit`: among the blocks of this run. Any thread may bring its own.
  void write(std::int64_t unit, Range rows, const double* values) {
    const auto bytes = bytes_of(rows);
    matrix_.write_at(layout_.offset(rows.begin), values, bytes);
    matrix_.synchronise();
    journal_.keep(next_unit_ + unit, {{"rows", {rows.begin, rows.end}}, {"check", check_of(values, bytes)}});
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
    fs::remove(journal_path_, error);
    synchronise_folder_of(target_);
  }

 private:
  void open(const Context& context, const std::string& settings, bool resume) {
    const bool ours = journal_.is_journal();
    if (ours) journal_.read([&](std::int64_t unit, const queue::Journal::Json& block) { take_block(unit, block); });
    if (!ours || (matrix_.size() > 0 && journal_.work().empty()))
      fail("{} and {}: are not what an earlier run of Sheaf has left; remove or rename them, or name another matrix",
           partial_path_, journal_path_);
    if (resume && matrix_.size() > 0)
      keep_blocks(context, settings);
    else
      begin(settings);
  }
  std::int64_t bytes_of(Range rows) const { return layout_.offset(rows.end) - layout_.offset(rows.begin); }
  static std::string check_of(const double* values, std::int64_t bytes) {
    return sha256({reinterpret_cast<const char*>(values), static_cast<std::size_t>(bytes)}).substr(0, check_digits);
  }

  /// The matrix is emptied first: what is in it always has a journal that begins.
  void begin(const std::string& settings) {
    matrix_.set_size(0);
    done_.clear();
    next_unit_ = 0;
    journal_.begin(settings);
  }
  void take_block(std::int64_t unit, const queue::Journal::Json& block) {
    const Range rows{block.at("rows").at(0).get<std::int64_t>(), block.at("rows").at(1).get<std::int64_t>()};
    if (rows.begin < 0 || rows.end <= rows.begin) throw queue::DamagedRecord();
    done_.push_back({rows, block.at("check").get<std::string>()});
    next_unit_ = std::max(next_unit_, unit + 1);
  }
  /// The settings must be the same. Rows that are not those that the file holds do not count.
  void keep_blocks(const Context& context, const std::string& settings) {
    if (journal_.work() != settings)
      fail(
          "{}: was begun with other rows or another distance, or by another version of Sheaf; leave out --resume to "
          "begin again",
          partial_path_);
    std::vector<double> values;
    std::erase_if(done_, [&](const DoneRows& done) {
      context.check_stop();
      return !is_in_file(done, values);
    });
    std::sort(done_.begin(), done_.end(), [](const auto& a, const auto& b) { return a.rows.begin < b.rows.begin; });
  }
  bool is_in_file(const DoneRows& done, std::vector<double>& values) const {
    if (done.rows.end > layout_.rows) return false;
    const auto bytes = bytes_of(done.rows);
    const bool is_block = bytes <= most_block_bytes || done.rows.end - done.rows.begin == 1;
    if (!is_block || layout_.offset(done.rows.end) > matrix_.size()) return false;
    values.resize(static_cast<std::size_t>(bytes / value_bytes));
    return matrix_.read_at(layout_.offset(done.rows.begin), values.data(), bytes) &&
           check_of(values.data(), bytes) == done.check;
  }

  std::string target_, partial_path_;
  Layout layout_;
  OpenFile matrix_;
  std::string journal_path_;
  queue::Journal journal_;
  std::vector<DoneRows> done_;
  std::int64_t next_unit_ = 0;  // after those of earlier runs
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

/// A device at work: the block that it computes, and the one before, which is being written.
struct BlockWorker {
  const Context& context;
  std::unique_ptr<neighbors::NeighborOps> ops = nullptr;
  std::vector<double> computed = {}, written = {};
  std::future<void> writing = {};  // the last, so that nothing is freed that it reads
};

/// Each block is written while its device computes the next.
void compute_blocks(const std::vector<Context>& devices, const neighbors::AnyRowPair& pair, const Layout& layout,
                    const std::vector<Range>& blocks, Stage& stage, PartialFile& file) {
  std::deque<BlockWorker> workers;
  for (const auto& context : devices) workers.push_back({context});
  const auto work = [&](std::size_t device, Range units) {
    auto& worker = workers[device];
    const auto rows = blocks[static_cast<std::size_t>(units.begin)];
    worker.context.check_stop();
    if (!worker.ops) worker.ops = neighbors::make_ops(worker.context, pair);
    compute_block(*worker.ops, layout, rows, worker.computed);
    if (worker.writing.valid()) worker.writing.get();
    std::swap(worker.computed, worker.written);
    // Deferred if the system starts no more threads: get() then writes.
    worker.writing = std::async(std::launch::async | std::launch::deferred, [&worker, &file, unit = units.begin, rows] {
      file.write(unit, rows, worker.written.data());
    });
    stage.advance(rows.end - rows.begin);
    return true;
  };
  queue::run_units(devices.size(), std::ssize(blocks), work);
  for (auto& worker : workers)
    if (worker.writing.valid()) worker.writing.get();
}

/// The context's device and those that share its work. A CPU among several leaves a core to each of the others.
std::vector<Context> contexts_of(const Context& context, const std::vector<Device>& also) {
  const auto others = static_cast<int>(also.size());
  auto contexts = queue::device_contexts(context, also);
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

// Distance matrices of any size in files: blocks of rows, written as they are computed, so that what is there after an
// interruption is a prefix of the result.
#include <sheaf/neighbors.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <sheaf/io.hpp>

#include "core/fail.hpp"
#include "core/sha256.hpp"
#include "neighbors/npy.hpp"

namespace sheaf {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t block_share = 8;                            // a block may take this part of the memory
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
      "sheaf-distances 1\nrows {} {}\nqueries {}\nmetric {}\npower {}\nweights {}\nupper {}\n", dataset.rows(),
      hash_of(dataset.x),
      queries == nullptr ? std::string("none") : fmt::format("{} {}", queries->rows(), hash_of(queries->x)),
      to_string(distance.metric), distance.power, hash_of<double>(std::span<const double>(distance.weights)),
      upper ? "yes" : "no");
}

/// A file under construction that survives the process: its bytes are a prefix of the result's.
class PartialFile {
 public:
  /// Beside it lies a file with its settings.
  PartialFile(const std::string& target, const std::string& settings, bool resume)
      : target_(target), path_(target + ".partial"), settings_path_(target + ".settings") {
    const bool known = fs::exists(path_);
    if (known && resume && read_settings() != settings)
      fail("{}: was begun with other rows or another distance; leave out --resume to begin again", path_);
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | (known && resume ? 0 : O_TRUNC), 0666);
    if (descriptor_ < 0) fail("{}: cannot be written: {}", path_, std::strerror(errno));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      ::close(descriptor_);
      fail("{}: another program is writing it", path_);
    }
    if (!known || !resume) write_settings(settings);
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  std::int64_t size() const { return static_cast<std::int64_t>(fs::file_size(path_)); }
  /// Keeps this many bytes, and writes behind them.
  void cut(std::int64_t bytes) {
    if (::ftruncate(descriptor_, bytes) != 0 || ::lseek(descriptor_, bytes, SEEK_SET) != bytes)
      fail("{}: cannot be written: {}", path_, std::strerror(errno));
  }
  void write(const void* bytes, std::int64_t count) {
    const auto* from = static_cast<const char*>(bytes);
    while (count > 0) {
      const auto written = ::write(descriptor_, from, static_cast<std::size_t>(count));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail("{}: cannot be written: {}", path_, std::strerror(errno));
      from += written;
      count -= written;
    }
  }
  /// Gives the complete file its name.
  void publish() {
    const bool closed = ::fsync(descriptor_) == 0 && ::close(descriptor_) == 0;
    descriptor_ = -1;
    if (!closed) fail("{}: cannot be written: {}", path_, std::strerror(errno));
    std::error_code error;
    fs::rename(path_, target_, error);
    if (error) fail("{}: cannot be given its name: {}; its contents are in {}", target_, error.message(), path_);
    fs::remove(settings_path_, error);
  }

 private:
  std::string read_settings() const {
    std::string text(4096, '\0');
    const int file = ::open(settings_path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    const auto got = ::read(file, text.data(), text.size());
    ::close(file);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }
  void write_settings(const std::string& settings) const { write_text_file(settings_path_, settings); }

  std::string target_, path_, settings_path_;
  int descriptor_ = -1;
};

/// Where the rows of the file lie.
struct Layout {
  std::int64_t rows, columns;
  bool upper;

  /// Values before row i.
  std::int64_t before(std::int64_t i) const { return upper ? i * columns - i * (i + 1) / 2 : i * columns; }
  std::int64_t first_column(std::int64_t i) const { return upper ? i + 1 : 0; }
  /// Rows that are complete in a file of so many values.
  std::int64_t complete(std::int64_t values) const {
    std::int64_t low = 0;
    std::int64_t high = rows;
    while (low < high) {
      const auto middle = (low + high + 1) / 2;
      if (before(middle) <= values)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
};

}  // namespace

template <class T>
void write_distances(const Context& context, const Dataset<T>& dataset, const DistanceOptions& distance,
                     const std::string& path, const MatrixFileOptions& options, const Dataset<T>* queries) {
  if (options.upper && queries != nullptr)
    fail_usage("the part above the diagonal is that of rows among themselves, not of other queries");
  const DistanceMatrix matrix(context, dataset, distance, queries);
  const Layout layout{matrix.rows(), matrix.columns(), options.upper};
  const auto total = layout.before(layout.rows);
  const auto header = neighbors::npy_header(
      "'<f8'", options.upper ? fmt::format("{},", total) : fmt::format("{}, {}", layout.rows, layout.columns));
  const auto header_bytes = std::ssize(header);
  PartialFile file(path, settings_of(dataset, queries, distance, options.upper), options.resume);
  const auto known = std::max<std::int64_t>(file.size() - header_bytes, 0) / value_bytes;
  auto row = file.size() < header_bytes ? 0 : layout.complete(std::min(known, total));
  file.cut(row == 0 ? 0 : header_bytes + layout.before(row) * value_bytes);
  if (row == 0) file.write(header.data(), header_bytes);
  const auto row_bytes = std::max<std::int64_t>(layout.columns * value_bytes, 1);
  const auto room = std::min(context.memory() / block_share, most_block_bytes);
  const auto step = std::max<std::int64_t>(room / row_bytes, 1);
  std::vector<double> block;
  Stage stage(context.progress(), "computing distances", layout.rows, context.stop());
  stage.advance(row);
  for (; row < layout.rows; row += step) {
    const auto count = std::min(step, layout.rows - row);
    const auto first = layout.first_column(row);
    const auto columns = layout.columns - first;
    block.resize(static_cast<std::size_t>(count * columns));
    if (columns > 0) matrix.compute(row, count, first, columns, block.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const auto from = layout.first_column(row + i) - first;
      file.write(block.data() + i * columns + from, (columns - from) * value_bytes);
    }
    stage.advance(count);
  }
  file.publish();
}

template void write_distances(const Context&, const Dataset<float>&, const DistanceOptions&, const std::string&,
                              const MatrixFileOptions&, const Dataset<float>*);
template void write_distances(const Context&, const Dataset<double>&, const DistanceOptions&, const std::string&,
                              const MatrixFileOptions&, const Dataset<double>*);

}  // namespace sheaf

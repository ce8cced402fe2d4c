// Distance matrices of any size in files. Devices take blocks of rows from a queue; each block is written at its place
// while its device computes the next.
#include <sheaf/neighbors.hpp>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <future>
#include <memory>
#include <utility>

#include <fcntl.h>

#include "core/fail.hpp"
#include "neighbors/matrix/matrix_bytes.hpp"
#include "neighbors/matrix/target.hpp"
#include "neighbors/npy.hpp"
#include "neighbors/verbs/ops.hpp"
#include "queue/units.hpp"

namespace sheaf {
namespace {

using Layout = neighbors::MatrixLayout;
using neighbors::MatrixTarget;

constexpr std::int64_t block_share = 16;    // a block may take this part of the memory; each device holds two
constexpr std::int64_t blocks_each = 8;     // for each device at least, so that they end together
constexpr std::int64_t compared_rows = 16;  // of a matrix that may be this one, complete

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

/// Rows of a block: within the memory, and enough blocks for all devices.
std::int64_t block_rows(const Context& context, const Layout& layout, std::int64_t devices) {
  const auto row_bytes = std::max<std::int64_t>(layout.columns * neighbors::matrix_value_bytes, 1);
  const auto room = std::min(context.memory() / block_share, neighbors::most_block_bytes) / row_bytes;
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
                    const std::vector<Range>& blocks, Stage& stage, MatrixTarget& file) {
  std::deque<BlockWorker> workers;
  for (const auto& context : devices) workers.push_back({context});
  const auto work = [&](std::size_t device, Range units) {
    auto& worker = workers[device];
    const auto rows = blocks[static_cast<std::size_t>(units.begin)];
    worker.context.check_stop();
    if (file.is_done(rows)) {
      stage.advance(rows.end - rows.begin);
      return true;
    }
    if (!file.claim(rows)) {
      if (worker.writing.valid()) worker.writing.get();  // others wait for it while this process waits for them
      return false;
    }
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
  queue::run_units(devices.size(), std::ssize(blocks), work, {.stop = devices.front().stop()});
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

/// Whether a file holds this matrix: it has the size, the header and some rows of it, among them the first, in which
/// every column has a value.
bool holds_matrix(const std::string& path, const Context& device, const neighbors::AnyRowPair& pair,
                  const Layout& layout) {
  const neighbors::MatrixBytes file(path, O_RDONLY);
  std::string header(layout.header.size(), ' ');
  if (file.size() != layout.bytes() || !file.read_at(0, header.data(), std::ssize(header)) || header != layout.header)
    return false;
  const auto ops = neighbors::make_ops(device, pair);
  std::vector<double> computed, room;
  const auto compared = std::min(compared_rows, layout.rows);
  for (std::int64_t k = 0; k < compared; ++k) {
    const Range row{k * layout.rows / compared, k * layout.rows / compared + 1};
    compute_block(*ops, layout, row, computed);
    if (!file.holds(layout, row, neighbors::check_of_block(computed.data(), layout.bytes_of(row)), room)) return false;
  }
  return true;
}

}  // namespace

template <class T>
void write_distances(const Context& given, const Dataset<T>& dataset, const DistanceOptions& distance,
                     const std::string& path, const MatrixFileOptions& options, const Dataset<T>* queries) {
  if (options.upper && queries != nullptr)
    fail_usage("the part above the diagonal is that of rows among themselves, not of other queries");
  if (options.join && options.resume) fail_usage("--join goes on with what is there: leave out --resume");
  const auto context = given.for_work(neighbors_work(dataset, queries));
  const auto pair = neighbors::make_row_pair(context, dataset, queries, distance);
  const auto devices = contexts_of(context, options.extra_devices);
  Layout layout{queries == nullptr ? dataset.rows() : queries->rows(), dataset.rows(), options.upper};
  layout.header = neighbors::npy_header("'<f8'", options.upper ? fmt::format("{},", layout.before(layout.rows))
                                                               : fmt::format("{}, {}", layout.rows, layout.columns));
  const auto settings = settings_of(dataset, queries, distance, options.upper);
  const auto file = options.join ? neighbors::join_matrix(path, settings, layout, options.lease)
                                 : neighbors::open_own_matrix(context, path, settings, layout, options.resume);
  // One that joins late finds the matrix finished.
  if (options.join && std::filesystem::exists(path)) {
    if (holds_matrix(path, devices.front(), pair, layout)) return;
    fail("{}: exists already, and holds something else; remove it, or name another matrix", path);
  }
  const auto blocks = file->blocks(block_rows(context, layout, std::ssize(devices)));
  Stage stage(context.progress(), "computing distances", layout.rows, context.stop());
  std::int64_t left = 0;
  for (const auto& block : blocks) left += block.end - block.begin;
  stage.advance(layout.rows - left);
  compute_blocks(devices, pair, layout, blocks, stage, *file);
  for (auto again = file->damaged(context); !again.empty(); again = file->damaged(context)) {
    Stage repair(context.progress(), "computing blocks that were lost", layout.rows, context.stop());
    compute_blocks(devices, pair, layout, again, repair, *file);
  }
  file->publish();
}

template void write_distances(const Context&, const Dataset<float>&, const DistanceOptions&, const std::string&,
                              const MatrixFileOptions&, const Dataset<float>*);
template void write_distances(const Context&, const Dataset<double>&, const DistanceOptions&, const std::string&,
                              const MatrixFileOptions&, const Dataset<double>*);

}  // namespace sheaf

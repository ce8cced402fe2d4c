// A matrix that one process writes. Each block is brought to the disk and then noted in a journal with its checksum, so
// that after an interruption the rest alone is computed.
#include <algorithm>
#include <filesystem>
#include <utility>

#include <fcntl.h>

#include "core/fail.hpp"
#include "core/temporary.hpp"
#include "neighbors/matrix/matrix_bytes.hpp"
#include "neighbors/matrix/target.hpp"
#include "queue/journal.hpp"

namespace sheaf::neighbors {
namespace {

namespace fs = std::filesystem;

constexpr queue::JournalKind distances_journal{"distances", 3, 3,
                                               "remove it and the file .partial beside it, or name another matrix"};

/// A block that is in the file, and what it is checked by.
struct DoneRows {
  Range rows;
  std::string check;
};

class OwnMatrix : public MatrixTarget {
 public:
  OwnMatrix(const Context& context, const std::string& target, const std::string& settings, const MatrixLayout& layout,
            bool resume)
      : target_(without_links(target)),
        partial_path_(target_ + ".partial"),
        layout_(layout),
        matrix_(partial_path_, O_RDWR | O_CREAT, target_),
        journal_path_(target_ + ".settings"),
        journal_(distances_journal, journal_path_) {
    try {
      open(context, settings, resume);
    } catch (...) {
      if (matrix_.size() == 0) fs::remove(partial_path_);
      if (journal_.is_new()) fs::remove(journal_path_);
      throw;
    }
    matrix_.write_at(0, layout_.header.data(), std::ssize(layout_.header));
  }

  std::vector<Range> blocks(std::int64_t rows) override {
    std::vector<Range> done;
    for (const auto& block : done_) done.push_back(block.rows);
    return blocks_beside(done, layout_.rows, rows);
  }
  void write(std::int64_t unit, Range block, const double* values) override {
    const auto bytes = layout_.bytes_of(block);
    matrix_.write_at(layout_.offset(block.begin), values, bytes);
    matrix_.synchronise();
    journal_.keep(next_unit_ + unit, {{"rows", {block.begin, block.end}}, {"check", check_of_block(values, bytes)}});
  }
  void publish() override {
    matrix_.set_size(layout_.bytes());
    if (!matrix_.publish(partial_path_, target_))
      fail("{}: cannot be given its name: somebody has removed {}", target_, partial_path_);
    std::error_code ignored;
    fs::remove(journal_path_, ignored);
  }

 private:
  void open(const Context& context, const std::string& settings, bool resume) {
    if (const auto units = target_ + ".units"; fs::exists(units))
      fail("{}: several processes share this matrix, or have left it; go on with --join, or remove {} and {}", target_,
           units, partial_path_);
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
    std::vector<double> room;
    std::erase_if(done_, [&](const DoneRows& done) {
      context.check_stop();
      return !is_in_file(done, room);
    });
    std::sort(done_.begin(), done_.end(), [](const auto& a, const auto& b) { return a.rows.begin < b.rows.begin; });
  }
  bool is_in_file(const DoneRows& done, std::vector<double>& room) const {
    if (done.rows.end > layout_.rows) return false;
    const bool is_block = layout_.bytes_of(done.rows) <= most_block_bytes || done.rows.end - done.rows.begin == 1;
    return is_block && layout_.offset(done.rows.end) <= matrix_.size() &&
           matrix_.holds(layout_, done.rows, done.check, room);
  }

  std::string target_, partial_path_;
  MatrixLayout layout_;
  MatrixBytes matrix_;
  std::string journal_path_;
  queue::Journal journal_;
  std::vector<DoneRows> done_;
  std::int64_t next_unit_ = 0;  // after those of earlier runs
};

}  // namespace

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

std::unique_ptr<MatrixTarget> open_own_matrix(const Context& context, const std::string& path,
                                              const std::string& settings, const MatrixLayout& layout, bool resume) {
  return std::make_unique<OwnMatrix>(context, path, settings, layout, resume);
}

}  // namespace sheaf::neighbors

// A matrix that several processes write, on one machine or on several. All of them write the same bytes for a block, so
// that one that comes back after its lease has expired does no harm. The process that publishes the matrix first reads
// again what the others wrote: a file system may have lost it.
#include <chrono>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include <fcntl.h>

#include "core/fail.hpp"
#include "core/temporary.hpp"
#include "neighbors/matrix/matrix_bytes.hpp"
#include "neighbors/matrix/target.hpp"
#include "queue/claims.hpp"

namespace sheaf::neighbors {
namespace {

namespace fs = std::filesystem;
using Claims = queue::Claims;

constexpr const char* work_name = "work";
constexpr const char* publishing = "matrix";
constexpr std::chrono::milliseconds publisher_wait{20};

std::string name_of(Range block) { return fmt::format("rows-{}-{}", block.begin, block.end); }

/// Empty: there is no such text.
std::string text_in(const nlohmann::json& record, const char* name) {
  return record.is_object() && record.contains(name) && record[name].is_string() ? record[name].get<std::string>() : "";
}

class JoinedMatrix : public MatrixTarget {
 public:
  JoinedMatrix(const std::string& target, const std::string& settings, const MatrixLayout& layout, double lease)
      : target_(without_links(target)),
        partial_path_(target_ + ".partial"),
        settings_(settings),
        layout_(layout),
        claims_(claims_of(target_, lease)) {}

  /// The first process says how large blocks are.
  std::vector<Range> blocks(std::int64_t rows) override {
    const auto work = claims_.agree(work_name, {{"settings", settings_}, {"rows", rows}});
    if (text_in(work, "settings") != settings_)
      fail(
          "{}: other processes share a matrix of other rows or of another distance there, or are of another version of "
          "Sheaf; name another matrix, or remove {}.units and {} if no process is at work",
          target_, target_, partial_path_);
    matrix_ = std::make_unique<MatrixBytes>(partial_path_, O_RDWR | O_CREAT, target_);
    matrix_->write_at(0, layout_.header.data(), std::ssize(layout_.header));
    all_ = blocks_beside({}, layout_.rows, work.at("rows").get<std::int64_t>());
    return all_;
  }
  bool is_done(Range block) override {
    const std::lock_guard lock(mutex_);
    return !repairs_ && (claims_.is_over() || claims_.find(name_of(block)));
  }
  bool claim(Range block) override {
    const std::lock_guard lock(mutex_);
    return repairs_ || claims_.claim(name_of(block));
  }
  void write(std::int64_t /*unit*/, Range block, const double* values) override {
    const auto bytes = layout_.bytes_of(block);
    matrix_->write_at(layout_.offset(block.begin), values, bytes);
    matrix_->synchronise();
    const auto check = check_of_block(values, bytes);
    const std::lock_guard lock(mutex_);
    claims_.keep(name_of(block), {{"check", check}});
    own_.insert(block.begin);
  }
  std::vector<Range> damaged(const Context& context) override {
    if (!becomes_publisher(context)) return {};
    std::vector<Range> blocks;
    std::vector<double> room;
    for (const auto block : all_) {
      context.check_stop();
      if (own_.contains(block.begin)) continue;
      const auto found = claims_.find(name_of(block));
      if (!found || !matrix_->holds(layout_, block, text_in(*found, "check"), room)) blocks.push_back(block);
    }
    repairs_ = !blocks.empty();
    return blocks;
  }
  /// Another process may have been faster if this one was stopped for long.
  void publish() override {
    const bool here = !claims_.is_over() && claims_.holds(publishing);
    if (here) matrix_->set_size(layout_.bytes());
    if (here && matrix_->publish(partial_path_, target_)) return claims_.end();
    if (!fs::exists(target_)) fail("{}: somebody has removed it, or {}", target_, partial_path_);
    // One that came when the matrix had just got its name has made an empty file.
    if (matrix_->is_at(partial_path_)) fs::remove(partial_path_);
  }

 private:
  static Claims claims_of(const std::string& target, double lease) {
    if (fs::exists(target + ".settings"))
      fail(
          "{}: a process that does not share it is at work on this matrix, or has left it; go on with --resume, or "
          "remove {}.settings and {}.partial",
          target, target, target);
    return {target + ".units",
            std::chrono::duration_cast<Claims::Clock::duration>(std::chrono::duration<double>(lease))};
  }
  /// Waits for the one that publishes, if it is another. False: it has done so.
  bool becomes_publisher(const Context& context) {
    while (!claims_.is_over()) {
      if (claims_.holds(publishing) || claims_.claim(publishing)) return true;
      context.check_stop();
      std::this_thread::sleep_for(publisher_wait);
    }
    return false;
  }

  std::string target_, partial_path_, settings_;
  MatrixLayout layout_;
  std::unique_ptr<MatrixBytes> matrix_;
  std::vector<Range> all_;
  std::set<std::int64_t> own_;  // blocks that this process wrote, by their first row
  bool repairs_ = false;
  std::mutex mutex_;  // of the claims, while devices are at work
  Claims claims_;
};

}  // namespace

std::unique_ptr<MatrixTarget> join_matrix(const std::string& path, const std::string& settings,
                                          const MatrixLayout& layout, double lease) {
  return std::make_unique<JoinedMatrix>(path, settings, layout, lease);
}

}  // namespace sheaf::neighbors

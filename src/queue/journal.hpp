// The durable journal of numbered units of work (records of data/write/record_file.hpp): which work it is, how the work
// is divided, and one record for each finished unit. A work that was ended, in whichever way, goes on from there.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "data/write/record_file.hpp"

namespace sheaf::queue {

/// The common properties of all journals of one sort of work.
struct JournalKind {
  std::string_view name;    ///< of the work: "search"
  int version = 0;          ///< of its records
  int oldest = 0;           ///< the oldest version whose records are read
  std::string_view remedy;  ///< what a user does about a journal that cannot be continued
};

/// A record that is whole, but says what no run writes.
struct DamagedRecord {};

class Journal {
 public:
  using Json = nlohmann::json;
  using Access = RecordFile::Access;
  /// Takes in the result of a unit. Json::exception or DamagedRecord: no run of this version writes it.
  using Take = std::function<void(std::int64_t unit, const Json& result)>;
  using TakePlan = std::function<void(const Json& plan)>;

  /// Opens or makes the file and locks it: another process at work there is an Error. Nothing is read or changed.
  /// `shared`: for reading, beside others that only read.
  Journal(const JournalKind& kind, std::string path, Access access = Access::alone)
      : kind_(kind), path_(path), file_(std::move(path), access) {}

  bool is_new() const { return file_.is_new(); }
  /// Whether it may be a journal: it is empty, or begins with a record, whole or torn.
  bool is_journal() const { return file_.is_record_file(); }
  /// Whether nobody else has it open; for shared ones.
  bool is_alone() { return file_.is_alone(); }
  /// Reads what an earlier run left. Another kind of work, a version that is not read, or a wrong record is an Error.
  void read(const Take& take, const TakePlan& take_plan = {});

  /// Which work it is: a text that two runs must have in common for one to continue the other. Empty: none has begun.
  const std::string& work() const { return work_; }
  const std::optional<Json>& plan() const { return plan_; }
  /// Units that were found finished.
  std::size_t found() const { return found_.size(); }
  /// All results of the work were written.
  bool ended() const { return ended_; }

  /// Forgets everything, and begins this work.
  void begin(const std::string& work);
  void clear();
  /// The plan that the work began with, else the proposed one, which is recorded.
  const Json& agree(const Json& proposed);
  /// Return when the record will survive. Any thread may keep its own unit.
  void keep(std::int64_t unit, const Json& result);
  void end();

 private:
  void take_record(const Json& record, const Take& take, const TakePlan& take_plan);
  void take_head(const Json& record);

  JournalKind kind_;
  std::string path_, work_;
  std::optional<Json> plan_;
  std::set<std::int64_t> found_;
  bool ended_ = false;
  std::mutex mutex_;  // of the file
  RecordFile file_;
};

/// The first record of a journal, and those of its plan, of a unit and of its end.
nlohmann::json head_record(const JournalKind& kind, const std::string& work);
nlohmann::json plan_record(const nlohmann::json& plan);
nlohmann::json unit_record(std::int64_t unit, const nlohmann::json& result);
nlohmann::json end_record();

}  // namespace sheaf::queue

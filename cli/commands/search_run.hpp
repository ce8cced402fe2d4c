// A search with a folder for its results, in which it can be continued; shared by the commands that search.
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include <sheaf/report.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/profile.hpp>

#include "arguments.hpp"
#include "command_line.hpp"
#include "commands/lease.hpp"
#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/label_hint.hpp"
#include "data/split/group_splits.hpp"
#include "data/write/provenance.hpp"
#include "family/family.hpp"
#include "queue/ranks.hpp"
#include "tables.hpp"
#include "terminal.hpp"

namespace sheaf::cli {

class SearchRun {
 public:
  /// `what`: "search" or "study".
  explicit SearchRun(std::string what) : what_(std::move(what)) {}

  void declare(Arguments& arguments) {
    arguments.text(
        "output", "DIR", folder_,
        fmt::format("folder for the results, created if missing; an interrupted {} can be continued there", what_));
    arguments.writes_folder("--output");
    arguments.flag("resume", resume_, fmt::format("continue the {} in that folder", what_));
    arguments.flag("force", force_, fmt::format("start again, replacing the {} in that folder", what_));
    arguments.text("join", "DIR", join_,
                   fmt::format("in place of --output: share the {} with every other process, on this machine or on "
                               "others, that is given the same command and folder",
                               what_));
    arguments.writes_folder("--join");
    declare_lease(arguments, joining_.lease);
    arguments.add(
        {"--share", "models|rows",
         "of processes that mpirun or srun started: each trains models of its own, or all train the same models "
         "(linear, glm), each on a part of the rows, which may be more than the memory of one machine holds",
         "models", [this](const std::string& text) {
           constexpr std::array<std::string_view, 2> known{"models", "rows"};
           shares_rows_ = find_name("thing to share", text, known) == 1;
         }});
  }
  const std::string& folder() const { return join_.empty() ? folder_ : join_; }
  /// Another process speaks of the results.
  bool follows() const { return joining_.follows || follows_rows(); }

  /// To be called first: processes that mpirun or srun started together share the search.
  void launch(Common& common) {
    common_ = &common;
    ranks_ = queue::launched_ranks();
    if (shares_rows_)
      common.share_rows(ranks_);
    else
      common.share_machine(ranks_);
  }

  /// Flags that contradict each other are a UsageError. `needed`: there must be a folder; if none is named, it is
  /// called after the dataset, with a number if there is one already.
  void check(bool needed, const std::string& input) {
    if (!join_.empty()) {
      if (!folder_.empty() || resume_ || force_)
        fail_usage("--join names the folder and goes on with what is in it: leave out {}", !folder_.empty() ? "--output"
                                                                                           : resume_        ? "--resume"
                                                                                                     : "--force");
      folder_ = join_;
    }
    if (shares_rows_ && !join_.empty()) fail_usage("--join shares models, not rows: leave out --share rows");
    if (ranks_.several() && !shares_rows_) share_folder();
    if (folder_.empty() && (resume_ || force_))
      fail_usage("{} needs --output DIR, the folder of the {}", resume_ ? "--resume" : "--force", what_);
    if (resume_ && force_) fail_usage("--resume continues and --force starts again: give one of them");
    if (!folder_.empty() && input == "-")
      fail_usage("a {} with --output must read a file, not standard input, so that it can be continued", what_);
    if (!folder_.empty() && is_read_once(input))
      fail_usage("{}: is a pipe or a device; a {} with --output must read a file, so that it can be continued", input,
                 what_);
    if (!needed || !folder_.empty() || follows_rows()) return;
    if (input == "-" || is_read_once(input)) fail_usage("--output DIR is missing: the folder for the results");
    folder_ = free_folder(input);
  }

  /// Opens the folder, so that it can be refused before any work, and reads.
  template <class T>
  Dataset<T> read(const Common& common, const Context& context, const std::string& input, const ReadOptions& reading) {
    directory_.reset();
    if (!folder_.empty() && !follows_rows()) {
      const auto existing = !join_.empty() ? Existing::join
                            : resume_      ? Existing::resume
                            : force_       ? Existing::replace
                                           : Existing::refuse;
      directory_ = std::make_unique<SearchDirectory>(folder_, existing, joining_);
      if (join_.empty() && !shows_progress_) common_->show_progress_in(folder_);
      shows_progress_ = true;
    }
    return read_table<T>(common, context, input, reading);
  }

  template <class T>
  SearchResult search(const Context& reader, const Common& common, const Dataset<T>& dataset, SearchSpace space,
                      SearchOptions options, const std::string& input, const ReadOptions& reading) {
    check_groups(options, reading);
    decide(dataset, space, options);
    const auto made = find_provenance(input);
    if (made && !common.quiet()) warn({warning_of(*made, input)});
    const auto then = directory_ ? directory_->device() : std::nullopt;
    const auto context =
        then ? common.on_device(reader, *then) : common.on_device(reader, search_work(dataset, space, options));
    const auto find = [&](SearchLog* log) {
      auto result =
          hint_at_regression(dataset.target, [&] { return sheaf::search(context, dataset, space, options, log); });
      if (made) result.notes.insert(result.notes.begin(), warning_of(*made, input));
      return result;
    };
    if (!directory_) return find(nullptr);
    const auto precision = sizeof(T) == sizeof(float) ? Precision::float32 : Precision::float64;
    directory_->begin({command_line(), input, reading, space, options, context.device(), precision, context.seed()});
    if (directory_->finished() > 0 && !common.quiet())
      say(fmt::format("{}: {} batches were finished before", folder_, directory_->finished()));
    const auto columns = std::ssize(dataset.target.class_names) + dataset.target.targets();
    directory_->check_room(dataset.features() * columns);
    auto result = find(&directory_->log());
    if (result.published_elsewhere) {
      if (!common.quiet())
        say(fmt::format("{}: the {} is finished; another process wrote the results", folder_, what_));
      return result;
    }
    write_results(*directory_, result);
    return result;
  }

  /// Leaves out the notes that were printed when the dataset was read.
  template <class T>
  static void drop_printed(const Dataset<T>& dataset, std::vector<std::string>& notes) {
    std::erase_if(notes, [&](const auto& note) {
      return std::find(dataset.notes.begin(), dataset.notes.end(), note) != dataset.notes.end();
    });
  }

 private:
  /// Another process of those that share rows keeps the search.
  bool follows_rows() const { return shares_rows_ && ranks_.rank > 0; }

  /// The processes of mpirun or srun go on with what is in the folder: none knows whether another one has begun.
  void share_folder() {
    if (force_) fail_usage("--force is for one process; remove the folder of the {} first", what_);
    if (folder_.empty())
      fail_usage("{} processes were started together, and share a {} through its folder: give --output DIR",
                 ranks_.count, what_);
    join_ = folder_;
    resume_ = false;
    joining_.follows = ranks_.rank > 0;
  }

  /// "trial-search" for "data/trial.csv.gz", in the current folder; then "trial-search-2" and so on.
  std::string free_folder(const std::string& input) const {
    namespace fs = std::filesystem;
    const auto name = fs::path(input).filename().string();
    const auto stem = name.substr(0, name.find('.', 1)) + "-" + what_;
    auto folder = stem;
    for (int k = 2; fs::exists(folder); ++k) folder = fmt::format("{}-{}", stem, k);
    return folder;
  }

  /// Groups that were named are kept together, or the split is refused.
  static void check_groups(const SearchOptions& options, const ReadOptions& reading) {
    const auto check = [&](const std::optional<SplitKind>& kind, std::string_view flag) {
      if (reading.group.empty() || reading.group == "none" || !kind || keeps_groups(*kind)) return;
      fail_usage(
          "--{} {} would put rows of one group on both sides of a split, and --group {} says that they belong "
          "together; "
          "take stratified-group, group or group-shuffle, or give --ignore {} in place of --group",
          flag, to_string(*kind), reading.group, reading.group);
    };
    check(options.split, "split");
    check(options.outer_split, "outer-split");
  }

  std::string what_;
  Common* common_ = nullptr;
  bool shows_progress_ = false;

  std::string folder_, join_;
  Joining joining_;
  queue::Ranks ranks_;
  bool shares_rows_ = false;
  bool resume_ = false;
  bool force_ = false;
  std::unique_ptr<SearchDirectory> directory_;
};

}  // namespace sheaf::cli

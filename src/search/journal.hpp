// What a search has finished, on disk: one line for each record, appended and synchronised before the next begins. A
// line is 16 hexadecimal digits that check the rest of it, a blank, and JSON; the first one that is torn or damaged
// ends the journal, and is cut off.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <sheaf/search.hpp>

namespace sheaf::search {

class Journal : public SearchLog {
 public:
  /// Opens or makes the file and locks it: another search in the same place is an Error.
  explicit Journal(std::string path);
  ~Journal() override;

  bool empty() const { return !planned_ && batches_.empty(); }
  /// Batches that were found finished.
  std::size_t found() const { return found_; }
  /// Forgets everything.
  void clear();

  BatchPlan agree(const BatchPlan& proposed) override;
  const std::vector<ModelScores>* recall(std::int32_t batch) override;
  void keep(std::int32_t batch, const std::vector<ModelScores>& models) override;

 private:
  void load();
  bool take(std::string_view line);
  void append(const std::string& json);

  std::string path_;
  int descriptor_ = -1;
  bool planned_ = false;
  BatchPlan plan_;
  std::map<std::int32_t, std::vector<ModelScores>> batches_;
  std::size_t found_ = 0;
};

}  // namespace sheaf::search

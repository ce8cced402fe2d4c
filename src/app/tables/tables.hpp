// Pages of tables, for which the latest indexes are kept.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "app/tables/line_index.hpp"

namespace sheaf::app {

class Tables {
 public:
  /// That of the file as it is now.
  std::shared_ptr<LineIndex> index_of(const std::string& path);

 private:
  std::mutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<LineIndex>>> latest_;
};

}  // namespace sheaf::app

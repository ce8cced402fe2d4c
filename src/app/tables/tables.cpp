#include "app/tables/tables.hpp"

namespace sheaf::app {

std::shared_ptr<LineIndex> Tables::index_of(const std::string& path) {
  constexpr std::size_t most = 16;
  const std::lock_guard lock(mutex_);
  const auto facts = facts_of(path);
  for (auto one = latest_.begin(); one != latest_.end(); ++one) {
    if (one->first != path) continue;
    if (one->second->facts() != facts) {
      latest_.erase(one);
      break;
    }
    latest_.splice(latest_.begin(), latest_, one);
    return latest_.front().second;
  }
  latest_.emplace_front(path, std::make_shared<LineIndex>(path));
  if (latest_.size() > most) latest_.pop_back();
  return latest_.front().second;
}

}  // namespace sheaf::app

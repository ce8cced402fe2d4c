// A file that is of use only while the process runs.
#pragma once

#include <string>

namespace sheaf {

/// The destructor removes the file of that name, and so does remove_temporaries() (core/temporary.hpp), if the process
/// ends without destructors.
class RemovedName {
 public:
  explicit RemovedName(const std::string& path);
  RemovedName(const RemovedName&) = delete;
  RemovedName& operator=(const RemovedName&) = delete;
  ~RemovedName();

 private:
  int slot_;
};

}  // namespace sheaf

#include "app/runs/locks.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace sheaf::app {

// A line: "1: FLOCK  ADVISORY  WRITE 1234 08:01:131140 0 EOF"; waiting ones have "->" behind the number. Devices are
// left out: file systems made of others show another one here than in stat().
std::map<std::uint64_t, pid_t> locked_inodes() {
  std::map<std::uint64_t, pid_t> inodes;
  std::ifstream file("/proc/locks");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, where;
    pid_t pid = 0;
    if (!(words >> number >> kind >> mode >> access >> pid >> where) || kind != "FLOCK") continue;
    std::istringstream inode(where.substr(where.rfind(':') + 1));
    if (std::uint64_t found = 0; inode >> found) inodes[found] = pid;
  }
  return inodes;
}

}  // namespace sheaf::app

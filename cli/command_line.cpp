#include "command_line.hpp"

#include <fstream>
#include <iterator>

namespace sheaf::cli {

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string line;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::string word = text.substr(begin, text.find('\0', begin) - begin);
    const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$&|;<>()*?#`") == std::string::npos;
    line += (line.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
    begin += word.size() + 1;
  }
  return line;
}

}  // namespace sheaf::cli

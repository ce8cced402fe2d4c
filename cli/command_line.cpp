#include "command_line.hpp"

#include <fstream>
#include <sstream>

#include "core/text.hpp"

namespace sheaf::cli {

std::string command_line() {
  std::ostringstream words;
  words << std::ifstream("/proc/self/cmdline", std::ios::binary).rdbuf();  // empty if it can't be read
  const auto text = words.str();
  std::string line;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::string word = text.substr(begin, text.find('\0', begin) - begin);
    line += (line.empty() ? "" : " ") + shell_word(word);
    begin += word.size() + 1;
  }
  return line;
}

}  // namespace sheaf::cli

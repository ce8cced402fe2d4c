#include "command_line.hpp"

#include "core/files/small_file.hpp"
#include "core/text.hpp"

namespace sheaf::cli {

std::string command_line() {
  const auto text = small_file("/proc/self/cmdline").value_or("");
  std::string line;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::string word = text.substr(begin, text.find('\0', begin) - begin);
    line += (line.empty() ? "" : " ") + shell_word(word);
    begin += word.size() + 1;
  }
  return line;
}

}  // namespace sheaf::cli

// The system's C++ compiler makes a shared object of a snippet.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fail.hpp"
#include "core/files/small_file.hpp"
#include "core/temporary.hpp"
#include "snippets/compile.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to programs

namespace sheaf::snippets {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with its owner.
class Workplace {
 public:
  Workplace() {
    auto name = (fs::temp_directory_path() / "sheaf-snippet-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) fail("{}: the folder can't be made: {}", name, std::strerror(errno));
    folder_ = name;
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  std::string prefix() const { return folder_.string() + "/"; }

 private:
  fs::path folder_;
};

void write_text(const std::string& path, std::string_view text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) fail("{}: can't be written", path);
}

/// Runs a program in its place, its messages going to a file; the exit status.
int run(const std::vector<std::string>& command, const std::string& messages) {
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT: POSIX asks for it
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int refused = posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (refused != 0)
    fail(
        "snippets on the CPU need a C++ compiler, and '{}' can't be run ({}); install one (package g++), or name it in "
        "the environment variable CXX",
        command[0], std::strerror(refused));
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Compilers quote lines of the files that #line names: they lie in the workplace, whose path is left out.
void write_quoted_files(const Workplace& place, const SnippetSource& source) {
  std::string text = source.host;
  for (const auto& [name, quoted] : source.quoted) {
    write_text(place.at(name), quoted);
    const auto line = fmt::format("#line 1 \"{}\"", name);
    const auto full = fmt::format("#line 1 \"{}\"", place.at(name));
    for (auto at = text.find(line); at != std::string::npos; at = text.find(line, at + full.size()))
      text.replace(at, line.size(), full);
  }
  write_text(place.at("source.cpp"), text);
}

/// From the first line that names a place in the user's text, without our folder.
std::string readable(std::string messages, const Workplace& place) {
  const auto prefix = place.prefix();
  for (auto at = messages.find(prefix); at != std::string::npos; at = messages.find(prefix, at))
    messages.erase(at, prefix.size());
  std::istringstream lines(messages);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const bool context = line.find(": In ") != std::string::npos || line.starts_with("In file included");
    if (!context) result += (result.empty() ? "" : "\n") + line;
  }
  return result;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// The compiler and its first arguments.
std::string host_compiler() {
  const char* named = std::getenv("CXX");
  return named != nullptr && *named != '\0' ? named : "c++";
}

}  // namespace

HostCode compile_for_host(const SnippetSource& source) {
  const auto compiler = host_compiler();
  const auto kept = cache_path(source.cache_folder, cache_name(source.host, compiler) + ".so");
  if (!kept.empty() && fs::exists(kept)) return {kept, false};
  const Workplace place;
  write_quoted_files(place, source);
  const auto target =
      kept.empty() ? (fs::temp_directory_path() / fs::path(place.prefix()).parent_path().filename()).string() + ".so"
                   : kept;
  TemporaryFile object(target);
  auto command = words_of(compiler);
  for (const char* option : {"-std=c++20", "-O3", "-fno-math-errno", "-w", "-fPIC", "-shared", "-o"})
    command.emplace_back(option);
  command.push_back(object.path());
  command.push_back(place.at("source.cpp"));
  const auto messages = place.at("messages");
  if (run(command, messages) != 0)
    fail_usage("the snippet does not compile for the CPU ({}):\n{}", compiler,
               readable(small_file(messages).value_or(""), place));
  object.publish();
  return {target, kept.empty()};
}

}  // namespace sheaf::snippets

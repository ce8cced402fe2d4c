// The program: finds the command, lets it work, and turns every way out into an exit code and one clear line.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <typeinfo>
#include <vector>

#include <cxxabi.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <sheaf/version.hpp>

#include "command.hpp"
#include "core/fail.hpp"
#include "core/temporary.hpp"
#include "files.hpp"
#include "help.hpp"
#include "queue/team.hpp"
#include "signals.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

enum ExitCode : int { done = 0, wrong_input = 1, wrong_command_line = 2, own_failure = 3 };

int complain(std::string message, ExitCode code) {
  queue::let_first_speak();
  std::replace(message.begin(), message.end(), '\n', ' ');
  say(fmt::format("sheaf: error: {}", message));
  return code;
}

/// Says so without memory.
int complain_of_memory() noexcept {
  write_message(
      "sheaf: error: out of memory; the data and the work are too large for this machine, or for the limit that the "
      "process has (ulimit -v); give a smaller --memory, fewer --threads or fewer rows\n");
  return wrong_input;
}

/// Destructors of libraries may allocate, and one that cannot ends the process: it ends with a word, too.
[[noreturn]] void terminate() noexcept {
  remove_temporaries();
  const auto* type = abi::__cxa_current_exception_type();
  if (type != nullptr && *type == typeid(std::bad_alloc)) std::_Exit(complain_of_memory());
  write_message("sheaf: error: a bug in Sheaf, please report it: ended by an exception that nobody catches\n");
  std::abort();
}

void run_command(const std::vector<std::string>& words) {
  const auto& command = find_command(words[0]);
  Arguments arguments;
  const auto work = command.declare(arguments);
  arguments.parse(std::span(words).subspan(1));
  if (arguments.help_wanted()) return print(help(command, arguments));
  check_files(arguments.files());
  work();
}

void dispatch(const std::vector<std::string>& words) {
  const std::string first = words.empty() ? "" : words[0];
  if (first.empty()) fail_usage("no command given");
  if (first == "--help" || first == "-h") return print(overview());
  if (first == "--version") return print(fmt::format("sheaf {}\n", SHEAF_VERSION));
  if (first == "--manual") return print(manual());
  if (first == "--man") return print(man_page());
  if (first == "--completions") return print(completions(words.size() > 1 ? words[1] : ""));
  if (first != "help") return run_command(words);
  if (words.size() == 1) return print(overview());
  std::vector<std::string> asked{words.begin() + 1, words.end()};  // help COMMAND TOPIC
  asked.insert(asked.begin() + 1, "--help");
  run_command(asked);
}

std::string where_to_look(const std::vector<std::string>& words) {
  for (const auto& command : commands())
    if (!words.empty() && words[0] == command.name) return fmt::format("sheaf {} --help", command.name);
  return "sheaf --help";
}

int run_reporting(const std::vector<std::string>& words) {
  try {
    dispatch(words);
    return done;
  } catch (const Stopped&) {
    say("sheaf: stopped; no file was left half written");
    return end_as_signalled();
  } catch (const UsageError& error) {
    return complain(fmt::format("{} (see {})", error.what(), where_to_look(words)), wrong_command_line);
  } catch (const Error& error) {
    return complain(error.what(), wrong_input);
  } catch (const std::bad_alloc&) {
    return complain_of_memory();
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again)
      return complain(fmt::format("a bug in Sheaf, please report it: {}", error.what()), own_failure);
    return complain(
        "the system starts no more threads; give fewer --threads, or raise the limit of processes (ulimit -u)",
        wrong_input);
  } catch (const std::exception& error) {
    return complain(fmt::format("a bug in Sheaf, please report it: {}", error.what()), own_failure);
  }
}

/// OpenBLAS starts threads before main(). One that finds no room for its buffer tries for ever, and exit() waits for
/// it; so a process whose address space is limited ends without.
void leave_if_limited(int code) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  std::fflush(nullptr);
  std::_Exit(code);
}

/// A message that does not fit in memory is replaced by a short one.
int run(int argc, char** argv) {
  std::set_terminate(terminate);
  try {
    handle_signals();
    return run_reporting(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::bad_alloc&) {
    return complain_of_memory();
  } catch (const std::exception& error) {
    write_message("sheaf: error: a bug in Sheaf, please report it: ");
    write_message(error.what());
    write_message("\n");
    return own_failure;
  }
}

}  // namespace
}  // namespace sheaf::cli

int main(int argc, char** argv) {
  sheaf::cli::open_standard_streams();
  const int code = sheaf::cli::run(argc, argv);
  sheaf::queue::leave_team(code);
  sheaf::cli::leave_if_limited(code);
  return code;
}

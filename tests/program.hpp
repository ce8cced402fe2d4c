// Runs the real program, in a folder of its own that vanishes with the test.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

namespace sheaf::test {

struct Outcome {
  int code = -1;  // of the shell: 128 + the signal if one ended the program
  std::string out, err;
};

class ProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("sheaf-" + std::string(info->name()) + "-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_ / "work");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// `line` is a shell command; "sheaf" in it is the program under test, whose path is $program. The working folder is
  /// empty at first.
  Outcome shell(const std::string& line) const {
    const auto folder = folder_.string();
    const auto script = "cd '" + folder +
                        "/work' && program='" SHEAF_PROGRAM "'; sheaf() { \"$program\" \"$@\"; }; { " + line +
                        "\n} >'" + folder + "/out' 2>'" + folder + "/err'";
    const int status = std::system(("bash -c \"$(cat <<'SCRIPT'\n" + script + "\nSCRIPT\n)\"").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text(folder_ / "out"),
            text(folder_ / "err")};
  }

  /// Whether the program ended with `code` and, behind notes about the data, one line that begins "sheaf: error: " and
  /// holds all of `parts`.
  static testing::AssertionResult complains(const Outcome& outcome, int code, const std::vector<std::string>& parts) {
    auto error = outcome.err;
    while (error.starts_with("sheaf: note: ")) error.erase(0, error.find('\n') + 1);  // about the data, read before
    if (error.starts_with("device: ")) error.erase(0, error.find('\n') + 1);          // the work had begun
    const auto lines = std::count(error.begin(), error.end(), '\n');
    bool good = outcome.code == code && lines == 1 && error.starts_with("sheaf: error: ") && outcome.out.empty();
    for (const auto& part : parts) good = good && error.find(part) != std::string::npos;
    if (good) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "code " << outcome.code << "\nout: " << outcome.out
                                       << "\nerr: " << outcome.err;
  }

  /// `command` ends with the name of its folder, which is put behind it. Kills it when the journal there has so many
  /// records, lets it go on with one thread, and compares `parts` of the folder with those of an undisturbed run in
  /// "whole". Returns the program's output after resuming.
  Outcome kill_and_resume(const std::string& command, const std::string& records,
                          const std::vector<std::string>& parts) const {
    const std::string name = "killed" + records;
    const auto killed = shell("\"$program\"" + command.substr(std::string("sheaf").size()) + name +
                              " & victim=$!\n"
                              "until [ -e " +
                              name + "/journal.txt ] && [ $(wc -l <" + name + "/journal.txt) -ge " + records +
                              " ]; do sleep 0.002; done\n"
                              "kill -9 $victim; wait $victim");
    EXPECT_EQ(killed.code, 137) << killed.err;
    EXPECT_FALSE(exists(name + "/results.json")) << "it was killed in the middle";
    auto resumed = shell(command + name + " --resume --threads 1");
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    for (const auto& part : parts)
      EXPECT_TRUE(file(name + part) == file("whole" + part)) << part << " after " << records << " records";
    return resumed;
  }

  std::filesystem::path path(const std::string& name) const { return folder_ / "work" / name; }
  std::string file(const std::string& name) const { return text(folder_ / "work" / name); }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / "work" / name); }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / "work" / name, std::ios::binary) << content;
  }
  /// Names in the working folder, in alphabetical order.
  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "work"))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  static std::string text(const std::filesystem::path& path) {
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    return content.str();
  }
  std::filesystem::path folder_;
};

}  // namespace sheaf::test

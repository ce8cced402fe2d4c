// Fuzzing without libFuzzer, under whatever compiler and sanitizer the tests are built with: the files of a target's
// corpus, and so many seeded mutations of them.
//   fuzz_replay CORPORA [--mutations N] [--seed N] [TARGET...]      all targets, each on the files of CORPORA/TARGET
//   fuzz_replay --input TARGET FILE                                 one input, which a fuzzer has found
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include "core/random.hpp"
#include "fuzz/targets.hpp"

namespace {

using sheaf::Random;
using sheaf::fuzz::Target;

/// The input at work, kept for the case that it ends the process.
std::string current;
const Target* current_target = nullptr;

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> corpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const auto& path : paths) inputs.push_back(contents(path));
  return inputs;
}

void run(const Target& target, std::string input) {
  current = std::move(input);
  current_target = &target;
  target.check(current);
}

std::size_t place(Random& random, const std::string& text) { return random.below(text.size() + 1); }

/// Values at which programs err.
std::string number(Random& random) {
  static const std::vector<std::string> odd{"0",
                                            "-1",
                                            "1",
                                            "nan",
                                            "inf",
                                            "-inf",
                                            "1e308",
                                            "-1e308",
                                            "5e-324",
                                            "1e19",
                                            "65536",
                                            "2147483647",
                                            "2147483648",
                                            "4294967296",
                                            "9223372036854775807",
                                            "18446744073709551616",
                                            "0.5",
                                            "-0"};
  return odd[random.below(odd.size())];
}

/// A number in the text becomes another one.
void change_number(Random& random, std::string& text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto from = text.begin() + static_cast<std::ptrdiff_t>(place(random, text));
  const auto begin = std::find_if(from, text.end(), is_digit);
  const auto end = std::find_if_not(begin, text.end(), [&](char c) { return is_digit(c) || c == '.' || c == 'e'; });
  const auto value = number(random);
  text.replace(begin, end, value);
}

/// A line is repeated, removed, or comes from another input.
void change_line(Random& random, std::string& text, const std::string& other) {
  const auto at = text.rfind('\n', place(random, text));
  const auto begin = at == std::string::npos ? 0 : at + 1;
  const auto end = std::min(text.find('\n', begin), text.size() - 1) + 1;
  const auto line = text.substr(begin, end - begin);
  switch (random.below(3)) {
    case 0:
      text.erase(begin, line.size());
      break;
    case 1:
      text.insert(begin, line);
      break;
    default: {
      const auto from = other.rfind('\n', place(random, other));
      const auto first = from == std::string::npos ? 0 : from + 1;
      text.insert(begin, other.substr(first, other.find('\n', first) - first) + "\n");
    }
  }
}

std::string mutated(Random& random, const std::vector<std::string>& inputs) {
  auto text = inputs[random.below(inputs.size())];
  const auto& other = inputs[random.below(inputs.size())];
  for (auto changes = 1 + random.below(4); changes > 0; --changes) {
    const auto at = place(random, text);
    switch (random.below(text.empty() ? 1 : 7)) {
      case 0:
        text.insert(at, 1 + random.below(3), static_cast<char>(random.below(256)));
        break;
      case 1:
        text[std::min(at, text.size() - 1)] = static_cast<char>(random.below(256));
        break;
      case 2:
        text.erase(at, 1 + random.below(20));
        break;
      case 3:
        text.resize(at);
        break;
      case 4:
        change_line(random, text, other);
        break;
      default:
        change_number(random, text);
    }
  }
  return text;
}

/// Keeps the input that ended the process.
extern "C" void keep_input(int signal) {
  const char* path = std::getenv("SHEAF_FUZZ_FOUND");
  if (FILE* file = std::fopen(path == nullptr ? "fuzz-found" : path, "wb")) {
    std::fwrite(current.data(), 1, current.size(), file);
    std::fclose(file);
  }
  std::fprintf(stderr, "target %.*s: signal %d; the input is in %s\n", static_cast<int>(current_target->name.size()),
               current_target->name.data(), signal, path == nullptr ? "fuzz-found" : path);
  std::_Exit(1);
}

int replay(const std::string& corpora, std::int64_t mutations, std::uint64_t seed,
           const std::vector<std::string>& names) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL}) std::signal(signal, keep_input);
  std::int64_t count = 0;
  for (const Target& target : sheaf::fuzz::targets()) {
    if (!names.empty() && std::find(names.begin(), names.end(), target.name) == names.end()) continue;
    const auto inputs = corpus(std::filesystem::path(corpora) / target.name);
    if (inputs.empty()) {
      std::fprintf(stderr, "%s/%s is empty\n", corpora.c_str(), std::string(target.name).c_str());
      return 1;
    }
    for (const auto& input : inputs) run(target, input);
    Random random(seed, static_cast<std::uint64_t>(&target - sheaf::fuzz::targets().data()));
    for (std::int64_t k = 0; k < mutations; ++k) run(target, mutated(random, inputs));
    count += static_cast<std::int64_t>(inputs.size()) + mutations;
  }
  std::printf("%lld inputs, all checks hold\n", static_cast<long long>(count));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 3 && arguments[0] == "--input") {
    const auto* target = sheaf::fuzz::find_target(arguments[1]);
    if (target == nullptr) return 2;
    run(*target, contents(arguments[2]));
    return 0;
  }
  std::int64_t mutations = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> names;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--mutations" && i + 1 < arguments.size())
      mutations = std::atoll(arguments[++i].c_str());
    else if (arguments[i] == "--seed" && i + 1 < arguments.size())
      seed = std::strtoull(arguments[++i].c_str(), nullptr, 10);
    else
      names.push_back(arguments[i]);
  }
  return arguments.empty() ? 2 : replay(arguments[0], mutations, seed, names);
}

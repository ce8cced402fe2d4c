// Reading speed against the programs people read with today, in one run, on the same seeded files:
//   LIBSVM   LIBLINEAR's own way of reading (restated below, and the program liblinear-train if it is installed)
//   CSV      pandas.read_csv with its C engine (if /usr/bin/python3 has pandas)
// and whether the tables that were read are the same bit for bit. A missing peer is reported.
//
// All files stand in the page cache. Each reader is timed `repeats` times and its best time counts. Beside the time
// that passes stands the time of processors used: if others keep the machine busy (see the load), only that means much.

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>

#include <sheaf/io.hpp>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "peers/liblinear_reader.hpp"

namespace {

using sheaf::Context;
using sheaf::Dataset;

struct Options {
  std::string directory;
  std::int64_t libsvm_megabytes = 500;
  std::int64_t csv_megabytes = 300;
  std::vector<int> digits{6, 17};
  int threads = 2;
  int repeats = 3;
};

struct Time {
  double passed = std::numeric_limits<double>::infinity();
  double used = 0;  // by all threads, and by programs that were started
};

double used_by(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

double used_so_far() { return used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN); }

Time best_of(int repeats, const std::function<void()>& work) {
  Time best;
  for (int i = 0; i < repeats; ++i) {
    const double used = used_so_far();
    const auto start = std::chrono::steady_clock::now();
    work();
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (passed < best.passed) best = {passed, used_so_far() - used};
  }
  return best;
}

/// A directory of our own, removed with what it holds; or one that was given, of which only our files are removed.
class Workplace {
 public:
  explicit Workplace(const std::string& given) : own_(given.empty()), path_(given) {
    if (!own_) return;
    std::string name = (std::filesystem::temp_directory_path() / "sheaf-readers-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) sheaf::fail("{}: cannot be made: {}", name, std::strerror(errno));
    path_ = name;
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace() {
    std::error_code ignored;
    if (own_) std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  bool own_;
  std::filesystem::path path_;
};

void append(std::string& out, double value, int digits) {
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits);
  out.append(text.data(), static_cast<std::size_t>(end.ptr - text.data()));
}

/// Writes rows until the file has the size; `row` appends one.
void make_file(const std::string& path, std::int64_t megabytes, const std::string& header,
               const std::function<void(std::string&, sheaf::Random&)>& row) {
  std::ofstream file(path, std::ios::binary);
  sheaf::Random random(20240601);
  std::string text = header;
  for (std::int64_t left = megabytes * 1'000'000; left > 0;) {
    while (text.size() < (1U << 20)) row(text, random);
    file << text;
    left -= static_cast<std::int64_t>(text.size());
    text.clear();
  }
  if (!file.flush()) sheaf::fail("{}: cannot be written", path);
}

/// About 80 entries a row among 60,000 features, like text; half of the values negative.
void libsvm_row(std::string& out, sheaf::Random& random, int digits) {
  out += random.below(2) == 0 ? "-1" : "+1";
  for (std::uint64_t index = 1 + random.below(1500); index <= 60'000; index += 1 + random.below(1500)) {
    out += ' ';
    out += std::to_string(index);
    out += ':';
    append(out, random.uniform(-1, 1), digits);
  }
  out += '\n';
}

constexpr int csv_features = 50;

void csv_row(std::string& out, sheaf::Random& random, int digits) {
  for (int j = 0; j < csv_features; ++j) {
    append(out, random.uniform(-10, 10), digits);
    out += ',';
  }
  out += random.below(2) == 0 ? "0\n" : "1\n";
}

std::string csv_header() {
  std::string header;
  for (int j = 0; j < csv_features; ++j) header += fmt::format("x{},", j);
  return header + "label\n";
}

std::string in_shell(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Output of a command; empty if it fails.
std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) output += buffer.data();
  return pclose(pipe) == 0 ? output : std::string();
}

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

bool same_matrix(const Dataset<double>& ours, const bench::Problem& theirs) {
  const auto& x = std::get<sheaf::SparseMatrix<double>>(ours.x);
  if (x.rows != theirs.rows || x.columns != theirs.columns) return false;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const bench::Node* node = theirs.x[static_cast<std::size_t>(i)];
    if (!same_bits(ours.target.values[static_cast<std::size_t>(i)], theirs.y[static_cast<std::size_t>(i)]))
      return false;
    for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k, ++node)
      if (node->index != x.indices[k] + 1 || !same_bits(node->value, x.values[k])) return false;
    if (node->index != -1) return false;
  }
  return true;
}

void report(const std::string& reader, Time time, double bytes) {
  fmt::print("  {:<42} {:8.3f} s  {:8.1f} MB/s   ({:.3f} s of processors)\n", reader, time.passed,
             bytes / time.passed / 1e6, time.used);
  std::fflush(stdout);
}

bool verdict(const std::string& peer, Time theirs, Time ours, double wanted) {
  const double ratio = theirs.passed / ours.passed;
  fmt::print("  {:<42} {:8.2f} x  (at least {} wanted: {}; {:.1f} x less of processors)\n", "ratio to " + peer, ratio,
             wanted, ratio >= wanted ? "reached" : "MISSED", theirs.used / ours.used);
  return ratio >= wanted;
}

/// The real program; none when it is not there. "-c 0" is refused right after the file was read, so that
/// nothing but reading is timed.
std::optional<Time> time_liblinear_program(const std::string& path, int repeats) {
  if (output_of("command -v liblinear-train").empty()) return std::nullopt;
  const std::string command = "liblinear-train -c 0 " + in_shell(path) + " /dev/null 2>&1 || true";
  if (output_of(command).find("C <= 0") == std::string::npos) return std::nullopt;
  return best_of(repeats, [&] { output_of(command); });
}

bool compare_libsvm(const Context& context, const Workplace& place, const Options& options, int digits) {
  const std::string path = place.file(fmt::format("readers-{}.libsvm", digits));
  make_file(path, options.libsvm_megabytes, "",
            [&](std::string& out, sheaf::Random& random) { libsvm_row(out, random, digits); });
  const auto bytes = static_cast<double>(std::filesystem::file_size(path));
  fmt::print("LIBSVM, {:.0f} MB, values of {} digits, {} threads\n", bytes / 1e6, digits, options.threads);
  sheaf::ReadOptions read;
  read.storage = sheaf::Storage::sparse;
  Dataset<double> ours;
  const Time our_time = best_of(options.repeats, [&] {
    ours = {};
    ours = sheaf::read_dataset<double>(context, path, read);
  });
  report("sheaf", our_time, bytes);
  bench::Problem theirs;
  const Time restated = best_of(options.repeats, [&] {
    theirs = {};
    theirs = bench::read_like_liblinear(path);
  });
  report("LIBLINEAR's way, restated", restated, bytes);
  const bool same = same_matrix(ours, theirs);
  theirs = {};
  const auto program = time_liblinear_program(path, options.repeats);
  if (program)
    report("liblinear-train", *program, bytes);
  else
    fmt::print("  {:<42} is not installed\n", "liblinear-train");
  bool reached = verdict("LIBLINEAR's way, restated", restated, our_time, 8);
  if (program) reached &= verdict("liblinear-train", *program, our_time, 8);
  fmt::print("  {:<42} {}\n\n", "same matrix, bit for bit", same ? "yes" : "NO");
  std::filesystem::remove(path);
  return same && reached;
}

/// Times read_csv, then writes the first rows, parsed exactly, as raw doubles.
constexpr const char* pandas_script = R"(
import sys, time
import pandas
path, raw, repeats, rows = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
best = (float("inf"), 0)
for _ in range(repeats):
    used, start = time.process_time(), time.perf_counter()
    table = pandas.read_csv(path, engine="c")
    best = min(best, (time.perf_counter() - start, time.process_time() - used))
shape = table.shape
del table
pandas.read_csv(path, engine="c", float_precision="round_trip", nrows=rows).to_numpy(dtype="float64").tofile(raw)
print(*best, *shape)
)";

bool same_values(const Dataset<double>& ours, const std::string& raw, std::int64_t rows) {
  const auto& x = std::get<sheaf::DenseMatrix<double>>(ours.x);
  std::ifstream file(raw, std::ios::binary);
  std::vector<double> theirs(static_cast<std::size_t>(x.columns + 1));
  for (std::int64_t i = 0; i < rows; ++i) {
    if (!file.read(reinterpret_cast<char*>(theirs.data()),
                   static_cast<std::streamsize>(theirs.size() * sizeof(double))))
      return false;
    for (std::int64_t j = 0; j < x.columns; ++j)
      if (!same_bits(theirs[static_cast<std::size_t>(j)], x.values[i * x.columns + j])) return false;
    if (!same_bits(theirs.back(), ours.target.values[static_cast<std::size_t>(i)])) return false;
  }
  return true;
}

bool compare_csv(const Context& context, const Workplace& place, const Options& options, int digits) {
  const std::string path = place.file(fmt::format("readers-{}.csv", digits));
  make_file(path, options.csv_megabytes, csv_header(),
            [&](std::string& out, sheaf::Random& random) { csv_row(out, random, digits); });
  const auto bytes = static_cast<double>(std::filesystem::file_size(path));
  fmt::print("CSV, {:.0f} MB, values of {} digits, {} threads\n", bytes / 1e6, digits, options.threads);
  Dataset<double> ours;
  const Time our_time = best_of(options.repeats, [&] {
    ours = {};
    ours = sheaf::read_dataset<double>(context, path);
  });
  report("sheaf", our_time, bytes);
  const std::string raw = place.file("pandas.raw");
  const std::int64_t rows = std::min<std::int64_t>(ours.rows(), 100'000);
  const std::string answer =
      output_of(fmt::format("/usr/bin/python3 -c {} {} {} {} {} 2>/dev/null", in_shell(pandas_script), in_shell(path),
                            in_shell(raw), options.repeats, rows));
  std::filesystem::remove(path);
  Time theirs;
  long long their_rows = 0;
  long long their_columns = 0;
  if (std::sscanf(answer.c_str(), "%lf %lf %lld %lld", &theirs.passed, &theirs.used, &their_rows, &their_columns) !=
      4) {
    fmt::print("  {:<42} is not installed for /usr/bin/python3\n\n", "pandas");
    return true;
  }
  report("pandas.read_csv", theirs, bytes);
  const bool reached = verdict("pandas.read_csv", theirs, our_time, 5);
  const bool same = their_rows == ours.rows() && their_columns == ours.features() + 1 && same_values(ours, raw, rows);
  std::filesystem::remove(raw);
  fmt::print("  {:<42} {}\n\n", fmt::format("same values in the first {} rows", rows), same ? "yes" : "NO");
  return same && reached;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("How fast tables are read, against LIBLINEAR and pandas");
  app.add_option("--directory", options.directory, "where the files are made (default: a temporary directory)");
  app.add_option("--libsvm-megabytes", options.libsvm_megabytes, "size of the LIBSVM file; 0: leave out")
      ->capture_default_str();
  app.add_option("--csv-megabytes", options.csv_megabytes, "size of the CSV file; 0: leave out")->capture_default_str();
  app.add_option("--digits", options.digits, "significant digits of the values")->capture_default_str();
  app.add_option("--threads", options.threads)->capture_default_str();
  app.add_option("--repeats", options.repeats, "the best of so many counts")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    Context::Options surroundings;
    surroundings.threads = options.threads;
    const Context context(surroundings);
    const Workplace place(options.directory);
    double load = 0;
    if (getloadavg(&load, 1) == 1) fmt::print("load before: {:.1f}\n\n", load);
    bool reached = true;
    for (const int digits : options.digits) {
      if (options.libsvm_megabytes > 0) reached &= compare_libsvm(context, place, options, digits);
      if (options.csv_megabytes > 0) reached &= compare_csv(context, place, options, digits);
    }
    return reached ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_readers: {}\n", error.what());
    return 1;
  }
}

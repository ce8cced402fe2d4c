// Distance matrices in files: the same bytes whichever devices take part, and after any interruption.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sheaf/neighbors.hpp>

#include "core/hash/sha256.hpp"
#include "core/random.hpp"
#include "devices.hpp"
#include "golden.hpp"
#include "neighbors_reference.hpp"

namespace sheaf {
namespace distance_files_test {

namespace fs = std::filesystem;
using test::Rows;

Rows normal_rows(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Random random(seed);
  Rows table(rows, std::vector<double>(columns));
  for (auto& row : table)
    for (auto& value : row) value = random.normal();
  return table;
}

Dataset<double> dataset_of(const Rows& table) {
  Dataset<double> dataset;
  dataset.x = test::dense_of<double>(table, std::ssize(table.front()));
  dataset.source = "table";
  return dataset;
}

/// Requests a stop when so many rows are done, on whichever thread.
class StopAfter final : public Progress {
 public:
  explicit StopAfter(std::int64_t rows) : Progress(Hears::on_any_thread), left_(rows) {}
  std::stop_token token() const { return source_.get_token(); }

 protected:
  void on_advance(std::int64_t by) override {
    if ((left_ -= by) <= 0) source_.request_stop();
  }

 private:
  std::atomic<std::int64_t> left_;
  std::stop_source source_;
};

class DistanceFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("sheaf-distance-files-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void replace(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  /// Writes a matrix on one thread, and returns its bytes.
  std::string write_whole(const Dataset<double>& dataset, const DistanceOptions& distance, MatrixFileOptions options,
                          const Dataset<double>* queries = nullptr) const {
    options.extra_devices.clear();
    write_distances(test::with_threads(1), dataset, distance, path("whole.npy"), options, queries);
    return test::contents(path("whole.npy"));
  }
  /// Begins d.npy with three devices and ends early.
  void write_some(const Dataset<double>& dataset, const DistanceOptions& distance, MatrixFileOptions options) const {
    options.extra_devices = {Device::cpu(), Device::cpu()};
    StopAfter progress(dataset.rows() / 4);
    const auto context = test::with_threads(2).with({.progress = &progress, .stop = progress.token()});
    EXPECT_THROW(write_distances(context, dataset, distance, path("d.npy"), options), Stopped);
    EXPECT_EQ(listing(), (std::vector<std::string>{"d.npy.partial", "d.npy.settings", "whole.npy"}));
  }

  fs::path folder_;
};

class DistanceFiles : public DistanceFile, public testing::WithParamInterface<DistanceType> {};

INSTANTIATE_TEST_SUITE_P(All, DistanceFiles, testing::ValuesIn([] {
                           std::vector<DistanceType> types;
                           for (const auto& function : distance_functions()) types.push_back(function.type);
                           return types;
                         }()),
                         [](const auto& of) { return std::string(to_string(of.param)); });

TEST_P(DistanceFiles, AreTheSameWhicheverDevicesShareTheWork) {
  const auto table = normal_rows(77, 11, 3);
  const auto other = normal_rows(30, 11, 4);
  const auto dataset = dataset_of(table);
  const auto others = dataset_of(other);
  DistanceOptions distance;
  distance.metric = GetParam();
  if (distance_function(distance.metric).has_weights)
    for (int j = 0; j < 11; ++j) distance.weights.push_back(0.25 * (j % 5));
  for (const auto* queries : {static_cast<const Dataset<double>*>(nullptr), &others})
    for (const bool upper : {false, true}) {
      if (upper && queries != nullptr) continue;
      MatrixFileOptions options;
      options.upper = upper;
      const auto wanted = write_whole(dataset, distance, options, queries);
      std::vector<double> values((wanted.size() - wanted.find('\n') - 1) / sizeof(double));
      std::memcpy(values.data(), wanted.data() + wanted.find('\n') + 1, values.size() * sizeof(double));
      std::size_t at = 0;
      const auto& from = queries == nullptr ? table : other;
      for (std::size_t i = 0; i < from.size(); ++i)
        for (std::size_t j = upper ? i + 1 : 0; j < table.size(); ++j, ++at)
          ASSERT_NEAR(values.at(at), test::plain_distance(distance, from[i], table[j]), 1e-11) << i << " " << j;
      EXPECT_EQ(at, values.size());
      for (const auto device : test::devices()) {
        options.extra_devices = {Device::cpu(), device, Device::cpu()};
        write_distances(test::with_threads(3).with({.device = device}), dataset, distance, path("d.npy"), options,
                        queries);
        EXPECT_TRUE(test::contents(path("d.npy")) == wanted) << to_string(device) << " " << upper;
      }
    }
  EXPECT_EQ(listing(), (std::vector<std::string>{"d.npy", "whole.npy"}));
}

using Json = nlohmann::json;

/// A record of the journal; null: another one than that of a block.
Json block_of(const std::string& line) {
  const auto record = Json::parse(line.substr(17));
  return record.contains("unit") ? record["result"] : Json();
}

/// The rows of the blocks in a journal.
std::vector<std::pair<std::int64_t, std::int64_t>> done_rows(const std::string& journal) {
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;
  std::istringstream lines(journal);
  for (std::string line; std::getline(lines, line);)
    if (const auto block = block_of(line); !block.is_null()) rows.emplace_back(block["rows"][0], block["rows"][1]);
  return rows;
}

/// The line of a block.
std::string line_of(const std::string& journal, std::pair<std::int64_t, std::int64_t> rows) {
  std::istringstream lines(journal);
  for (std::string line; std::getline(lines, line);)
    if (const auto block = block_of(line); !block.is_null() && block["rows"][0] == rows.first) return line + "\n";
  return {};
}

std::string record(const Json& json) { return sha256(json.dump()).substr(0, 16) + " " + json.dump() + "\n"; }

TEST_F(DistanceFile, EndedEarlyGoesOnWithTheRowsThatAreMissing) {
  const auto dataset = dataset_of(normal_rows(200, 9, 5));
  for (const bool upper : {false, true})
    for (const auto device : test::devices()) {
      MatrixFileOptions options;
      options.upper = upper;
      const auto wanted = write_whole(dataset, {}, options);
      const auto header = wanted.find('\n') + 1;
      write_some(dataset, {}, options);
      auto settings = test::contents(path("d.npy.settings"));
      auto partial = test::contents(path("d.npy.partial"));
      const auto done = done_rows(settings);
      ASSERT_GT(done.size(), 1U);
      const auto offset = [&](std::int64_t i) {
        return header + static_cast<std::size_t>(upper ? i * 200 - i * (i + 1) / 2 : i * 200) * sizeof(double);
      };
      for (const auto& [first, last] : done)
        EXPECT_TRUE(partial.substr(offset(first), offset(last) - offset(first)) ==
                    wanted.substr(offset(first), offset(last) - offset(first)));
      // Rows that are not listed, or whose bytes are not those that the line checks, are computed again; others stay as
      // they are.
      const auto rows_of = [&](std::pair<std::int64_t, std::int64_t> rows) {
        return std::pair{offset(rows.first), offset(rows.second) - offset(rows.first)};
      };
      const auto gone = line_of(settings, done.front());
      settings.erase(settings.find(gone), gone.size());
      const auto [gone_at, gone_bytes] = rows_of(done.front());
      std::fill_n(partial.begin() + static_cast<std::ptrdiff_t>(gone_at), gone_bytes, 'x');
      const auto [lost_at, lost_bytes] = rows_of(done[1]);
      std::fill_n(partial.begin() + static_cast<std::ptrdiff_t>(lost_at), lost_bytes, '\0');
      auto marked = wanted;
      if (done.size() > 2) {
        const auto [kept_at, kept_bytes] = rows_of(done.back());
        const double mark = -1;
        std::memcpy(&partial[kept_at], &mark, sizeof mark);
        std::memcpy(&marked[kept_at], &mark, sizeof mark);
        const auto line = line_of(settings, done.back());
        auto changed = Json::parse(line.substr(17));
        changed["result"]["check"] = sha256(partial.substr(kept_at, kept_bytes)).substr(0, 16);
        settings.replace(settings.find(line), line.size(), record(changed));
      }
      replace("d.npy.partial", partial);
      const auto never = [](int last) {
        return record({{"unit", 99}, {"result", {{"rows", {0, last}}, {"check", "0123456789abcdef"}}}});
      };
      replace("d.npy.settings", settings + never(100000) + never(200) + never(9).substr(0, 30));
      options.resume = true;
      options.extra_devices = {Device::cpu()};
      write_distances(test::with_threads(2).with({.device = device}), dataset, {}, path("d.npy"), options);
      EXPECT_TRUE(test::contents(path("d.npy")) == marked) << upper;
      EXPECT_EQ(listing(), (std::vector<std::string>{"d.npy", "whole.npy"}));
      fs::remove(path("d.npy"));
    }
}

/// A disk that is full stands for anything that a thread may fail with: the error arrives, and the work can go on.
TEST_F(DistanceFile, ThatCannotBeWrittenIsAnErrorAndGoesOnLater) {
  const auto dataset = dataset_of(normal_rows(200, 9, 6));
  MatrixFileOptions options;
  const auto wanted = write_whole(dataset, {}, options);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  auto less = before;
  less.rlim_cur = wanted.size() / 2;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &less), 0);
  options.extra_devices = {Device::cpu(), Device::cpu()};
  std::string message;
  try {
    write_distances(test::with_threads(2), dataset, {}, path("d.npy"), options);
  } catch (const Error& error) {
    message = error.what();
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("d.npy.partial: cannot be written: File too large"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(path("d.npy")));
  options.resume = true;
  write_distances(test::with_threads(2), dataset, {}, path("d.npy"), options);
  EXPECT_TRUE(test::contents(path("d.npy")) == wanted);
}

TEST_F(DistanceFile, UnderConstructionIsAsPrivateAsTheOneItReplaces) {
  const auto dataset = dataset_of(normal_rows(40, 3, 9));
  replace("d.npy", "secret");
  fs::permissions(path("d.npy"), fs::perms::owner_read | fs::perms::owner_write);
  StopAfter progress(10);
  const auto context = test::with_threads(1).with({.progress = &progress, .stop = progress.token()});
  EXPECT_THROW(write_distances(context, dataset, {}, path("d.npy"), {}), Stopped);
  EXPECT_EQ(fs::status(path("d.npy.partial")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(test::contents(path("d.npy")), "secret");
}

TEST_F(DistanceFile, OfAnotherProgramIsLeftAlone) {
  replace("d.npy.partial", "theirs");
  const int file = ::open(path("d.npy.partial").c_str(), O_RDWR);
  ASSERT_EQ(::flock(file, LOCK_EX), 0);
  EXPECT_THROW(write_distances(test::with_threads(1), dataset_of(normal_rows(5, 2, 1)), {}, path("d.npy")), Error);
  ::close(file);
  EXPECT_EQ(test::contents(path("d.npy.partial")), "theirs");
}

/// Files of these names that Sheaf did not write.
TEST_F(DistanceFile, ThatSheafDidNotBeginIsLeftAlone) {
  const auto dataset = dataset_of(normal_rows(5, 2, 1));
  for (const bool resume : {false, true}) {
    MatrixFileOptions options;
    options.resume = resume;
    replace("d.npy.partial", "theirs");
    EXPECT_THROW(write_distances(test::with_threads(1), dataset, {}, path("d.npy"), options), Error);
    EXPECT_EQ(test::contents(path("d.npy.partial")), "theirs");
    fs::remove(path("d.npy.partial"));
    replace("d.npy.settings", "also theirs");
    EXPECT_THROW(write_distances(test::with_threads(1), dataset, {}, path("d.npy"), options), Error);
    EXPECT_EQ(listing(), (std::vector<std::string>{"d.npy.settings"}));
    fs::remove(path("d.npy.settings"));
    replace("target", "theirs");
    fs::create_symlink("target", path("d.npy.partial"));
    EXPECT_THROW(write_distances(test::with_threads(1), dataset, {}, path("d.npy"), options), Error);
    EXPECT_EQ(test::contents(path("target")), "theirs") << "a link is not followed";
    fs::remove(path("d.npy.partial"));
    fs::remove(path("target"));
  }
}

TEST_F(DistanceFile, OfOneRowOrNoneIsNoError) {
  for (const std::size_t rows : {0, 1}) {
    Dataset<double> dataset;
    dataset.x = DenseMatrix<double>{static_cast<std::int64_t>(rows), 3, Array<double>::zeros(3)};
    for (const bool upper : {false, true}) {
      MatrixFileOptions options;
      options.upper = upper;
      options.extra_devices = {Device::cpu()};
      write_distances(test::with_threads(1), dataset, {}, path("d.npy"), options);
      const auto bytes = test::contents(path("d.npy"));
      EXPECT_EQ(bytes.size() - bytes.find('\n') - 1, upper ? 0 : rows * rows * sizeof(double));
    }
  }
}

}  // namespace distance_files_test
}  // namespace sheaf

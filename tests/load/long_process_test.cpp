// One process that works for long: fits leave nothing behind, forked children work as their parent does, and random
// work neither grows nor depends on what came before it.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sheaf/io.hpp>
#include <sheaf/search.hpp>
#include <sheaf/selection.hpp>

#include "devices.hpp"
#include "properties/families.hpp"
#include "scratch_folder.hpp"

namespace sheaf::test {
namespace long_process_test {

/// What a process holds. Memory is what malloc has given out and not taken back: 0 with sanitizers, which find leaks
/// themselves.
struct Held {
  std::int64_t bytes = 0, pages = 0, files = 0, threads = 0;
};

std::int64_t entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

Held held() {
  const auto heap = mallinfo2();
  Held now{static_cast<std::int64_t>(heap.uordblks + heap.hblkhd), 0, entries("/proc/self/fd"),
           entries("/proc/self/task")};
  std::ifstream("/proc/self/statm") >> now.pages >> now.pages;
  return now;
}

Context context_on(Device device, int threads, std::stop_token stop = {}) {
  return Context({.device = device, .threads = threads, .memory = std::int64_t{1} << 28, .seed = 3, .stop = stop});
}

TEST(LongProcess, TenThousandFitsLeaveNothingBehind) {
  const auto cases = family_cases();
  const auto times = static_cast<int>(10'000 / cases.size()) + 1;
  for (const auto device : devices())
    for (const auto& one : cases) {
      const auto dataset = dataset_of<double>(draw_sample(one.target, 40, 4, 5));
      const auto context = context_on(device, 2);
      auto options = options_of(one);
      const auto fit_again = [&](int count) {
        for (int k = 0; k < count; ++k) fit(context, dataset, options);
        release_cached_memory(device);
        return std::pair(held(), describe(device).free_bytes);
      };
      fit_again(times / 10);
      const auto [before, free_before] = fit_again(times);
      const auto [after, free_after] = fit_again(times);
      // Less than 16 bytes a fit; a thread's cache of free pieces counts as given out.
      EXPECT_LT(after.bytes - before.bytes, 16 * times + 4096) << name_of(one);
      EXPECT_LE(after.files, before.files) << name_of(one);
      EXPECT_LE(after.threads, before.threads) << name_of(one);
      if (device.is_cuda()) {
        EXPECT_GE(free_after, free_before - (std::int64_t{2} << 20)) << name_of(one);
      }
    }
}

TEST(LongProcess, ForkedChildrenFitTheSameModels) {
  for (const auto& one : family_cases()) {
    const auto dataset = dataset_of<double>(draw_sample(one.target, 60, 4, 6));
    const auto fitted = [&] { return fit(context_on(Device::cpu(), 2), dataset, options_of(one)).text(); };
    const auto expected = fitted();  // the parent's threads are there now
    const auto child = fork();
    if (child == 0) _exit(fitted() == expected ? 0 : 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << name_of(one) << ": " << status;
    EXPECT_EQ(fitted(), expected);
  }
}

/// Steps that a number determines: each returns what it found as text.
class RandomWork {
 public:
  std::string step(std::uint64_t number) {
    Random random(number);
    const auto& one = cases_[random.below(cases_.size())];
    const auto rows = static_cast<std::int64_t>(30 + random.below(90));
    const auto sample = draw_sample(one.target, rows, static_cast<std::int64_t>(3 + random.below(9)), number);
    const auto dataset = dataset_of<double>(sample, random.below(3) == 0);
    std::stop_source stop;
    const auto context = context_on(Device::cpu(), static_cast<int>(1 + random.below(4)), stop.get_token());
    switch (random.below(6)) {
      case 0: {
        const auto saved = fit(context, dataset, options_of(one)).text();
        return saved + predicted(Model::parse(saved, "saved").predict(context, dataset));
      }
      case 1:
        return searched(context, dataset, sample, random);
      case 2:
        return selected(context, dataset, sample);
      case 3:
        return read_again(context, dataset, random);
      case 4:
        stop.request_stop();
        return error_of([&] { fit(context, dataset, options_of(one)); });
      default:
        return error_of([&] { parse_dataset<double>(context, "a,b,label\n1,2,x\n3\n", "short row", csv()); });
    }
  }

 private:
  static ReadOptions csv() {
    ReadOptions options;
    options.format = "csv";
    return options;
  }
  template <class Work>
  static std::string error_of(const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
  }
  static std::string predicted(const Predictions& predictions) {
    std::string text;
    for (const double value : predictions.decisions) text += std::to_string(value) + " ";
    return text;
  }
  static std::string searched(const Context& context, const Dataset<double>& dataset, const Sample& sample,
                              Random& random) {
    static const std::vector<std::pair<std::string, NamedSettings>> spaces{
        {"linear", {{"cost", "0.1,1"}}}, {"svm", {{"cost", "0.1,1"}, {"gamma", "0.1"}}}, {"knn", {{"k", "1,3"}}}};
    if (!sample.events.empty()) return {};
    auto [kind, settings] = spaces[random.below(spaces.size())];
    settings.emplace_back("folds", "3");
    const auto found = search(context, dataset, kind, settings);
    return found.model->text();
  }
  static std::string selected(const Context& context, const Dataset<double>& dataset, const Sample& sample) {
    if (sample.classes.empty()) return {};
    std::string text;
    for (const auto feature : select(context, dataset).indices()) text += std::to_string(feature) + " ";
    return text;
  }
  std::string read_again(const Context& context, const Dataset<double>& dataset, Random& random) const {
    if (dataset.target.survival()) return {};  // files have one label
    static const std::vector<std::string> endings{"csv", "arff.gz", "sheaf"};
    const auto path = folder_.file("data." + endings[random.below(endings.size())]);
    write_dataset(context, dataset, path);
    const auto again = read_dataset<double>(context, path);
    EXPECT_EQ(again.rows(), dataset.rows());
    EXPECT_EQ(again.features(), dataset.features());
    return fit(context, again, find_model_kind("knn").options).text();
  }

  std::vector<FamilyCase> cases_ = family_cases();
  ScratchFolder folder_;
};

/// SHEAF_LOAD_MINUTES makes it as long as one likes, SHEAF_LOAD_SEED another.
TEST(LongProcess, RandomWorkDoesNotGrowAndIsRepeatable) {
  const char* minutes = std::getenv("SHEAF_LOAD_MINUTES");
  const char* seed = std::getenv("SHEAF_LOAD_SEED");
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::minutes(minutes != nullptr ? std::atoi(minutes) : 0);
  const std::uint64_t first = seed != nullptr ? std::strtoull(seed, nullptr, 10) << 32 : 0;
  constexpr std::size_t round = 200;
  RandomWork work;
  std::vector<std::string> found(round);  // in this round: a third of its steps are done once more at its end
  std::vector<Held> rounds;
  while (rounds.size() < 8 || Clock::now() < end) {
    const auto begin = first + rounds.size() * round;
    for (std::size_t k = 0; k < round; ++k) found[k] = work.step(begin + k);
    for (std::size_t k = 0; k < round; k += 3) ASSERT_EQ(work.step(begin + k), found[k]) << "step " << begin + k;
    found.assign(round, {});
    rounds.push_back(held());
  }
  // Room that threads keep for the next work has grown to what the largest needs by then.
  const auto &early = rounds[3], &late = rounds.back();
  std::printf(
      "%zu steps of random work; after %zu and at the end: %lld and %lld bytes given out, %lld and %lld pages\n",
      rounds.size() * round, 4 * round, static_cast<long long>(early.bytes), static_cast<long long>(late.bytes),
      static_cast<long long>(early.pages), static_cast<long long>(late.pages));
  EXPECT_LT(late.bytes - early.bytes, 256 << 10);
  EXPECT_LE(late.files, early.files);
  EXPECT_LE(late.threads, early.threads);
}

}  // namespace long_process_test
}  // namespace sheaf::test

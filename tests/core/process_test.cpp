// Cost of Sheaf to a process that only starts it, and settings that it leaves unchanged in one that uses it.
#include <fstream>
#include <sstream>

#include <cblas.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "linear/products/ops.hpp"
#include "program.hpp"
#if SHEAF_CUDA
#include "cuda/cublas.hpp"
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHEAF_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHEAF_SANITIZED 1
#endif
#endif

namespace sheaf::test {
namespace {

/// The most memory that the program took, in bytes.
std::int64_t peak_bytes(const char* argument) {
  const pid_t child = fork();
  if (child == 0) {
    if (freopen("/dev/null", "w", stdout) == nullptr) _exit(126);
    execl(SHEAF_PROGRAM, "sheaf", argument, nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  EXPECT_EQ(status, 0);
  return static_cast<std::int64_t>(usage.ru_maxrss) << 10;
}

std::string loaded_files() {
  std::ostringstream text;
  text << std::ifstream("/proc/self/maps").rdbuf();
  return text.str();
}

Dataset<float> wide_dataset() {
  constexpr std::int64_t rows = 96;
  constexpr std::int64_t columns = 700;
  Dataset<float> dataset;
  DenseMatrix<float> x{rows, columns, Array<float>(rows * columns)};
  Random random(1);
  for (auto& value : x.values) value = static_cast<float>(random.uniform(-1, 1));
  dataset.x = std::move(x);
  return dataset;
}

/// Products wide enough for OpenBLAS.
void multiply(const Dataset<float>& dataset) {
  Context::Options options;
  options.threads = 2;
  const Context context(options);
  const auto ops = linear::make_ops<float>(context, dataset);
  Block<float> w(dataset.features(), 64);
  Block<float> z(dataset.rows(), 64);
  ops->multiply(std::as_const(w).view(), z.view());
  ops->multiply_transposed(std::as_const(z).view(), w.view());
}

TEST(Process, StartsInLittleMemory) {
#ifdef SHEAF_SANITIZED
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  EXPECT_LT(peak_bytes("--version"), std::int64_t{15} << 20);
}

TEST(Process, OpensNoGpuLibraryWithoutGpuWork) {
  multiply(wide_dataset());
  EXPECT_EQ(loaded_files().find("libcublas"), std::string::npos);
}

TEST(Process, KeepsTheThreadsOfOpenBlas) {
  const int blas_before = openblas_get_num_threads();
  openblas_set_num_threads(3);
  const auto dataset = wide_dataset();
  multiply(dataset);
  EXPECT_EQ(openblas_get_num_threads(), 3);
  parallel_for(4, 16, [&](std::int64_t) { multiply(dataset); });
  EXPECT_EQ(openblas_get_num_threads(), 3);
  openblas_set_num_threads(blas_before);
}

class LimitedProcess : public ProgramTest {};

/// Whatever does not fit ends the program with a word, soon: not by abort, nor never, since OpenBLAS waits for memory.
TEST_F(LimitedProcess, EndsInLittleAddressSpace) {
#ifdef SHEAF_SANITIZED
  GTEST_SKIP() << "sanitizers take address space of their own";
#endif
  ASSERT_EQ(shell("sheaf generate classification t.csv --rows 60000 --features 20 --quiet").code, 0);
  for (const char* limit : {"80000", "100000", "120000", "160000", "400000"}) {
    const auto outcome =
        shell("ulimit -v " + std::string(limit) + "; timeout 120 \"$program\" fit t.csv --output m --quiet");
    if (outcome.code == 127 || outcome.code == 130) continue;  // libraries found no room before the program began
    EXPECT_EQ(exists("m"), outcome.code == 0);
    EXPECT_TRUE(outcome.code == 0 || complains(outcome, 1, {"out of memory"})) << limit << outcome.err;
    std::filesystem::remove(path("m"));
  }
  EXPECT_EQ(listing(), std::vector<std::string>{"t.csv"});
}

#if SHEAF_CUDA
TEST(Process, OpensCublasWhenAsked) {
  EXPECT_NE(std::string(cuda::cublas().status_string(CUBLAS_STATUS_NOT_SUPPORTED)).find("not supported"),
            std::string::npos);
  EXPECT_NE(loaded_files().find("libcublas"), std::string::npos);
}
#endif

}  // namespace
}  // namespace sheaf::test

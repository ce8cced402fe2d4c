// Snippets and arithmetic on arrays, on every device of SHEAF_TEST_DEVICES: against the same formulas in plain C++.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <sheaf/sheaf.hpp>

#include "devices.hpp"

namespace sheaf {
namespace snippets_test {

using Doubles = std::vector<double>;

Doubles random_numbers(std::int64_t size, std::uint32_t seed, double low = -2, double high = 2) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  Doubles values(static_cast<std::size_t>(size));
  for (auto& value : values) value = uniform(generator);
  return values;
}

DeviceArray array_of(const Doubles& values, Device device, std::int64_t columns = 1) {
  const auto size = static_cast<std::int64_t>(values.size());
  return DeviceArray::copy_of<double>(values, size / columns, columns, device);
}
template <class T>
DeviceArray array_as(const Doubles& values, Device device, std::int64_t columns = 1) {
  const std::vector<T> converted(values.begin(), values.end());
  return DeviceArray::copy_of<T>(converted, static_cast<std::int64_t>(values.size()) / columns, columns, device);
}

void expect_near(const Doubles& found, const Doubles& expected, double tolerance = 1e-12) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]))) continue;
    ASSERT_NEAR(found[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << i;
  }
}

/// Message of the error that a call throws; empty if it throws none.
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

constexpr std::int64_t sizes[] = {0, 1, 31, 32, 33, 100'003};

class Snippets : public testing::Test {
 protected:
  Context on(Device device, int threads = 2) const { return Context({.device = device, .threads = threads}); }
};

TEST_F(Snippets, ComputeEachElement) {
  const ElementwiseSnippet f("double x, double y", "double z", "z = exp(x) * y;");
  for (const auto device : test::devices())
    for (const auto size : sizes) {
      const auto x = random_numbers(size, 1), y = random_numbers(size, 2);
      Doubles expected;
      for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(std::exp(x[i]) * y[i]);
      const auto z = f(on(device), std::vector{array_of(x, device), array_of(y, device)});
      ASSERT_EQ(z.size(), 1U);
      EXPECT_EQ(z[0].device(), device);
      expect_near(z[0].values<double>(), expected);
    }
}

TEST_F(Snippets, HaveSeveralOutputsOfAllTypesAndScalars) {
  const ElementwiseSnippet f(
      "float x, double shift, raw int table", "double d, float f, int k, unsigned char u",
      "d = x + shift;\nf = 2 * x;\nk = table[i % 3] + (int)n;\nu = i % 256;\nif (x > 100) return;");
  for (const auto device : test::devices()) {
    const auto x = random_numbers(1000, 3);
    const auto out = f(on(device), std::vector{array_as<float>(x, device, 10), array_of({0.5}, device),
                                               array_as<std::int32_t>({7, 8, 9}, device)});
    ASSERT_EQ(out.size(), 4U);
    EXPECT_EQ(out[0].rows(), 100);
    EXPECT_EQ(out[0].columns(), 10);
    const auto d = out[0].values<double>();
    const auto twice = out[1].values<float>();
    const auto k = out[2].values<std::int32_t>();
    const auto u = out[3].values<std::uint8_t>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_DOUBLE_EQ(d[i], static_cast<double>(static_cast<float>(x[i])) + 0.5);
      EXPECT_EQ(twice[i], 2 * static_cast<float>(x[i]));
      EXPECT_EQ(k[i], 7 + static_cast<int>(i % 3) + 1000);
      EXPECT_EQ(u[i], i % 256);
    }
  }
}

TEST_F(Snippets, UseFunctionsOfThePreamble) {
  const ElementwiseSnippet f("double x", "double y", "y = square(x);",
                             {.preamble = "__device__ double square(double v) { return v * v; }"});
  for (const auto device : test::devices())
    expect_near(f(on(device), std::vector{array_of({1, 2, -3}, device)})[0].values<double>(), {1, 4, 9});
}

TEST_F(Snippets, ReduceAllRowsAndColumns) {
  const ReduceSnippet squares("double x", "x * x", "a + b", "0");
  const ReduceSnippet largest("double x, double w", "w * fabs(x)", "a > b ? a : b", "0");
  for (const auto device : test::devices())
    for (const auto& [rows, columns] : {std::pair{1L, 1L}, {33L, 5L}, {5L, 33L}, {20'011L, 7L}, {3L, 40'001L}}) {
      const auto x = random_numbers(rows * columns, 4);
      Doubles by_row(static_cast<std::size_t>(rows)), by_column(static_cast<std::size_t>(columns)), all(1), most(1);
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < rows; ++i) {
          const double value = x[static_cast<std::size_t>(i + j * rows)];
          by_row[static_cast<std::size_t>(i)] += value * value;
          by_column[static_cast<std::size_t>(j)] += value * value;
          all[0] += value * value;
          most[0] = std::max(most[0], 3 * std::abs(value));
        }
      const std::vector one{array_of(x, device, columns)};
      expect_near(squares(on(device), one).values<double>(), all, 1e-11);
      expect_near(squares(on(device), one, Margin::rows).values<double>(), by_row, 1e-11);
      expect_near(squares(on(device), one, Margin::columns).values<double>(), by_column, 1e-11);
      expect_near(largest(on(device), std::vector{one[0], array_of({3}, device)}).values<double>(), most);
    }
}

TEST_F(Snippets, GiveTheIdentityOfNothing) {
  const ReduceSnippet product("double x", "x", "a * b", "1");
  for (const auto device : test::devices())
    expect_near(product(on(device), std::vector{array_of({}, device)}).values<double>(), {1});
}

TEST_F(Snippets, ReduceToTheSameBitsForAnyNumberOfThreads) {
  const ReduceSnippet sum("double x", "x", "a + b", "0");
  for (const auto device : test::devices()) {
    const std::vector x{array_of(random_numbers(300'001, 5), device)};
    const auto one = sum(on(device, 1), x).values<double>();
    for (const int threads : {2, 3, 7}) EXPECT_EQ(sum(on(device, threads), x).values<double>(), one) << threads;
  }
}

TEST_F(Snippets, RunKernels) {
  const KernelSnippet axpy(R"(
// y = a x + y, for (int n) elements
__global__ void axpy(int n, double a, const double* __restrict__ x, double* y) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) y[k] += a * x[k];
})",
                           "axpy");
  ASSERT_EQ(axpy.parameters().size(), 4U);
  EXPECT_FALSE(axpy.parameters()[0].pointer);
  EXPECT_TRUE(axpy.parameters()[2].pointer);
  for (const auto device : test::devices()) {
    const auto x = random_numbers(1000, 6);
    auto y = random_numbers(1000, 7);
    const auto result = array_of(y, device);
    axpy(on(device), {.grid = {8, 1, 1}, .block = {128, 1, 1}},
         std::vector<KernelArgument>{1000.0, 2.5, array_of(x, device), result});
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += 2.5 * x[i];
    expect_near(result.values<double>(), y);
  }
}

TEST_F(Snippets, RunKernelsWithTheNamesOfC) {
  const KernelSnippet twice(R"(extern "C" __global__ void twice(double* x) { x[threadIdx.x] *= 2; })", "twice");
  for (const auto device : test::devices()) {
    const auto x = array_of({1.0, 2.5}, device);
    twice(on(device), {.grid = {1, 1, 1}, .block = {2, 1, 1}}, std::vector<KernelArgument>{x});
    expect_near(x.values<double>(), {2.0, 5.0});
  }
}

TEST_F(Snippets, RunKernelsWithBarriersSharedMemoryAndAtomics) {
  // Each block reverses its part through shared memory of a size given at the launch, and adds its sum to `total`.
  const KernelSnippet reverse(R"(
__device__ void add(double* total, double value) { atomicAdd(total, value); }
__global__ void reverse(const double* x, double* out, double* total) {
  extern __shared__ double part[];
  __shared__ double sums[64];
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  const int threads = blockDim.x * blockDim.y;
  const int first = (blockIdx.y * gridDim.x + blockIdx.x) * threads;
  part[t] = x[first + t];
  sums[t] = x[first + t];
  __syncthreads();
  out[first + t] = part[threads - 1 - t];
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  if (t == 0) add(total, sums[0]);
})",
                              "reverse");
  for (const auto device : test::devices()) {
    const auto x = random_numbers(64 * 6, 8);
    const auto out = array_of(Doubles(x.size()), device);
    const auto total = array_of({0}, device);
    reverse(on(device), {.grid = {3, 2, 1}, .block = {16, 4, 1}, .shared_bytes = 64 * 8},
            std::vector<KernelArgument>{array_of(x, device), out, total});
    Doubles expected;
    for (std::size_t first = 0; first < x.size(); first += 64)
      for (std::size_t t = 0; t < 64; ++t) expected.push_back(x[first + 63 - t]);
    expect_near(out.values<double>(), expected);
    expect_near(total.values<double>(), {std::accumulate(x.begin(), x.end(), 0.0)});
  }
}

TEST_F(Snippets, ThatDoNotCompileAreShownWithLineAndCaret) {
  const ElementwiseSnippet f("double x", "double z", "double y = 2 * x;\nz = y + missing;");
  for (const auto device : test::devices()) {
    const auto text = message_of([&] { f(on(device), std::vector{array_of({1}, device)}); });
    EXPECT_NE(text.find("does not compile"), std::string::npos) << text;
    EXPECT_TRUE(text.find("snippet:2") != std::string::npos || text.find("snippet(2)") != std::string::npos) << text;
    EXPECT_NE(text.find("missing"), std::string::npos) << text;
    EXPECT_NE(text.find("z = y + missing;"), std::string::npos) << text;
    EXPECT_NE(text.find('^'), std::string::npos) << text;
  }
}

TEST_F(Snippets, ShowWhichExpressionOfAReductionIsWrong) {
  const ReduceSnippet f("double x", "x", "a + c", "0");
  for (const auto device : test::devices()) {
    const auto text = message_of([&] { f(on(device), std::vector{array_of({1}, device)}); });
    EXPECT_TRUE(text.find("combine:1") != std::string::npos || text.find("combine(1)") != std::string::npos) << text;
    EXPECT_NE(text.find("a + c"), std::string::npos) << text;
    EXPECT_NE(text.find('^'), std::string::npos) << text;
  }
}

/// NVRTC needs no GPU, but must be installed.
bool has_nvrtc() {
  try {
    ElementwiseSnippet("double x", "double y", "y = x;").compile_for("sm_90");
  } catch (const UsageError&) {
    throw;
  } catch (const Error&) {
    return false;
  }
  return true;
}

TEST_F(Snippets, CompileForGpusThatAreNotThere) {
  if (!has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  ReduceSnippet("double x, raw float t", "x * t[i]", "fmax(a, b)", "-1e300").compile_for("sm_80");
  KernelSnippet(
      "template <class T> __device__ T twice(T x) { return 2 * x; }\n"
      "__global__ void k(float* x) { extern __shared__ float s[]; s[threadIdx.x] = x[0]; __syncthreads(); "
      "x[0] = twice(s[0]); }",
      "k")
      .compile_for("sm_90");
  const auto text = message_of(
      [] { ElementwiseSnippet("double x", "double z", "double y = 2 * x;\nz = y + missing;").compile_for("sm_90"); });
  EXPECT_NE(text.find("snippet(2): error"), std::string::npos) << text;
  EXPECT_NE(text.find("z = y + missing;"), std::string::npos) << text;
  EXPECT_NE(text.find('^'), std::string::npos) << text;
}

TEST_F(Snippets, AreKeptInAFolder) {
  const auto folder = std::filesystem::temp_directory_path() / "sheaf-snippets-test";
  std::filesystem::remove_all(folder);
  for (const auto device : test::devices()) {
    const ElementwiseSnippet f("double x", "double y", "y = 17 * x;", {.cache_folder = folder.string()});
    expect_near(f(on(device), std::vector{array_of({2}, device)})[0].values<double>(), {34});
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    EXPECT_TRUE(name.ends_with(".so") || name.ends_with(".cubin")) << name;
    ++files;
  }
  EXPECT_EQ(files, static_cast<int>(test::devices().size()));
  std::filesystem::remove_all(folder);
}

TEST_F(Snippets, RefuseWhatIsWrong) {
  const auto make = [](const char* inputs, const char* outputs) {
    return message_of([&] { ElementwiseSnippet(inputs, outputs, ";"); });
  };
  EXPECT_NE(make("dubble x", "double y").find("'dubble' is no type"), std::string::npos);
  EXPECT_NE(make("x", "double y").find("a type and a name"), std::string::npos);
  EXPECT_NE(make("double x, float x", "double y").find("declared twice"), std::string::npos);
  EXPECT_NE(make("double x", "float x").find("is an input too"), std::string::npos);
  EXPECT_NE(make("double i", "float x").find("is taken"), std::string::npos);
  EXPECT_NE(make("double x", "raw float y").find("can't be raw"), std::string::npos);
  EXPECT_NE(message_of([] { KernelSnippet("void f() {}", "f"); }).find("__global__ void f(...)"), std::string::npos);
  EXPECT_NE(message_of([] { KernelSnippet("__global__ void f(long n) {}", "f"); }).find("'long' is no type"),
            std::string::npos);
  const ElementwiseSnippet f("double x, double y", "double z", "z = x + y;");
  const KernelSnippet k("__global__ void k(int n, double* x) {}", "k");
  for (const auto device : test::devices()) {
    const auto x = array_of({1, 2, 3}, device);
    EXPECT_NE(message_of([&] {
                f(on(device), std::vector{x, array_of({1, 2}, device)});
              }).find("has 2 elements"),
              std::string::npos);
    EXPECT_NE(message_of([&] { f(on(device), std::vector{x}); }).find("2 inputs, and 1"), std::string::npos);
    EXPECT_NE(message_of([&] {
                f(on(device), std::vector{x, array_as<float>({1}, device)});
              }).find("array of float, but was declared double"),
              std::string::npos);
    const auto launch = [&](KernelShape shape, std::vector<KernelArgument> arguments) {
      return message_of([&] { k(on(device), shape, arguments); });
    };
    EXPECT_NE(launch({}, {1.5, x}).find("1.5 is no int"), std::string::npos);
    EXPECT_NE(launch({}, {x, x}).find("should be a number"), std::string::npos);
    EXPECT_NE(launch({}, {1.0, 1.0}).find("should be an array"), std::string::npos);
    EXPECT_NE(launch({.block = {2048, 1, 1}}, {1.0, x}).find("1 to 1024 threads"), std::string::npos);
    EXPECT_NE(launch({.grid = {0, 1, 1}}, {1.0, x}).find("one block at least"), std::string::npos);
  }
}

TEST_F(Snippets, SayWhichCompilerIsMissing) {
  const char* before = std::getenv("CXX");
  const std::string kept = before == nullptr ? "" : before;
  setenv("CXX", "no-such-compiler", 1);
  try {
    ElementwiseSnippet("double x", "double y", "y = x + 12345;")(on(Device::cpu()),
                                                                 std::vector{array_of({1}, Device::cpu())});
    ADD_FAILURE() << "compiled by nobody";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'no-such-compiler' can't be run"), std::string::npos) << error.what();
  }
  if (before == nullptr)
    unsetenv("CXX");
  else
    setenv("CXX", kept.c_str(), 1);
}

class DeviceArrays : public Snippets {};

TEST_F(DeviceArrays, ApplyFunctionsOfOneNumber) {
  const std::vector<std::pair<const char*, double (*)(double)>> rows{
      {"negate", [](double x) { return -x; }},
      {"logical_not", [](double x) { return x == 0 ? 1.0 : 0.0; }},
      {"abs", [](double x) { return std::abs(x); }},
      {"sign", [](double x) { return x > 0   ? 1.0
                                     : x < 0 ? -1.0
                                             : x; }},
      {"sqrt", [](double x) { return std::sqrt(x); }},
      {"floor", [](double x) { return std::floor(x); }},
      {"ceiling", [](double x) { return std::ceil(x); }},
      {"trunc", [](double x) { return std::trunc(x); }},
      {"round", [](double x) { return std::nearbyint(x); }},
      {"exp", [](double x) { return std::exp(x); }},
      {"expm1", [](double x) { return std::expm1(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"log1p", [](double x) { return std::log1p(x); }},
      {"log2", [](double x) { return std::log2(x); }},
      {"log10", [](double x) { return std::log10(x); }},
      {"sin", [](double x) { return std::sin(x); }},
      {"cos", [](double x) { return std::cos(x); }},
      {"tan", [](double x) { return std::tan(x); }},
      {"asin", [](double x) { return std::asin(x); }},
      {"acos", [](double x) { return std::acos(x); }},
      {"atan", [](double x) { return std::atan(x); }},
      {"sinh", [](double x) { return std::sinh(x); }},
      {"cosh", [](double x) { return std::cosh(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"lgamma", [](double x) { return std::lgamma(x); }}};
  const Doubles x{-1.5, -0.5, 0, 0.25, 0.5, 1, 1.5, 2.5, std::nan("")};
  for (const auto device : test::devices())
    for (const auto& [name, function] : rows) {
      Doubles expected;
      for (const double value : x) expected.push_back(function(value));
      SCOPED_TRACE(name);
      const auto f = parse_unary_function(name);
      expect_near(apply(on(device), f, array_of(x, device)).values<double>(), expected);
      const auto single = apply(on(device), f, array_as<float>(x, device)).values<float>();
      expect_near({single.begin(), single.end()}, expected, 1e-5);
    }
}

TEST_F(DeviceArrays, CombineTwoAndUseTheShorterAgain) {
  const std::vector<std::pair<const char*, double (*)(double, double)>> rows{
      {"add", [](double x, double y) { return x + y; }},
      {"subtract", [](double x, double y) { return x - y; }},
      {"multiply", [](double x, double y) { return x * y; }},
      {"divide", [](double x, double y) { return x / y; }},
      {"power", [](double x, double y) { return std::pow(x, y); }},
      {"modulo", [](double x, double y) { return x - std::floor(x / y) * y; }},
      {"integer_divide", [](double x, double y) { return std::floor(x / y); }},
      {"equal", [](double x, double y) { return x == y ? 1.0 : 0.0; }},
      {"not_equal", [](double x, double y) { return x != y ? 1.0 : 0.0; }},
      {"less", [](double x, double y) { return x < y ? 1.0 : 0.0; }},
      {"less_equal", [](double x, double y) { return x <= y ? 1.0 : 0.0; }},
      {"greater", [](double x, double y) { return x > y ? 1.0 : 0.0; }},
      {"greater_equal", [](double x, double y) { return x >= y ? 1.0 : 0.0; }},
      {"logical_and", [](double x, double y) { return x != 0 && y != 0 ? 1.0 : 0.0; }},
      {"logical_or", [](double x, double y) { return x != 0 || y != 0 ? 1.0 : 0.0; }},
      {"minimum", [](double x, double y) { return std::min(x, y); }},
      {"maximum", [](double x, double y) { return std::max(x, y); }}};
  const auto x = random_numbers(1200, 9, 0.5, 3);
  for (const auto device : test::devices())
    for (const auto& [name, function] : rows)
      for (const std::size_t size : {std::size_t{1200}, std::size_t{1}, std::size_t{30}}) {
        auto y = random_numbers(static_cast<std::int64_t>(size), 10, 0.5, 3);
        y[0] = x[0];
        Doubles expected, reversed;
        for (std::size_t i = 0; i < x.size(); ++i) {
          expected.push_back(function(x[i], y[i % size]));
          reversed.push_back(function(y[i % size], x[i]));
        }
        SCOPED_TRACE(name);
        const auto a = array_of(x, device, 40), b = array_of(y, device);
        const auto found = combine(on(device), parse_binary_function(name), a, b);
        EXPECT_EQ(found.columns(), 40);
        expect_near(found.values<double>(), expected, 1e-11);
        expect_near(combine(on(device), parse_binary_function(name), b, a).values<double>(), reversed, 1e-11);
      }
}

TEST_F(DeviceArrays, ReduceByTheirMargins) {
  for (const auto device : test::devices())
    for (const auto& [rows, columns] : {std::pair{1L, 1L}, {31L, 33L}, {20'001L, 3L}, {2L, 50'001L}}) {
      const auto x = random_numbers(rows * columns, 11);
      const auto a = array_of(x, device, columns);
      Doubles sums(static_cast<std::size_t>(columns)), least(static_cast<std::size_t>(rows), INFINITY);
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < rows; ++i) {
          const double value = x[static_cast<std::size_t>(i + j * rows)];
          sums[static_cast<std::size_t>(j)] += value;
          least[static_cast<std::size_t>(i)] = std::min(least[static_cast<std::size_t>(i)], value);
        }
      expect_near(reduce(on(device), Reduction::sum, Margin::columns, a).values<double>(), sums, 1e-11);
      expect_near(reduce(on(device), Reduction::least, Margin::rows, a).values<double>(), least);
      const double all = std::accumulate(x.begin(), x.end(), 0.0);
      expect_near(reduce(on(device), Reduction::mean, Margin::all, a).values<double>(),
                  {all / static_cast<double>(x.size())}, 1e-11);
      const auto largest = *std::max_element(x.begin(), x.end());
      expect_near(reduce(on(device), Reduction::largest, Margin::all, a).values<double>(), {largest});
    }
}

TEST_F(DeviceArrays, FindNaN) {
  for (const auto device : test::devices())
    for (const auto reduction : {Reduction::sum, Reduction::mean, Reduction::least, Reduction::largest})
      expect_near(reduce(on(device), reduction, Margin::all, array_of({1, std::nan(""), 3}, device)).values<double>(),
                  {std::nan("")});
}

TEST_F(DeviceArrays, MultiplyAndTranspose) {
  for (const auto device : test::devices())
    for (const auto& [m, n, k] :
         {std::tuple{1L, 1L, 1L}, {31L, 33L, 32L}, {300L, 5L, 17L}, {5L, 300L, 17L}, {4L, 3L, 0L}})
      for (const bool flip_x : {false, true})
        for (const bool flip_y : {false, true}) {
          const auto x = random_numbers(m * k, 12), y = random_numbers(k * n, 13);
          Doubles expected(static_cast<std::size_t>(m * n));
          for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j)
              for (std::int64_t l = 0; l < k; ++l)
                expected[static_cast<std::size_t>(i + j * m)] +=
                    x[static_cast<std::size_t>(flip_x ? l + i * k : i + l * m)] *
                    y[static_cast<std::size_t>(flip_y ? j + l * n : l + j * k)];
          const auto a = DeviceArray::copy_of<double>(x, flip_x ? k : m, flip_x ? m : k, device);
          const auto b = DeviceArray::copy_of<double>(y, flip_y ? n : k, flip_y ? k : n, device);
          expect_near(matrix_product(on(device), a, flip_x, b, flip_y).values<double>(), expected);
          const auto single = matrix_product(on(device), convert(on(device), a, ElementType::float32), flip_x,
                                             convert(on(device), b, ElementType::float32), flip_y);
          const auto values = single.values<float>();
          expect_near({values.begin(), values.end()}, expected, 1e-4);
          const auto turned = transpose(on(device), transpose(on(device), a));
          EXPECT_EQ(turned.rows(), a.rows());
          EXPECT_EQ(turned.values<double>(), x);
        }
}

TEST_F(DeviceArrays, TransposeAnyType) {
  for (const auto device : test::devices()) {
    const auto x = array_as<std::int32_t>({1, 2, 3, 4, 5, 6}, device, 2);
    EXPECT_EQ(transpose(on(device), x).values<std::int32_t>(), (std::vector<std::int32_t>{1, 4, 2, 5, 3, 6}));
    EXPECT_EQ(convert(on(device), x, ElementType::uint8).values<std::uint8_t>(),
              (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}));
  }
}

TEST_F(DeviceArrays, RefuseShapesThatDoNotFit) {
  for (const auto device : test::devices()) {
    const auto x = array_of({1, 2, 3, 4, 5, 6}, device, 2);
    EXPECT_NE(message_of([&] { matrix_product(on(device), x, false, x, false); }).find("2 columns"), std::string::npos);
    EXPECT_NE(message_of([&] {
                combine(on(device), BinaryFunction::add, x, array_of({1, 2, 3, 4}, device));
              }).find("6 elements and one of 4"),
              std::string::npos);
  }
}

TEST_F(DeviceArrays, BecomeDatasets) {
  for (const auto device : test::devices()) {
    const auto x = array_of(random_numbers(40, 14), device, 4);
    const std::span<const double> values(static_cast<const double*>(x.data()), 40);
    const auto dataset = make_dataset<double>(on(device), DenseInput::column_major(values, 10, 4, 0, device));
    const auto& matrix = std::get<DenseMatrix<double>>(dataset.x);
    const auto expected = x.values<double>();
    for (std::int64_t i = 0; i < 10; ++i)
      for (std::int64_t j = 0; j < 4; ++j)
        EXPECT_EQ(matrix.values[i * 4 + j], expected[static_cast<std::size_t>(i + j * 10)]);
  }
}

}  // namespace snippets_test
}  // namespace sheaf

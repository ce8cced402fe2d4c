// Numbers from text: every bit as the C library has it, nothing read behind the end.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "core/random.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace number_test {

template <class T>
T library_value(const std::string& text) {
  if constexpr (std::is_same_v<T, float>)
    return std::strtof(text.c_str(), nullptr);
  else
    return std::strtod(text.c_str(), nullptr);
}

template <class T>
void expect_as_library(const std::string& text) {
  using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
  // A copy without a byte behind it, so that reading on is found by the sanitizers.
  const std::unique_ptr<char[]> exact(new char[text.size()]);
  std::copy(text.begin(), text.end(), exact.get());
  T value{};
  const NumberStatus status = parse_whole_number(std::string_view(exact.get(), text.size()), value);
  const T expected = library_value<T>(text);
  if (std::isinf(expected)) {
    EXPECT_EQ(status, NumberStatus::overflow) << text;
  } else {
    ASSERT_EQ(status, NumberStatus::ok) << text;
    EXPECT_EQ(std::bit_cast<Bits>(value), std::bit_cast<Bits>(expected)) << text;
  }
}

void expect_exact(const std::string& text) {
  expect_as_library<double>(text);
  expect_as_library<float>(text);
}

TEST(Number, EdgesAreExact) {
  for (const char* text : {"0",
                           "-0",
                           "+0",
                           "1",
                           "+1",
                           "-1",
                           ".5",
                           "5.",
                           "-.5e1",
                           "1.e2",
                           "1e+2",
                           "1E-2",
                           "0e99999999999999999999",
                           "1e99999999999999999999",
                           "1e-99999999999999999999",
                           "-1e-400",
                           "4.9e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "2.2250738585072011e-308",
                           "2.2250738585072014e-308",
                           "1.7976931348623157e308",
                           "1.7976931348623158e308",
                           "1.7976931348623159e308",
                           "3.4028234e38",
                           "3.4028235677973366e38",
                           "3.4028236e38",
                           "1.4e-45",
                           "7.006492321624085e-46",
                           "7.006492321624086e-46",
                           "1.1754942e-38",
                           "9007199254740992",
                           "9007199254740993",
                           "9007199254740993.0000000000000000000000001",
                           "9007199254740995",
                           "18446744073709551615",
                           "18446744073709551616",
                           "9999999999999999999",
                           "99999999999999999999",
                           "123456789012345678901234567890",
                           "0.000000000000000000000000000000000000000000000000000000000001e60",
                           "00000000000000000000000000000000000017",
                           "1000000000000000000000000000000e-30",
                           "8388608.5",
                           "8388609.5",
                           "16777217",
                           "16777219",
                           "1e22",
                           "1e23",
                           "1e-22",
                           "1e-23",
                           "12345678",
                           "123456789",
                           "1234567812345678",
                           "0.12345678",
                           "0.123456781234567812345678"})
    expect_exact(text);
}

TEST(Number, RandomDecimalsAreExact) {
  Random random(11);
  for (int i = 0; i < 200'000; ++i) {
    const auto bits = std::bit_cast<double>(random.bits());
    const auto digits = static_cast<int>(random.below(22));
    switch (i % 4) {
      case 0:
        if (std::isfinite(bits)) expect_exact(fmt::format("{:.{}e}", bits, digits));
        break;
      case 1:
        expect_exact(fmt::format("{:.{}f}", random.uniform(-1000, 1000), digits));
        break;
      case 2:
        expect_exact(fmt::format("{}.{}e{}", random.bits() >> random.below(64), random.bits() >> random.below(64),
                                 static_cast<int>(random.below(140)) - 70));
        break;
      default:
        expect_exact(fmt::format("{}", random.normal()));
    }
  }
}

// The hardest cases of rounding: exactly between two neighbours, and next to it.
TEST(Number, HalvesBetweenNeighboursAreExact) {
  Random random(12);
  for (int i = 0; i < 20'000; ++i) {
    const double low = std::ldexp(static_cast<double>((random.bits() >> 12) | (std::uint64_t{1} << 52)),
                                  static_cast<int>(random.below(40)) - 30);
    const long double half = (static_cast<long double>(low) + static_cast<long double>(std::nextafter(low, 1e300))) / 2;
    expect_exact(fmt::format("{:.{}Lg}", half, 17 + random.below(20)));
    const auto narrow = static_cast<float>(low);
    const double between = (static_cast<double>(narrow) + static_cast<double>(std::nextafter(narrow, 1e30F))) / 2;
    expect_exact(fmt::format("{:.60g}", between));
    expect_exact(fmt::format("{:.60g}1", between));
  }
}

TEST(Number, TextThatIsNoneIsTold) {
  double value = 0;
  for (const char* text : {"",    "+",   "-",    ".",  "-.", "e5",  "x",     "1x",   "1e",    "1e+", "1.2.3",
                           "--1", "+-1", "0x10", " 1", "1 ", "1,5", "infin", "nano", "1_000", "١"})
    EXPECT_EQ(parse_whole_number(std::string_view(text), value), NumberStatus::none) << text;
  for (const char* text : {"inf", "-inf", "+Infinity", "INF", "nan", "-NaN"})
    EXPECT_EQ(parse_whole_number(std::string_view(text), value), NumberStatus::not_finite) << text;
}

TEST(Number, EndsWhereItsTextEnds) {
  const std::string text = "12.5e3,7";
  const auto number = parse_number<double>(text.data(), text.data() + text.size());
  EXPECT_EQ(number.end - text.data(), 6);
  EXPECT_EQ(number.value, 12500);
  const auto cut = parse_number<double>(text.data(), text.data() + 5);  // "12.5e"
  EXPECT_EQ(cut.end - text.data(), 4);
  EXPECT_EQ(cut.value, 12.5);
}

}  // namespace number_test
}  // namespace sheaf

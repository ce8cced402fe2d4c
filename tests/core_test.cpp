#include <gtest/gtest.h>

#include <sheaf/task.hpp>

namespace sheaf {
namespace {

TEST(Bytes, AreReadWithAndWithoutUnits) {
  EXPECT_EQ(parse_bytes("1024"), 1024);
  EXPECT_EQ(parse_bytes("1.5K"), 1536);
  EXPECT_EQ(parse_bytes("2GiB"), std::int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("3MB"), std::int64_t{3} << 20);
  for (const char* bad : {"", "G", "-1", "1X", "1GG", "0", "nan", "1e300T"}) EXPECT_THROW(parse_bytes(bad), UsageError) << bad;
}

}  // namespace
}  // namespace sheaf

// Numbers as people read them, the same in the terminal and in reports.
#pragma once

#include <cstdint>
#include <string>

namespace sheaf {

/// 12,345,678.
std::string grouped(std::int64_t number);
/// Whole numbers grouped, others with four significant digits.
std::string brief(double number);
/// A score with four digits; "-": not defined.
std::string score_text(double score);
/// "0.93 %", with as many digits as small shares need.
std::string percent(double share);

}  // namespace sheaf

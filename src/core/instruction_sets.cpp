#include "core/instruction_sets.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include "core/fail.hpp"
#include "core/names.hpp"

namespace sheaf {
namespace {

InstructionSet choose() {
  const auto usable = instruction_sets();
  const char* wanted = std::getenv("SHEAF_INSTRUCTION_SET");
  if (wanted == nullptr) return usable.back();
  std::vector<std::string> known;
  for (const auto set : usable) {
    if (name_of(set) == wanted) return set;
    known.emplace_back(name_of(set));
  }
  fail_unknown("instruction set for this machine in SHEAF_INSTRUCTION_SET", wanted, known);
}

}  // namespace

std::string_view name_of(InstructionSet set) {
  switch (set) {
    case InstructionSet::v3:
      return "x86-64-v3";
    case InstructionSet::v4:
      return "x86-64-v4";
    case InstructionSet::sve:
      return "armv8-a+sve";
    case InstructionSet::baseline:
      break;
  }
  return SHEAF_BASELINE;
}

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> usable{InstructionSet::baseline};
  // The features of each level that programs use; processors have a level whole or not at all.
#if SHEAF_HAS_V3
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
      __builtin_cpu_supports("bmi2"))
    usable.push_back(InstructionSet::v3);
#endif
#if SHEAF_HAS_V4
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    usable.push_back(InstructionSet::v4);
#endif
#if SHEAF_HAS_Sve
  if ((getauxval(AT_HWCAP) & HWCAP_SVE) != 0) usable.push_back(InstructionSet::sve);
#endif
  return usable;
}

InstructionSet instruction_set() {
  static const InstructionSet set = choose();
  return set;
}

}  // namespace sheaf

// Instruction sets for hot loops. The sources of these loops (cmake/instruction_sets.cmake lists them) are compiled
// once for each set that a machine may have, and the best set that this machine has is chosen when the program runs. A
// build has those sets whose macro SHEAF_HAS_V3, SHEAF_HAS_V4 or SHEAF_HAS_Sve is 1.
//
// Functions in such a source that the rest of the library calls are templates on one of the types of sheaf::sets,
// instantiated for sets::Compiled, so that each compilation has names of its own. Everything else in an object of a set
// beyond the baseline is hidden from the linker: code for a newer machine never serves an older one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sheaf {

namespace sets {
struct Baseline {};  // available on every machine that runs this build
struct V3 {};        // x86-64-v3: AVX2 and fused multiply-add
struct V4 {};        // x86-64-v4: AVX-512
struct Sve {};       // Armv8.2 with scalable vectors

#ifdef SHEAF_SET
using Compiled = SHEAF_SET;
#else
using Compiled = Baseline;
#endif
}  // namespace sets

enum class InstructionSet : std::uint8_t { baseline, v3, v4, sve };

/// "x86-64-v3", "armv8-a+sve" ...; the baseline of a build for this machine alone is "native".
std::string_view name_of(InstructionSet set);

/// The sets that this build has and this machine can run: the baseline first, the best last.
std::vector<InstructionSet> instruction_sets();

/// The set in use: the best, or the one that SHEAF_INSTRUCTION_SET names. One that is not there is a UsageError.
InstructionSet instruction_set();

/// Calls f with the type of the set in use.
template <class F>
auto with_instruction_set(F&& f) {
  switch (instruction_set()) {
#if SHEAF_HAS_V3
    case InstructionSet::v3:
      return f(sets::V3{});
#endif
#if SHEAF_HAS_V4
    case InstructionSet::v4:
      return f(sets::V4{});
#endif
#if SHEAF_HAS_Sve
    case InstructionSet::sve:
      return f(sets::Sve{});
#endif
    default:
      return f(sets::Baseline{});
  }
}

}  // namespace sheaf

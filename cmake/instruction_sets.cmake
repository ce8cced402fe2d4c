# Hot loops are compiled once for each instruction set that a machine may have (src/core/instruction_sets.hpp), so that one
# build runs everywhere and uses what it finds. With SHEAF_MACHINES=this only the best set of the machine that builds is added to
# the baseline, which such a build still runs on. With SHEAF_NATIVE everything is compiled for this machine alone.
set(sheaf_hot_sources
  src/linear/products/ops_cpu.cpp
  src/linear/net/ops_cpu.cpp
  src/linear/net/covariance_path_cpu.cpp
  src/linear/dual/ops_cpu.cpp
  src/linear/dual/multiclass_cpu.cpp
  src/kernel/verbs/ops_cpu.cpp
  src/kernel/values/table.cpp
  src/information/count/ops_cpu.cpp
  src/information/count/sums_cpu.cpp
  src/information/count/bit_planes.cpp
  src/information/count/compared_sums.cpp
  src/information/count/class_order.cpp
  src/information/count/fixed_log.cpp
  src/information/greedy/criteria.cpp
  src/information/count/ordered.cpp
  src/information/count/ordered_cpu.cpp
  src/information/count/small_pairs.cpp
  src/information/relief/relief_cpu.cpp
  src/neighbors/local/ops_cpu.cpp
  src/neighbors/local/svm_cpu.cpp
  src/neighbors/verbs/exact_cpu.cpp
  src/neighbors/verbs/ops_cpu.cpp
  src/neighbors/verbs/tree_cpu.cpp
  src/rescore/training/ops_cpu.cpp
  src/score/ops_cpu.cpp)

set(SHEAF_MACHINES all CACHE STRING "Machines whose instruction sets hot loops use: all or this")

# The best set of this machine among `sets`, as features of /proc/cpuinfo show it; none: the baseline.
function(sheaf_best_set result)
  set(best)
  if(EXISTS /proc/cpuinfo)
    file(READ /proc/cpuinfo text LIMIT 16384)
    string(REGEX MATCH "(flags|Features)[^\n]*" features "${text}")
    set(needs_V3 avx2 fma bmi1 bmi2)
    set(needs_V4 ${needs_V3} avx512f avx512bw avx512cd avx512dq avx512vl)
    set(needs_Sve sve)
    foreach(type ${ARGN})
      set(has ON)
      foreach(feature ${needs_${type}})
        if(NOT "${features} " MATCHES " ${feature} ")
          set(has OFF)
        endif()
      endforeach()
      if(has)
        set(best ${type})
      endif()
    endforeach()
  endif()
  set(${result} ${best} PARENT_SCOPE)
endfunction()

set(sheaf_sets)
if(SHEAF_NATIVE)
  set(SHEAF_BASELINE native)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(SHEAF_BASELINE armv8-a)
  set(sheaf_sets Sve)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(SHEAF_BASELINE x86-64-v2)
  set(sheaf_sets V3 V4)
else()
  set(SHEAF_BASELINE ${CMAKE_SYSTEM_PROCESSOR})
endif()
if(SHEAF_SANITIZE)  # sanitizers look at one copy of the code
  set(sheaf_sets)
elseif(SHEAF_MACHINES STREQUAL "this")
  sheaf_best_set(sheaf_sets ${sheaf_sets})
endif()
# All sources of the library are compiled with these.
set(sheaf_set_definitions)
foreach(type ${sheaf_sets})
  list(APPEND sheaf_set_definitions SHEAF_HAS_${type}=1)
endforeach()

# Adds the hot sources to `library` once more, compiled for `set` with `flags`; `type` is the set's type in sheaf::sets.
function(sheaf_add_set library type)
  set(objects ${library}_${type})
  add_library(${objects} OBJECT ${sheaf_hot_sources})
  target_compile_features(${objects} PRIVATE cxx_std_20)
  target_include_directories(${objects} PRIVATE include src)
  target_link_libraries(${objects} PRIVATE ${sheaf_dependencies} nlohmann_json::nlohmann_json)
  target_compile_definitions(${objects} PRIVATE SHEAF_CUDA=$<BOOL:${SHEAF_CUDA_FOUND}> ${sheaf_set_definitions} SHEAF_SET=${type})
  sheaf_flags(${objects})
  target_compile_options(${objects} PRIVATE ${ARGN})

  # One object whose only names are those that carry the set's type.
  set(object ${CMAKE_BINARY_DIR}/${objects}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object}.joined $<TARGET_OBJECTS:${objects}>
    COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DOBJCOPY=${CMAKE_OBJCOPY} -DTYPE=${type} -DFROM=${object}.joined -DTO=${object}
            -P ${CMAKE_SOURCE_DIR}/cmake/hide_names.cmake
    DEPENDS ${objects} $<TARGET_OBJECTS:${objects}> ${CMAKE_SOURCE_DIR}/cmake/hide_names.cmake
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_sources(${library} PRIVATE ${object})
  set(sheaf_set_objects ${sheaf_set_objects} ${object} PARENT_SCOPE)
endfunction()

function(sheaf_add_sets library)
  target_compile_definitions(${library} PRIVATE ${sheaf_set_definitions} SHEAF_BASELINE="${SHEAF_BASELINE}")
  if("Sve" IN_LIST sheaf_sets)
    sheaf_add_set(${library} Sve -march=armv8.2-a+sve -mtune=neoverse-512tvb)
  endif()
  if("V3" IN_LIST sheaf_sets)
    sheaf_add_set(${library} V3 -march=x86-64-v3)
  endif()
  if("V4" IN_LIST sheaf_sets)
    # Loops that the compiler turns into vectors use half of the widest registers, as it does when told of a processor by
    # name; Lanes (src/core/simd.hpp) use them whole.
    sheaf_add_set(${library} V4 -march=x86-64-v4 -mprefer-vector-width=256)
    # Kernel values come in tiles of 64 bytes, one such register each: with halves an SVM (w8a, RBF) takes 7 % longer.
    set(kernel_values src/kernel/verbs/ops_cpu.cpp)
    set_source_files_properties(${kernel_values} PROPERTIES COMPILE_OPTIONS -mprefer-vector-width=512)
    sheaf_skip_precompile(${kernel_values})
  endif()
  set(sheaf_set_objects ${sheaf_set_objects} PARENT_SCOPE)
endfunction()

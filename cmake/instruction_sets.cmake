# Hot loops are compiled once for each instruction set that a machine may have (src/core/instruction_sets.hpp), so that one
# build runs everywhere and uses what it finds. With SHEAF_NATIVE everything is compiled for this machine alone.
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

set(SHEAF_SETS OFF)
if(SHEAF_NATIVE)
  set(SHEAF_BASELINE native)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(SHEAF_BASELINE armv8-a)
  set(SHEAF_SETS ON)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(SHEAF_BASELINE x86-64-v2)
  set(SHEAF_SETS ON)
else()
  set(SHEAF_BASELINE ${CMAKE_SYSTEM_PROCESSOR})
endif()
if(SHEAF_SANITIZE)  # sanitizers look at one copy of the code
  set(SHEAF_SETS OFF)
endif()

# Adds the hot sources to `library` once more, compiled for `set` with `flags`; `type` is the set's type in sheaf::sets.
function(sheaf_add_set library type)
  set(objects ${library}_${type})
  add_library(${objects} OBJECT ${sheaf_hot_sources})
  target_compile_features(${objects} PRIVATE cxx_std_20)
  target_include_directories(${objects} PRIVATE include src)
  target_link_libraries(${objects} PRIVATE ${sheaf_dependencies} nlohmann_json::nlohmann_json)
  target_compile_definitions(${objects} PRIVATE SHEAF_CUDA=$<BOOL:${SHEAF_CUDA_FOUND}> SHEAF_SETS=1 SHEAF_SET=${type})
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
  target_compile_definitions(${library} PRIVATE SHEAF_SETS=$<BOOL:${SHEAF_SETS}> SHEAF_BASELINE="${SHEAF_BASELINE}")
  if(SHEAF_SETS AND CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    sheaf_add_set(${library} Sve -march=armv8.2-a+sve -mtune=neoverse-512tvb)
  elseif(SHEAF_SETS)
    sheaf_add_set(${library} V3 -march=x86-64-v3)
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

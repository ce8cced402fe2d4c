# What makes a defect of ours hard to use for an attacker. Programs and libraries are position-independent, their tables of functions
# cannot be written, and no stack is executed. With SHEAF_HARDEN overwritten stacks and buffers end the process, which costs time in
# inner loops. Sanitizers do more, and do not go with it.
include(CheckPIESupported)
check_pie_supported()
function(sheaf_harden target)
  if(SHEAF_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
    return()
  endif()
  if(SHEAF_HARDEN)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
  endif()
  target_link_options(${target} PRIVATE $<$<LINK_LANGUAGE:CXX>:LINKER:-z,relro,-z,now,-z,noexecstack>)
endfunction()

# Flags every target of ours shares; other people's headers are exempt as SYSTEM.
function(sheaf_flags target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion>)
  # Vectors wider than the machine has never cross from one object to another, so how they would be passed does not matter.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-psabi>)
  # Nobody asks which operations trapped, and while they might, GCC turns no loop with a choice in it into vectors.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-trapping-math>)
  # "omp simd" asks for vectors; threads are our own.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp-simd>)
  # Variables of inline functions are weak like other names: objects of several instruction sets share one.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  if(SHEAF_WERROR)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
  endif()
  if(SHEAF_NATIVE)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-mcpu=native>)
    else()
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
    endif()
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # SSE4.2 and counting of ones, which every processor since 2009 has.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v2>)
  endif()
  if(SHEAF_ASSERTIONS)
    target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:_GLIBCXX_ASSERTIONS>)
  endif()
  sheaf_harden(${target})
  if(SHEAF_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${SHEAF_SANITIZE} -fno-omit-frame-pointer>)
    target_link_options(${target} PRIVATE $<$<LINK_LANGUAGE:CXX>:-fsanitize=${SHEAF_SANITIZE}>)
  endif()
endfunction()

# For sources where no time is spent: a third less to compile.
function(sheaf_quick_to_compile target)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
endfunction()

# Finds the CUDA toolkit unless it is switched off. Sets SHEAF_CUDA_FOUND.
set(SHEAF_CUDA_FOUND OFF)
if(NOT SHEAF_CUDA STREQUAL "off")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      # Machine code for Hopper, and code the driver compiles at start for anything from Ampere on.
      set(CMAKE_CUDA_ARCHITECTURES 90-real 80-virtual)
    endif()
    # Not CMAKE_CUDA_STANDARD: CMake 3.25 does not know how to ask nvcc for C++20.
    # 554: nvcc warns of conversion operators that a requires clause rules out.
    set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -std=c++20 --diag-suppress=554")
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(SHEAF_CUDA_FOUND ON)
  elseif(SHEAF_CUDA STREQUAL "on")
    message(FATAL_ERROR "SHEAF_CUDA is on, and no CUDA compiler was found; put nvcc on the PATH or set CUDACXX")
  endif()
endif()
message(STATUS "Sheaf: CUDA ${SHEAF_CUDA_FOUND}")

# Everything comes from the system's packages; nothing is downloaded.
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)

# OpenBLAS by name: threading is set through its own interface.
find_path(SHEAF_CBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas openblas-pthread REQUIRED)
find_library(SHEAF_OPENBLAS openblas REQUIRED)
add_library(sheaf_blas INTERFACE)
target_include_directories(sheaf_blas SYSTEM INTERFACE ${SHEAF_CBLAS_INCLUDE})
target_link_libraries(sheaf_blas INTERFACE ${SHEAF_OPENBLAS})

# Each kind of compression is used where its library is there; reading such a file without it is an error that says so.
add_library(sheaf_compression INTERFACE)
find_package(ZLIB)
find_package(LibLZMA)
find_path(SHEAF_ZSTD_INCLUDE zstd.h)
find_library(SHEAF_ZSTD zstd)
if(ZLIB_FOUND)
  target_link_libraries(sheaf_compression INTERFACE ZLIB::ZLIB)
endif()
if(LIBLZMA_FOUND)
  target_link_libraries(sheaf_compression INTERFACE LibLZMA::LibLZMA)
endif()
if(SHEAF_ZSTD AND SHEAF_ZSTD_INCLUDE)
  target_include_directories(sheaf_compression SYSTEM INTERFACE ${SHEAF_ZSTD_INCLUDE})
  target_link_libraries(sheaf_compression INTERFACE ${SHEAF_ZSTD})
  set(SHEAF_ZSTD_FOUND ON)
endif()
target_compile_definitions(sheaf_compression INTERFACE
  SHEAF_GZIP=$<BOOL:${ZLIB_FOUND}> SHEAF_XZ=$<BOOL:${LIBLZMA_FOUND}> SHEAF_ZSTD=$<BOOL:${SHEAF_ZSTD_FOUND}>)

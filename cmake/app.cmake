# The server of `sheaf app` and the page that it serves. The page was built before (web/dist); here it becomes part of the
# program, as it is and compressed. Without Boost all else is built, and the command says what is
# missing; without OpenSSL it serves no HTTPS.
file(GLOB_RECURSE sheaf_app_sources CONFIGURE_DEPENDS src/app/*.cpp)
list(FILTER sheaf_app_sources EXCLUDE REGEX "/src/app/http/tls/")
file(GLOB_RECURSE sheaf_page CONFIGURE_DEPENDS LIST_DIRECTORIES false RELATIVE ${CMAKE_SOURCE_DIR}/web/dist web/dist/*)
find_path(SHEAF_BEAST_INCLUDE boost/beast/http.hpp)

set(page ${CMAKE_BINARY_DIR}/page)
file(MAKE_DIRECTORY ${page})
set(page_text "")
set(page_rows "")
set(page_inputs)
set(page_count 0)

# Adds a file under the name that clients ask for.
function(sheaf_embed name path)
  set(packed ${page}/${page_count}.gz)
  file(ARCHIVE_CREATE OUTPUT ${packed} PATHS ${path} FORMAT raw COMPRESSION GZip MTIME 0)
  string(APPEND page_text ".global sheaf_page_${page_count}\nsheaf_page_${page_count}:\n.incbin \"${path}\"\n"
    ".global sheaf_page_${page_count}_end\nsheaf_page_${page_count}_end:\n"
    ".global sheaf_packed_${page_count}\nsheaf_packed_${page_count}:\n.incbin \"${packed}\"\n"
    ".global sheaf_packed_${page_count}_end\nsheaf_packed_${page_count}_end:\n")
  set(page_text "${page_text}" PARENT_SCOPE)
  file(SHA256 ${path} hash)  # a cache of compilations does not see the bytes that the assembler includes
  set(page_rows "${page_rows}SHEAF_PAGE(${page_count}, \"${name}\", \"${hash}\")\n" PARENT_SCOPE)
  set(page_inputs ${page_inputs} ${path} PARENT_SCOPE)
  math(EXPR next "${page_count} + 1")
  set(page_count ${next} PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
endfunction()

foreach(name ${sheaf_page})
  sheaf_embed(${name} ${CMAKE_SOURCE_DIR}/web/dist/${name})
endforeach()
if(NOT "index.html" IN_LIST sheaf_page)
  sheaf_embed(index.html ${CMAKE_SOURCE_DIR}/src/app/pages/placeholder.html)
endif()
sheaf_embed(openapi.json ${CMAKE_SOURCE_DIR}/docs/api/openapi.json)
file(CONFIGURE OUTPUT ${page}/page_bytes.s CONTENT "${page_text}" @ONLY)
file(CONFIGURE OUTPUT ${page}/page_rows.inc CONTENT "${page_rows}" @ONLY)

add_library(sheaf_app STATIC ${sheaf_app_sources})
target_compile_features(sheaf_app PRIVATE cxx_std_20)
target_include_directories(sheaf_app PRIVATE include src ${page})
target_link_libraries(sheaf_app PRIVATE libsheaf fmt::fmt nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
sheaf_flags(sheaf_app)
sheaf_quick_to_compile(sheaf_app)
sheaf_precompile(sheaf_app <nlohmann/json.hpp>)
set_target_properties(sheaf_app PROPERTIES UNITY_BUILD OFF)  # every group of routes has the same names
set_source_files_properties(src/app/pages/page_files.cpp PROPERTIES
  COMPILE_DEFINITIONS SHEAF_PAGE_BYTES="${page}/page_bytes.s" OBJECT_DEPENDS "${page}/page_bytes.s;${page}/page_rows.inc;${page_inputs}"
  SKIP_PRECOMPILE_HEADERS ON)
if(SHEAF_BEAST_INCLUDE)
  file(RELATIVE_PATH parts /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR}/sheaf)
  set_source_files_properties(src/app/http/server.cpp PROPERTIES
    COMPILE_DEFINITIONS "SHEAF_BEAST=1;SHEAF_PARTS_FROM_PROGRAM=\"${parts}\"" SKIP_PRECOMPILE_HEADERS ON)
  if(NOT SHEAF_BEAST_INCLUDE IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    target_include_directories(sheaf_app SYSTEM PRIVATE ${SHEAF_BEAST_INCLUDE})
  endif()
  find_package(OpenSSL QUIET COMPONENTS SSL)
else()
  message(STATUS "Sheaf: without `sheaf app`: Boost.Beast was not found (libboost-dev)")
endif()

# TLS, opened at run time (src/app/http/server.cpp), so that the program needs no OpenSSL.
if(SHEAF_BEAST_INCLUDE AND OPENSSL_FOUND)
  add_library(sheaf_tls MODULE src/app/http/tls/tls_listener.cpp src/app/http/url.cpp)
  target_compile_features(sheaf_tls PRIVATE cxx_std_20)
  target_include_directories(sheaf_tls PRIVATE include src)
  if(NOT SHEAF_BEAST_INCLUDE IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    target_include_directories(sheaf_tls SYSTEM PRIVATE ${SHEAF_BEAST_INCLUDE})
  endif()
  target_link_libraries(sheaf_tls PRIVATE fmt::fmt OpenSSL::SSL)
  sheaf_flags(sheaf_tls)
  sheaf_quick_to_compile(sheaf_tls)
  set_target_properties(sheaf_tls PROPERTIES PREFIX "" OUTPUT_NAME sheaf-tls UNITY_BUILD OFF CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  install(TARGETS sheaf_tls LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sheaf COMPONENT program)
elseif(SHEAF_BEAST_INCLUDE)
  message(STATUS "Sheaf: without `sheaf app --certificate`: OpenSSL was not found (libssl-dev)")
endif()

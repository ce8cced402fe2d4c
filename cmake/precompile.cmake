# Headers that most sources include are parsed once for each target, which saves about a third of the time to compile. Sources
# with flags of their own can't use them.
set(sheaf_common_headers <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view>
  <utility> <variant> <vector> <fmt/format.h>)

function(sheaf_precompile target)
  if(SHEAF_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${sheaf_common_headers} ${ARGN})
  endif()
endfunction()

function(sheaf_skip_precompile)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()

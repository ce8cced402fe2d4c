# Messages between processes that share rows: a file for each MPI that is installed, compiled by its own wrapper and opened
# at run time (src/queue/team.cpp), so that the program and the library need no MPI.
include(GNUInstallDirs)
file(RELATIVE_PATH sheaf_teams_from_program /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR}/sheaf)
set_source_files_properties(src/queue/team.cpp PROPERTIES
  COMPILE_DEFINITIONS SHEAF_TEAMS_FROM_PROGRAM="${sheaf_teams_from_program}" SKIP_UNITY_BUILD_INCLUSION ON)
set(sheaf_teams)
foreach(kind openmpi mpich)
  find_program(SHEAF_MPICXX_${kind} NAMES mpicxx.${kind})
  if(SHEAF_MPICXX_${kind} AND NOT SHEAF_SANITIZE)
    set(team ${CMAKE_BINARY_DIR}/sheaf-${kind}.so)
    add_custom_command(OUTPUT ${team}
      COMMAND ${CMAKE_COMMAND} -E env OMPI_CXX=${CMAKE_CXX_COMPILER} MPICH_CXX=${CMAKE_CXX_COMPILER} ${SHEAF_MPICXX_${kind}}
              -std=c++20 -O2 -fPIC -shared -fvisibility=hidden -Wall -Wextra $<$<BOOL:${SHEAF_WERROR}>:-Werror>
              -DOMPI_SKIP_MPICXX=1 -DMPICH_SKIP_MPICXX=1 -I ${CMAKE_SOURCE_DIR}/include -o ${team}
              ${CMAKE_SOURCE_DIR}/src/queue/mpi/mpi_team.cpp
      DEPENDS src/queue/mpi/mpi_team.cpp include/sheaf/solvers/team.hpp VERBATIM)
    list(APPEND sheaf_teams ${team})
  endif()
endforeach()
if(sheaf_teams)
  add_custom_target(sheaf_teams ALL DEPENDS ${sheaf_teams})
  install(FILES ${sheaf_teams} DESTINATION ${CMAKE_INSTALL_LIBDIR}/sheaf COMPONENT mpi)
endif()
list(APPEND sheaf_dependencies ${CMAKE_DL_LIBS})

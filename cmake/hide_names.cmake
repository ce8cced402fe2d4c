# Makes every function and table of virtual functions of an object local to it, except those whose name carries a set's type:
# the linker would else take any of several copies of an inline function, and code for a newer machine could serve an older.
#   cmake -DNM=nm -DOBJCOPY=objcopy -DTYPE=V3 -DFROM=in.o -DTO=out.o -P hide_names.cmake
cmake_minimum_required(VERSION 3.25)
string(LENGTH ${TYPE} length)
set(entry "4sets${length}${TYPE}")

execute_process(COMMAND ${NM} --defined-only --extern-only -P ${FROM} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
set(hidden)
set(entries 0)
foreach(line ${symbols})
  string(REGEX MATCH "^([^ ]+) (.)" found "${line}")
  set(name ${CMAKE_MATCH_1})
  set(kind ${CMAKE_MATCH_2})
  if(name MATCHES ${entry})
    math(EXPR entries "${entries} + 1")
  elseif(kind MATCHES "[TWRi]" OR name MATCHES "^_ZT[VCT]" OR (name MATCHES "^_ZT[IS]" AND NOT kind STREQUAL "V"))
    string(APPEND hidden "${name}\n")
  elseif(NOT kind STREQUAL "V")  # weak: type information, or a variable of an inline function; all copies share one
    message(FATAL_ERROR "${name}: a variable that several compilations of one source would each have; make it local to its source")
  endif()
endforeach()
if(entries EQUAL 0)
  message(FATAL_ERROR "${FROM} has no name with sets::${TYPE}: nothing could call it")
endif()
file(WRITE ${TO}.hidden "${hidden}")
execute_process(COMMAND ${OBJCOPY} --localize-symbols=${TO}.hidden ${FROM} ${TO} COMMAND_ERROR_IS_FATAL ANY)

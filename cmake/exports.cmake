# Writes the version script of the shared library: what a public header names is exported, nothing else is.
#   cmake -DNM=nm -DLIBRARY=libsheaf.a -DSOURCE=. -DVERSION=0.1 -DOUT=sheaf.map -P exports.cmake
cmake_minimum_required(VERSION 3.25)

function(words_of files pattern out)
  set(words)
  foreach(file ${files})
    file(READ ${file} text)
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    string(REGEX MATCHALL "${pattern}" found "${text}")
    list(APPEND words ${found})
  endforeach()
  list(REMOVE_DUPLICATES words)
  set(${out} ${words} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE headers ${SOURCE}/include/sheaf/*.hpp)
words_of("${headers}" "[A-Za-z_][A-Za-z0-9_]*" public)
# What lies in a namespace of its own belongs to one folder of src.
file(GLOB_RECURSE internals ${SOURCE}/src/*.hpp)
words_of("${internals}" "namespace sheaf::[a-z_]+" inner)
list(TRANSFORM inner REPLACE "namespace sheaf::" "")
list(REMOVE_ITEM public ${inner})

execute_process(COMMAND ${NM} --defined-only --extern-only -P ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
# Functions and members, and of classes the tables, type information and static variables, all directly in sheaf.
string(REGEX MATCHALL "\n_Z(T[VIST]|GV|Z|GVZ)?N?K?5sheaf[0-9]+[^ \n]+" symbols "\n${symbols}")
list(REMOVE_DUPLICATES symbols)
set(lines)
foreach(symbol ${symbols})
  string(REGEX MATCH "5sheaf([0-9]+)(.+)$" rest "${symbol}")
  string(SUBSTRING "${CMAKE_MATCH_2}" 0 ${CMAKE_MATCH_1} name)
  if(name IN_LIST public)
    string(STRIP ${symbol} symbol)
    string(APPEND lines "    ${symbol};\n")
  endif()
endforeach()
file(WRITE ${OUT} "SHEAF_${VERSION} {\n  global:\n${lines}  local:\n    *;\n};\n")

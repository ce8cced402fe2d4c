# With CMAKE_UNITY_BUILD, which `make` sets, neighbouring sources of a folder are compiled as one: what they include and
# instantiate is compiled once, and a whole build takes half the time. Names in unnamed namespaces must differ within a folder;
# a source whose names others have stays alone.
set(sheaf_joined 8)  # sources at most
set(sheaf_alone
  src/data/describe/summary.cpp
  src/data/prepare/scaling.cpp
  src/data/read/libsvm.cpp
  src/data/take_rows.cpp
  src/kernel/family/svm.cpp
  src/kernel/verbs/problem.cpp
  src/linear/family/linear.cpp
  src/linear/family/net.cpp
  src/linear/model/model.cpp
  src/linear/model/net_parameters.cpp
  src/model/threshold_file.cpp
  src/neighbors/family/neighbors.cpp
  src/report/search_charts.cpp
  src/report/search_json.cpp
  src/report/selection_charts.cpp
  src/report/selection_json.cpp
  src/report/surface.cpp
  src/score/scorer.cpp
  src/search/journal/result_folder.cpp
  src/search/plan/plan.cpp
  src/search/results/learning_curve.cpp)

function(sheaf_join target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${folder})
    string(REPLACE "/" "_" folder ${folder})
    math(EXPR ${folder}_count "0${${folder}_count} + 1")
    math(EXPR part "(${${folder}_count} - 1) / ${sheaf_joined}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  # It takes a joined source for a header, where a type of an unnamed namespace would be a mistake.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()
# Sources that are compiled for several instruction sets stay alone too, and CMake leaves those with flags of their own alone.
set_source_files_properties(${sheaf_hot_sources} ${sheaf_alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

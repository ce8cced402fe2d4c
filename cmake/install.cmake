# What `cmake --install` puts where, and the packages of `cpack -G DEB`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Before 1.0 every minor version may change the interface.
set(sheaf_interface_version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# The program and the tests are linked with the static library; programs of other people get one with the public names alone.
if(BUILD_SHARED_LIBS)
  set(map ${CMAKE_BINARY_DIR}/sheaf.map)
  add_custom_command(OUTPUT ${map}
    COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DLIBRARY=$<TARGET_FILE:libsheaf> -DSOURCE=${CMAKE_SOURCE_DIR}
            -DVERSION=${sheaf_interface_version} -DOUT=${map} -P ${CMAKE_SOURCE_DIR}/cmake/exports.cmake
    DEPENDS libsheaf cmake/exports.cmake VERBATIM)
  add_library(sheaf_shared SHARED $<TARGET_OBJECTS:libsheaf> $<TARGET_OBJECTS:libsheaf_report> $<TARGET_OBJECTS:libsheaf_information> ${sheaf_set_objects} ${map})
  target_compile_features(sheaf_shared INTERFACE cxx_std_20)
  target_link_libraries(sheaf_shared PRIVATE ${sheaf_dependencies})
  target_link_options(sheaf_shared PRIVATE -Wl,--version-script=${map} -Wl,--no-undefined)
  sheaf_harden(sheaf_shared)
  if(SHEAF_SANITIZE)
    target_link_options(sheaf_shared PRIVATE -fsanitize=${SHEAF_SANITIZE} -Wl,-z,undefs)
  endif()
  set_target_properties(sheaf_shared PROPERTIES OUTPUT_NAME sheaf LINKER_LANGUAGE CXX LINK_DEPENDS ${map}
    VERSION ${PROJECT_VERSION} SOVERSION ${sheaf_interface_version})
  set(sheaf_installed sheaf_shared)
else()
  set(sheaf_installed libsheaf)
  set_target_properties(sheaf_blas PROPERTIES EXPORT_NAME blas)
  set_target_properties(sheaf_compression PROPERTIES EXPORT_NAME compression)
  install(TARGETS sheaf_blas sheaf_compression EXPORT sheafTargets)
endif()
set_target_properties(${sheaf_installed} PROPERTIES EXPORT_NAME sheaf)
install(TARGETS ${sheaf_installed} EXPORT sheafTargets
  LIBRARY COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/sheaf TYPE INCLUDE COMPONENT development FILES_MATCHING PATTERN "*.hpp")

set(config ${CMAKE_INSTALL_LIBDIR}/cmake/sheaf)
configure_package_config_file(cmake/sheafConfig.cmake.in sheafConfig.cmake INSTALL_DESTINATION ${config})
write_basic_package_version_file(sheafConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT sheafTargets NAMESPACE sheaf:: DESTINATION ${config} COMPONENT development)
install(FILES ${CMAKE_BINARY_DIR}/sheafConfig.cmake ${CMAKE_BINARY_DIR}/sheafConfigVersion.cmake
  DESTINATION ${config} COMPONENT development)

# Relative to where the file itself lies, so that an installed tree can be moved.
file(RELATIVE_PATH sheaf_pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
if(NOT BUILD_SHARED_LIBS)
  set(sheaf_pc_static " ${sheaf_static_libraries}")
endif()
configure_file(cmake/sheaf.pc.in sheaf.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/sheaf.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# The program says itself what it takes.
install(TARGETS sheaf COMPONENT program)
if(NOT CMAKE_CROSSCOMPILING)
  set(share ${CMAKE_BINARY_DIR}/share)
  file(MAKE_DIRECTORY ${share})
  set(texts "sheaf.1 --man" "sheaf.bash --completions bash" "_sheaf --completions zsh" "sheaf.fish --completions fish")
  set(files)
  foreach(text ${texts})
    separate_arguments(words UNIX_COMMAND "${text}")
    list(POP_FRONT words file)
    add_custom_command(OUTPUT ${share}/${file} COMMAND sheaf ${words} > ${share}/${file} DEPENDS sheaf)
    list(APPEND files ${share}/${file})
  endforeach()
  add_custom_target(sheaf_texts ALL DEPENDS ${files})
  install(FILES ${share}/sheaf.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  install(FILES ${share}/sheaf.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sheaf COMPONENT program)
  install(FILES ${share}/_sheaf DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
  install(FILES ${share}/sheaf.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
endif()


install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sheaf RENAME copyright COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libsheaf${sheaf_interface_version} RENAME copyright COMPONENT library)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libsheaf-dev RENAME copyright COMPONENT development)

set(CPACK_PACKAGE_VENDOR "Sheaf")
set(CPACK_PACKAGE_CONTACT "The Sheaf developers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME sheaf)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libsheaf${sheaf_interface_version})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsheaf-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Feature selection and supervised learning, whole searches at a time\n The program, its manual page and shell completions.")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Feature selection and supervised learning: shared library")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Feature selection and supervised learning: headers for programs of your own")
if(BUILD_SHARED_LIBS)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libsheaf${sheaf_interface_version} (= ${PROJECT_VERSION})")
else()
  set(CPACK_COMPONENTS_ALL program development)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfmt-dev, libopenblas-dev, zlib1g-dev, libdeflate-dev, liblzma-dev, libzstd-dev, libexpat1-dev")
endif()
if(sheaf_hdf5_soname)  # opened when it is needed; the package is called like the library
  string(REGEX REPLACE "^(lib[^_.]+)(_serial)?(_hl)\\.so\\.(.*)$" "\\1-hl-\\4" hdf5_package "${sheaf_hdf5_soname}")
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS ${hdf5_package})
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS ${hdf5_package})
endif()
if(SHEAF_CUDA_FOUND)  # opened when a GPU is asked for, so that nothing shows it in the files
  string(REPLACE "." "-" cuda_version "${CUDAToolkit_VERSION_MAJOR}.${CUDAToolkit_VERSION_MINOR}")
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "libcublas-${cuda_version}")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "libcublas-${cuda_version}")
endif()
include(CPack)

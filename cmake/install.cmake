# The files that `make install` puts under the prefix. All MPIs are installed side by side:
#
#   bin/hearth                      the command, once for all MPIs
#   include/hearth/                 clampi.h hearth.h match.h vgasnet.h; armci/ and gasnet/, whose headers other projects have too
#   lib/hearth/MPI/                 libhearth-mpi, libarmci, libvgasnet for this MPI, or for the standard ABI (abi); hearth-probe
#   lib/hearth/                     libhearth-core, which these use, libhearth-ucx and libmatch: they do not depend on MPI
#   lib/pkgconfig/, lib/cmake/Hearth/, share/modulefiles/hearth/VERSION
#   share/man/, share/doc/hearth/   with examples/
#
# Always lib/, never lib64/: the command finds the libraries relative to itself (tools/run/find_library.c). The libraries find their
# MPI where it was when they were linked. No installed file refers to the build tree.
set(hearth_lib lib/hearth/${HEARTH_MPI})
set_target_properties(hearth-mpi armci vgasnet PROPERTIES INSTALL_RPATH "$ORIGIN/..")
set_target_properties(match PROPERTIES INSTALL_RPATH "$ORIGIN")
option(HEARTH_MPI_RPATH "installed libraries find their MPI where it was when they were linked; OFF: by the loader's search path" ON)
set_target_properties(hearth-mpi armci vgasnet match hearth hearth-probe PROPERTIES INSTALL_RPATH_USE_LINK_PATH ${HEARTH_MPI_RPATH})
if(HEARTH_MPI STREQUAL abi) # the program, or the loader's configuration, chooses the MPI
  set_target_properties(hearth-mpi hearth-probe PROPERTIES INSTALL_RPATH_USE_LINK_PATH OFF)
  set_target_properties(hearth-probe PROPERTIES SKIP_BUILD_RPATH ON)
  set_target_properties(hearth-mpi PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN:$ORIGIN/..")
endif()

install(FILES include/clampi.h include/hearth.h include/match.h include/vgasnet.h DESTINATION include/hearth)
install(DIRECTORY include/armci include/gasnet DESTINATION include/hearth FILES_MATCHING PATTERN "*.h")
install(TARGETS hearth-mpi armci armci_static vgasnet vgasnet_static LIBRARY DESTINATION ${hearth_lib} ARCHIVE DESTINATION ${hearth_lib})
install(TARGETS hearth-core match match_static LIBRARY DESTINATION lib/hearth ARCHIVE DESTINATION lib/hearth)
if(TARGET hearth-ucx)
  install(TARGETS hearth-ucx LIBRARY DESTINATION lib/hearth)
endif()
install(TARGETS hearth RUNTIME DESTINATION bin)
install(TARGETS hearth-probe RUNTIME DESTINATION ${hearth_lib}) # started by `hearth info --check`

# ---- manual pages: written when the tree is built, from the headers and the table of settings ----

set(man_folder ${CMAKE_BINARY_DIR}/man)
file(GLOB man_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/*.h ${CMAKE_SOURCE_DIR}/include/*/*.h ${CMAKE_SOURCE_DIR}/man/*)
add_custom_command(OUTPUT ${man_folder}/stamp
  COMMAND ${CMAKE_COMMAND} -E env "CC=${CMAKE_C_COMPILER}" ${CMAKE_SOURCE_DIR}/man/generate.sh ${man_folder} ${PROJECT_VERSION}
  COMMAND ${CMAKE_COMMAND} -E touch ${man_folder}/stamp
  DEPENDS ${man_sources} ${CMAKE_SOURCE_DIR}/src/base/settings.def ${CMAKE_SOURCE_DIR}/doc/settings.sh
  COMMENT "Writing manual pages" VERBATIM)
add_custom_target(man ALL DEPENDS ${man_folder}/stamp)
foreach(section 1 3 7)
  install(DIRECTORY ${man_folder}/man${section} DESTINATION share/man)
endforeach()

# ---- documents and examples ----

install(FILES README.md CHANGELOG.md LICENSE CITATION.cff DESTINATION share/doc/hearth)
install(DIRECTORY doc DESTINATION share/doc/hearth FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples DESTINATION share/doc/hearth)

# ---- files for developers: CMake, pkg-config, modules ----

# The other libraries that a program needs if it links a static library of Hearth. They repeat what link_libraries and the
# CMakeLists.txt of the folders tell CMake.
set(always -lpthread -ldl -lm)
set(needs_match ${always})
set(needs_armci ${always})
set(needs_vgasnet ${URING_LDFLAGS} ${always})
foreach(name match armci vgasnet)
  foreach(folder ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES}) # the linker searches these anyway
    list(REMOVE_ITEM needs_${name} -L${folder})
  endforeach()
  string(TOUPPER ${name} upper)
  string(REPLACE ";" " " HEARTH_${upper}_NEEDS "${needs_${name}}")
endforeach()

include(CMakePackageConfigHelpers)
set(package ${CMAKE_BINARY_DIR}/package)
configure_file(packaging/cmake/Hearth-MPI.cmake.in ${package}/Hearth-${HEARTH_MPI}.cmake @ONLY)
write_basic_package_version_file(${package}/HearthConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES packaging/cmake/HearthConfig.cmake ${package}/HearthConfigVersion.cmake DESTINATION lib/cmake/Hearth)
if(NOT HEARTH_MPI STREQUAL abi) # for which CMake's FindMPI knows no compiler
  install(FILES ${package}/Hearth-${HEARTH_MPI}.cmake DESTINATION lib/cmake/Hearth)
endif()

# Files that contain the prefix. `cmake --install --prefix` may change it, so they are written at installation.
install(CODE "
  get_filename_component(HEARTH_PREFIX \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
  set(HEARTH_MPI \"${HEARTH_MPI}\")
  set(HEARTH_VERSION \"${PROJECT_VERSION}\")
  set(HEARTH_MATCH_NEEDS \"${HEARTH_MATCH_NEEDS}\")
  set(HEARTH_ARMCI_NEEDS \"${HEARTH_ARMCI_NEEDS}\")
  set(HEARTH_VGASNET_NEEDS \"${HEARTH_VGASNET_NEEDS}\")
  foreach(pair
      pkgconfig/hearth-mpi.pc.in=lib/pkgconfig/hearth-${HEARTH_MPI}.pc
      pkgconfig/hearth-armci.pc.in=lib/pkgconfig/hearth-armci-${HEARTH_MPI}.pc
      pkgconfig/hearth-vgasnet.pc.in=lib/pkgconfig/hearth-vgasnet-${HEARTH_MPI}.pc
      pkgconfig/hearth-match.pc.in=lib/pkgconfig/hearth-match.pc
      module/modulefile.in=share/modulefiles/hearth/${PROJECT_VERSION})
    string(REGEX MATCH \"^[^=]*\" from \"\${pair}\")
    string(REGEX REPLACE \"^[^=]*=\" \"\" to \"\${pair}\")
    message(STATUS \"Writing: \$ENV{DESTDIR}\${HEARTH_PREFIX}/\${to}\")
    configure_file(\"${CMAKE_SOURCE_DIR}/packaging/\${from}\" \"\$ENV{DESTDIR}\${HEARTH_PREFIX}/\${to}\" @ONLY)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${HEARTH_PREFIX}/\${to}\")
  endforeach()")

# The files that `make install` puts under the prefix. All MPIs are installed side by side:
#
#   bin/hearth                      the command, once for all MPIs
#   include/hearth/                 clampi.h hearth.h match.h vgasnet.h; armci/ and gasnet/, whose names other projects have too
#   lib/hearth/MPI/                 libhearth-mpi, libarmci, libvgasnet for this MPI, or for the standard ABI (abi); hearth-probe
#   lib/hearth/                     libhearth-core, which these use, libhearth-ucx and libhearth-match: they do not depend on MPI
#   lib/pkgconfig/, lib/cmake/Hearth/, share/modulefiles/hearth/VERSION
#   share/man/, share/doc/hearth/   with examples/; share/hearth/hearth-gdb.py
#
# Always lib/, never lib64/: the command finds the libraries relative to itself (tools/run/find_library.c). The libraries find their
# MPI where it was when they were linked. No installed file refers to the build tree. Each tree installs all of it: that of an MPI has the
# tree with what knows no MPI (HEARTH_COMMON) install that part.
option(HEARTH_MPI_RPATH "installed libraries find their MPI where it was when they were linked; OFF: by the loader's search path" ON)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_BINARY_DIR}/package)

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

# hearth_install_with_prefix(FROM TO): installs a file of packaging/ that contains the prefix. `cmake --install --prefix` may change it, so
# the file is written at installation.
function(hearth_install_with_prefix from to)
  install(CODE "
    get_filename_component(HEARTH_PREFIX \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
    set(HEARTH_MPI \"${HEARTH_MPI}\")
    set(HEARTH_VERSION \"${PROJECT_VERSION}\")
    set(HEARTH_MATCH_NEEDS \"${HEARTH_MATCH_NEEDS}\")
    set(HEARTH_ARMCI_NEEDS \"${HEARTH_ARMCI_NEEDS}\")
    set(HEARTH_VGASNET_NEEDS \"${HEARTH_VGASNET_NEEDS}\")
    message(STATUS \"Writing: \$ENV{DESTDIR}\${HEARTH_PREFIX}/${to}\")
    configure_file(\"${CMAKE_SOURCE_DIR}/packaging/${from}\" \"\$ENV{DESTDIR}\${HEARTH_PREFIX}/${to}\" @ONLY)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${HEARTH_PREFIX}/${to}\")")
endfunction()

if(HEARTH_COMMON)
  install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" --install \"${HEARTH_COMMON}\" --prefix \"\${CMAKE_INSTALL_PREFIX}\" COMMAND_ERROR_IS_FATAL ANY)")
else()
  include(cmake/install_common.cmake)
endif()
if(NOT HEARTH_HAS_MPI)
  return()
endif()

# ---- for this MPI ----

set(hearth_lib lib/hearth/${HEARTH_MPI})
set_target_properties(hearth-mpi armci vgasnet PROPERTIES INSTALL_RPATH "$ORIGIN/..")
set_target_properties(hearth-mpi armci vgasnet hearth-probe PROPERTIES INSTALL_RPATH_USE_LINK_PATH ${HEARTH_MPI_RPATH})
if(HEARTH_MPI STREQUAL abi) # the program, or the loader's configuration, chooses the MPI
  set_target_properties(hearth-mpi hearth-probe PROPERTIES INSTALL_RPATH_USE_LINK_PATH OFF)
  set_target_properties(hearth-probe PROPERTIES SKIP_BUILD_RPATH ON)
  set_target_properties(hearth-mpi PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN:$ORIGIN/..")
endif()
install(TARGETS hearth-mpi armci armci_static vgasnet vgasnet_static LIBRARY DESTINATION ${hearth_lib} ARCHIVE DESTINATION ${hearth_lib})
install(TARGETS hearth-probe RUNTIME DESTINATION ${hearth_lib}) # started by `hearth info --check`
if(NOT HEARTH_MPI STREQUAL abi) # for which CMake's FindMPI knows no compiler
  configure_file(packaging/cmake/Hearth-MPI.cmake.in ${package}/Hearth-${HEARTH_MPI}.cmake @ONLY)
  install(FILES ${package}/Hearth-${HEARTH_MPI}.cmake DESTINATION lib/cmake/Hearth)
endif()
hearth_install_with_prefix(pkgconfig/hearth-mpi.pc.in lib/pkgconfig/hearth-${HEARTH_MPI}.pc)
hearth_install_with_prefix(pkgconfig/hearth-armci.pc.in lib/pkgconfig/hearth-armci-${HEARTH_MPI}.pc)
hearth_install_with_prefix(pkgconfig/hearth-vgasnet.pc.in lib/pkgconfig/hearth-vgasnet-${HEARTH_MPI}.pc)

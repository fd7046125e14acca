# What knows no MPI is compiled once for all MPIs, in a tree of its own: build/common (doc/adr/0025-one-tree-for-what-knows-no-mpi.md). The
# tree of an MPI that is configured with HEARTH_COMMON takes it from there: objects and static libraries where they are, and copies of
# what programs load or start, so that it runs by itself.
set(HEARTH_COMMON "" CACHE PATH "the tree that has what knows no MPI; empty: this tree compiles all of it")
if(NOT HEARTH_COMMON)
  return()
endif()
include(${HEARTH_COMMON}/targets.cmake)

function(hearth_copy target) # FILE...: a target that has these files of the other tree in this one
  set(copies ${ARGN})
  list(TRANSFORM copies PREPEND ${CMAKE_BINARY_DIR}/)
  foreach(file ${ARGN})
    get_filename_component(folder ${CMAKE_BINARY_DIR}/${file} DIRECTORY)
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${file}
      COMMAND mkdir -p ${folder}
      COMMAND cp -P ${HEARTH_COMMON}/${file} ${folder}
      DEPENDS ${HEARTH_COMMON}/${file} COMMENT "Copying ${file}" VERBATIM)
  endforeach()
  add_custom_target(${target} ALL DEPENDS ${copies})
endfunction()

hearth_copy(hearth bin/hearth)
hearth_copy(core lib/libhearth-core.so.1 lib/libhearth-core.so)
add_library(hearth-core SHARED IMPORTED)
set_target_properties(hearth-core PROPERTIES IMPORTED_LOCATION ${CMAKE_BINARY_DIR}/lib/libhearth-core.so.1 IMPORTED_SONAME libhearth-core.so.1)
add_dependencies(hearth-core core)
if(UCX_FOUND)
  hearth_copy(hearth-ucx lib/libhearth-ucx.so)
endif()

# Tests without MPI are built in that tree.
foreach(group units units-long)
  add_custom_target(${group} COMMAND ${CMAKE_COMMAND} --build ${HEARTH_COMMON} --target ${group} USES_TERMINAL)
endforeach()

# Programs of apps/ with the library linked in, under SimGrid's MPI. The library cannot be preloaded here, because SMPI gives each rank
# a copy of the program and its variables. Only where SimGrid is installed (package libsimgrid-dev).
find_path(SMPI_INCLUDE smpi/mpi.h)
find_library(SMPI_LIBRARY simgrid)
if(NOT SMPI_INCLUDE OR NOT SMPI_LIBRARY OR HEARTH_SANITIZE)
  message(STATUS "No SimGrid: no programs on simulated machines")
  return()
endif()

set(smpi_flags "SHELL:-include smpi/smpi_helpers.h" "SHELL:-include ${CMAKE_CURRENT_SOURCE_DIR}/smpi_compat.h"
  -Wno-strict-prototypes -Wno-missing-prototypes)
# The clock is simulated time, and not the CPU's counter: otherwise two runs would differ.
set(smpi_names OPEN_MPI=1 _ucount=count _cancelled=cancelled HEARTH_CLOCK_SYSTEM=1 HEARTH_MPI_NAME="smpi")

# All sources of libhearth-mpi and libhearth-core.
get_target_property(smpi_sources hearth-mpi SOURCES)
list(FILTER smpi_sources INCLUDE REGEX "^[^/$].*\\.c$")
list(TRANSFORM smpi_sources PREPEND ${CMAKE_SOURCE_DIR}/src/mpi/)
foreach(folder base tables observe heater cache match data net)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.c)
  list(APPEND smpi_sources ${sources})
endforeach()
list(FILTER smpi_sources EXCLUDE REGEX "/net/ucx/")
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64")
  list(FILTER smpi_sources EXCLUDE REGEX "_avx2\\.c$")
endif()

# As in src/mpi: the calls of this MPI that may be sync events.
set(smpi_mpi ${CMAKE_SOURCE_DIR}/src/mpi)
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/smpi)
add_custom_command(OUTPUT smpi/sync_calls.def
  COMMAND sh -c "'${CMAKE_C_COMPILER}' -E -P -x c -I'${SMPI_INCLUDE}/smpi' -I'${SMPI_INCLUDE}' -I'${CMAKE_SOURCE_DIR}/src' '${smpi_mpi}/host/declared.h' > smpi/mpi.i"
  COMMAND sh -c "'${CMAKE_NM}' -D --defined-only '${SMPI_LIBRARY}' | grep -oE '\\bMPIX?_[A-Za-z0-9_]+' > smpi/mpi.exports"
  COMMAND awk -v inside=1 -v mpi=mpich -f ${smpi_mpi}/sync_calls.awk ${smpi_mpi}/host/calls.def ${smpi_mpi}/nonsync.txt ${smpi_mpi}/waits.txt smpi/mpi.exports smpi/mpi.i > smpi/sync_calls.def
  DEPENDS ${smpi_mpi}/sync_calls.awk ${smpi_mpi}/host/calls.def ${smpi_mpi}/nonsync.txt ${smpi_mpi}/waits.txt ${smpi_mpi}/host/declared.h VERBATIM)

add_custom_target(sim_smpi_sync_calls DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/smpi/sync_calls.def)

add_library(sim_smpi_hearth OBJECT ${smpi_sources} smpi_charge.c)
add_dependencies(sim_smpi_hearth sim_smpi_sync_calls)
target_include_directories(sim_smpi_hearth SYSTEM BEFORE PRIVATE ${SMPI_INCLUDE}/smpi ${SMPI_INCLUDE})
target_include_directories(sim_smpi_hearth PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/smpi)
target_compile_options(sim_smpi_hearth PRIVATE ${smpi_flags})
target_compile_definitions(sim_smpi_hearth PRIVATE ${smpi_names})

function(add_smpi_program name app)
  get_target_property(sources ${app} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.c$")
  list(TRANSFORM sources PREPEND ${CMAKE_SOURCE_DIR}/apps/)
  add_library(${name} MODULE ${sources} $<TARGET_OBJECTS:sim_smpi_hearth>)
  # SMPI looks up their main() by name
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX "" C_VISIBILITY_PRESET default
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/sim)
  target_include_directories(${name} SYSTEM BEFORE PRIVATE ${SMPI_INCLUDE}/smpi ${SMPI_INCLUDE})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/apps)
  target_compile_options(${name} PRIVATE ${smpi_flags})
  get_target_property(options ${app} COMPILE_OPTIONS)
  if(options)
    target_compile_options(${name} PRIVATE ${options})
  endif()
  target_compile_definitions(${name} PRIVATE MPI_Get=sim_Get)
  # Hearth's functions take precedence over SMPI's of the same names
  target_link_options(${name} PRIVATE -Wl,-Bsymbolic
    -Wl,--wrap=cache_lookup,--wrap=cache_find,--wrap=cache_insert,--wrap=cache_settle)
  target_link_libraries(${name} PRIVATE ${SMPI_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS} m)
endfunction()

add_smpi_program(sim_lcc lcc)
if(TARGET barnes-hut)
  add_smpi_program(sim_barnes-hut barnes-hut)
endif()

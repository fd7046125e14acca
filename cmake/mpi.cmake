# The MPI of this tree. HEARTH_MPICC is its compiler; packaging/mpis.sh chooses it, and the other wrappers belong to it.
if(HEARTH_MPI STREQUAL abi) # the standard ABI of MPI 5.0, of any MPI that has it
  set(HEARTH_MPICC ${CMAKE_SOURCE_DIR}/packaging/mpicc-abi.sh CACHE FILEPATH "compiler for the standard ABI")
  execute_process(COMMAND ${HEARTH_MPICC} --folders OUTPUT_VARIABLE folders OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(folders)
  list(GET folders 0 include)
  list(GET folders 1 lib)
  set(MPI_C_LIBRARIES ${lib}/libmpi_abi.so)
  add_library(MPI::MPI_C INTERFACE IMPORTED)
  target_include_directories(MPI::MPI_C INTERFACE ${include})
  target_link_libraries(MPI::MPI_C INTERFACE ${MPI_C_LIBRARIES})
else()
  if(NOT HEARTH_MPICC)
    execute_process(COMMAND ${CMAKE_SOURCE_DIR}/packaging/mpis.sh choose ${HEARTH_MPI} OUTPUT_VARIABLE chosen OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT chosen)
      message(FATAL_ERROR "there is no compiler of ${HEARTH_MPI}: install it, or name it by -DHEARTH_MPICC=PATH")
    endif()
    set(HEARTH_MPICC ${chosen} CACHE FILEPATH "compiler of this MPI" FORCE)
  endif()
  set(MPI_C_COMPILER ${HEARTH_MPICC})
  find_package(MPI REQUIRED COMPONENTS C)
endif()

# hearth_wrapper(PROGRAM VARIABLE): sets VARIABLE to the wrapper PROGRAM beside this compiler, for tests in other languages; empty if there is none.
function(hearth_wrapper program variable)
  if(NOT "$CACHE{${variable}}" STREQUAL "")
    return()
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env MPICC=${HEARTH_MPICC} ${CMAKE_SOURCE_DIR}/packaging/mpis.sh ${HEARTH_MPI} ${program}
                  OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${variable} "${path}" CACHE FILEPATH "${program} of this MPI; empty: no tests with it" FORCE)
endfunction()

hearth_wrapper(mpifort HEARTH_MPIFORT)
if(HEARTH_MPIFORT)
  message(STATUS "Fortran tests with ${HEARTH_MPIFORT}")
endif()

# Up to MPICH 4.3, MPI_Request_get_status_all, _any and _some take requests that are not const (src/mpi/host/standard.h).
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_c_source_compiles("#include <mpi.h>
int MPI_Request_get_status_all(int count, const MPI_Request requests[], int *flag, MPI_Status statuses[]);
int main(void) { return 0; }" HEARTH_MPI_CONST)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT HEARTH_MPI_CONST)
  set_property(TARGET MPI::MPI_C APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS HEARTH_MPI_NOT_CONST)
endif()

# The MPI of this tree. Debian names the compilers by flavour; other systems have only mpicc.
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
  find_program(HEARTH_MPICC NAMES mpicc.${HEARTH_MPI} mpicc REQUIRED)
  set(MPI_C_COMPILER ${HEARTH_MPICC})
  find_package(MPI REQUIRED COMPONENTS C)
endif()
find_package(Threads REQUIRED)

find_program(HEARTH_MPIFORT NAMES mpifort.${HEARTH_MPI})
if(HEARTH_MPIFORT)
  message(STATUS "Fortran tests with ${HEARTH_MPIFORT}")
endif()

# Up to MPICH 4.3, MPI_Request_get_status_all, _any and _some take requests that are not const (src/mpi/core/standard.h).
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_c_source_compiles("#include <mpi.h>
int MPI_Request_get_status_all(int count, const MPI_Request requests[], int *flag, MPI_Status statuses[]);
int main(void) { return 0; }" HEARTH_MPI_CONST)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT HEARTH_MPI_CONST)
  add_compile_definitions(HEARTH_MPI_NOT_CONST)
endif()

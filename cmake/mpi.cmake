# The MPI of this tree. Debian names the compilers by flavour; other systems have only mpicc.
find_program(HEARTH_MPICC NAMES mpicc.${HEARTH_MPI} mpicc REQUIRED)
set(MPI_C_COMPILER ${HEARTH_MPICC})
find_package(MPI REQUIRED COMPONENTS C)
find_package(Threads REQUIRED)

find_program(HEARTH_MPIFORT NAMES mpifort.${HEARTH_MPI})
if(HEARTH_MPIFORT)
  message(STATUS "Fortran tests with ${HEARTH_MPIFORT}")
endif()

# dft, on the distribution's Global Arrays, if installed: once on libarmci, and once on ARMCI-MPI, with which libga was built and which
# libarmci replaces (dft_stock, beside the benches).
if(NOT TARGET armci)
  return()
endif()
include(${CMAKE_SOURCE_DIR}/cmake/globalarrays.cmake)
hearth_needs_ga("program dft")
if(NOT has_ga)
  return()
endif()
find_library(HEARTH_STOCK_ARMCI NAMES armci-${HEARTH_MPI})

# In the kernel the compiler may reorder sums, to process several points at a time.
set_source_files_properties(dft/kernel.c PROPERTIES COMPILE_OPTIONS
                            "-O3;-fassociative-math;-fno-signed-zeros;-fno-trapping-math;-fno-math-errno")
function(add_dft name armci folder)
  add_executable(${name} dft/main.c dft/options.c dft/elements.c dft/molecule.c dft/basis.c dft/orbitals.c dft/becke.c
                         dft/grid.c dft/functional.c dft/kernel.c dft/arrays.c dft/build.c dft/verify.c dft/report.c ${common_mpi})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${folder})
  target_include_directories(${name} SYSTEM PRIVATE ${HEARTH_GA_INCLUDE})
  target_link_libraries(${name} PRIVATE hearth_core_static ${HEARTH_GA} ${armci} ${HEARTH_SCALAPACK} ${HEARTH_LAPACK} ${HEARTH_BLAS}
                        gfortran MPI::MPI_C Threads::Threads m ${CMAKE_DL_LIBS})
endfunction()
add_dft(dft armci bin)
if(HEARTH_STOCK_ARMCI)
  add_dft(dft_stock ${HEARTH_STOCK_ARMCI} bench)
endif()

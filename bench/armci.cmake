# The ARMCI benches: each program once on libarmci and once, if it is installed, on ARMCI-MPI, which libarmci replaces. Debian has a
# static one for each MPI; the one without a flavour in its name is Open MPI's.
find_library(HEARTH_STOCK_ARMCI NAMES armci-${HEARTH_MPI})
find_path(HEARTH_STOCK_ARMCI_HEADERS armci.h NO_CMAKE_PATH)

set(party armci_party.c armci_rest.c rig.c sample.c ${CMAKE_SOURCE_DIR}/src/base/clock.c)
foreach(program ops patch busy counter malloc)
  add_executable(armci_${program} armci_${program}.c ${party})
  target_link_libraries(armci_${program} PRIVATE armci MPI::MPI_C Threads::Threads m)
  if(HEARTH_STOCK_ARMCI AND HEARTH_STOCK_ARMCI_HEADERS)
    add_executable(armci_${program}_stock armci_${program}.c ${party})
    target_link_libraries(armci_${program}_stock PRIVATE ${HEARTH_STOCK_ARMCI} MPI::MPI_C Threads::Threads m)
    target_include_directories(armci_${program}_stock SYSTEM PRIVATE ${HEARTH_STOCK_ARMCI_HEADERS})
  endif()
endforeach()
if(NOT HEARTH_STOCK_ARMCI)
  message(STATUS "no ARMCI-MPI: make bench-armci will have nothing to compare with")
endif()

# The network alone.
add_executable(armci_link armci_link.c armci_rest.c rig.c sample.c $<TARGET_OBJECTS:hearth_link> $<TARGET_OBJECTS:hearth_base>)
target_link_libraries(armci_link PRIVATE hearth_link_needs ${CMAKE_DL_LIBS} m)

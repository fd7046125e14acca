# Hearth for CMake:  find_package(Hearth [VERSION] REQUIRED [COMPONENTS mpich|openmpi])
#
#   Hearth::match               message queues; needs no MPI. include <hearth/match.h>
#   Hearth::hearth-mpi-MPI      interposes MPI calls. include <clampi.h>, <hearth/hearth.h>
#   Hearth::armci-MPI           ARMCI. include <armci.h>
#   Hearth::vgasnet-MPI         GASNet-1 and GASNet-EX. include <gasnet.h>, <gasnetex.h>, <vgasnet.h>
#
# Each but hearth-mpi also exists as a static library: Hearth::match_static, Hearth::armci_static-MPI, Hearth::vgasnet_static-MPI.
# For the one MPI that was requested as a component, or that is the only one installed, the same names exist without the suffix. If
# MPI::MPI_C does not exist yet, it is then searched for with the compiler that Hearth was built with.
include(CMakeFindDependencyMacro)
get_filename_component(Hearth_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

function(_hearth_add kind name file includes needs)
  if(NOT TARGET ${name} AND EXISTS "${file}")
    separate_arguments(needs)
    add_library(${name} ${kind} IMPORTED)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${file}" INTERFACE_INCLUDE_DIRECTORIES "${includes}"
                          INTERFACE_LINK_LIBRARIES "${needs}")
    if(kind STREQUAL SHARED)
      get_filename_component(plain "${file}" NAME)
      set_target_properties(${name} PROPERTIES IMPORTED_SONAME "${plain}.1")
    endif()
  endif()
endfunction()

file(GLOB _hearth_files "${CMAKE_CURRENT_LIST_DIR}/Hearth-*.cmake") # one for each MPI
set(Hearth_MPIS "")
foreach(_hearth_file ${_hearth_files})
  include("${_hearth_file}")
endforeach()

# The names without a suffix.
set(_hearth_one "")
foreach(_hearth_mpi ${Hearth_FIND_COMPONENTS})
  if(_hearth_mpi IN_LIST Hearth_MPIS)
    set(Hearth_${_hearth_mpi}_FOUND TRUE)
  elseif(Hearth_FIND_REQUIRED_${_hearth_mpi})
    set(Hearth_FOUND FALSE)
    set(Hearth_NOT_FOUND_MESSAGE "Hearth is installed for ${Hearth_MPIS}, not for ${_hearth_mpi}")
    return()
  endif()
endforeach()
list(LENGTH Hearth_FIND_COMPONENTS _hearth_count)
if(_hearth_count EQUAL 1)
  set(_hearth_one ${Hearth_FIND_COMPONENTS})
elseif(_hearth_count EQUAL 0)
  list(LENGTH Hearth_MPIS _hearth_count)
  if(_hearth_count EQUAL 1)
    set(_hearth_one ${Hearth_MPIS})
  endif()
endif()
if(_hearth_one IN_LIST Hearth_MPIS)
  if(NOT TARGET MPI::MPI_C)
    if(NOT MPI_C_COMPILER AND EXISTS "${Hearth_${_hearth_one}_MPICC}")
      set(MPI_C_COMPILER "${Hearth_${_hearth_one}_MPICC}")
    endif()
    find_dependency(MPI COMPONENTS C)
  endif()
  foreach(_hearth_name hearth-mpi armci armci_static vgasnet vgasnet_static)
    if(TARGET Hearth::${_hearth_name}-${_hearth_one} AND NOT TARGET Hearth::${_hearth_name})
      add_library(Hearth::${_hearth_name} INTERFACE IMPORTED)
      set_target_properties(Hearth::${_hearth_name} PROPERTIES
                            INTERFACE_LINK_LIBRARIES "Hearth::${_hearth_name}-${_hearth_one};MPI::MPI_C")
    endif()
  endforeach()
endif()

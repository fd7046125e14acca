# The distribution's Global Arrays and the libraries that they need: sets HEARTH_GA, HEARTH_SCALAPACK, HEARTH_LAPACK, HEARTH_BLAS and
# HEARTH_GA_INCLUDE. hearth_needs_ga(WHAT PART...) sets has_ga: OFF if one of these or a HEARTH_PART is missing, or in a tree with
# sanitizers.
find_library(HEARTH_GA NAMES ga-${HEARTH_MPI})
find_library(HEARTH_SCALAPACK NAMES scalapack-${HEARTH_MPI})
find_library(HEARTH_LAPACK NAMES lapack)
find_library(HEARTH_BLAS NAMES blas)
find_path(HEARTH_GA_INCLUDE ga.h)

function(hearth_needs_ga what) # PART...
  set(has_ga OFF PARENT_SCOPE)
  set(missing "")
  foreach(part GA SCALAPACK LAPACK BLAS GA_INCLUDE ${ARGN})
    if(NOT HEARTH_${part})
      list(APPEND missing ${part})
    endif()
  endforeach()
  if(missing)
    message(STATUS "no ${what}: not found: ${missing}; see packaging/setup.sh test")
  elseif(NOT HEARTH_SANITIZE) # libga is not clean under sanitizers
    set(has_ga ON PARENT_SCOPE)
  endif()
endfunction()

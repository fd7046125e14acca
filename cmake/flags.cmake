# Flags for all of our own code.
add_compile_definitions(_GNU_SOURCE HEARTH_VERSION="${PROJECT_VERSION}")
add_compile_options(-Wall -Wextra -Wshadow -Wpointer-arith -Wno-unused-parameter -fno-strict-aliasing
                    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
if(HEARTH_WERROR)
  add_compile_options(-Werror)
endif()
if(HEARTH_SANITIZE)
  add_compile_options(-fsanitize=${HEARTH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${HEARTH_SANITIZE})
endif()
if(HEARTH_COVERAGE) # counts are atomic because of threads; a rank that is killed writes no counts
  add_compile_options(--coverage -fprofile-update=atomic -fprofile-abs-path
                      "SHELL:$<$<COMPILE_LANGUAGE:C>:-include ${CMAKE_SOURCE_DIR}/test/coverage.h>")
  add_link_options(--coverage)
endif()
# For calls with MPI_STATUSES_IGNORE, which MPICH declares as an array of one element: only GCC has this warning.
set(HEARTH_STATUSES_IGNORE $<$<C_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
include_directories(${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)

# Some processors have no instructions for atomic bytes (RISC-V), and their compilers call libatomic.
include(CheckCSourceCompiles)
check_c_source_compiles("#include <stdatomic.h>
atomic_bool flag; _Atomic unsigned char byte;
int main(void) { return atomic_exchange(&flag, 1) + atomic_fetch_or(&byte, 1); }" HEARTH_ATOMIC_BYTES)
if(NOT HEARTH_ATOMIC_BYTES)
  link_libraries(-Wl,--push-state,--as-needed,-latomic,--pop-state)
endif()

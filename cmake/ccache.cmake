# ccache, where it is installed: the trees of the two MPIs share most of their objects, and the second one takes them from the
# first. Debug information names the folder in which the compiler ran, which would keep the trees apart; sources have absolute
# paths, so debuggers find them all the same.
find_program(HEARTH_CCACHE ccache)
if(HEARTH_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 ${HEARTH_CCACHE})
endif()

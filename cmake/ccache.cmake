# ccache, if it is installed: the trees of the two MPIs share most of their objects, so the second tree reuses those of the first.
# CCACHE_NOHASHDIR: debug information names the folder in which the compiler ran, and ccache would treat the same file in two trees
# as different. Sources have absolute paths, so debuggers find them in any case.
find_program(HEARTH_CCACHE ccache)
if(HEARTH_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1 ${HEARTH_CCACHE})
endif()

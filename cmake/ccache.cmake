# ccache, if it is installed: a tree that is made anew, or in another clone, takes most of its objects from there.
# CCACHE_NOHASHDIR: debug information names the folder in which the compiler ran, and ccache would treat the same file in two trees
# as different. Sources have absolute paths, so debuggers find them in any case. env sets it, not `cmake -E env`, which takes 10 ms of
# CPU time for each file. CCACHE_DEPEND: no other tree shares the objects of a tree with sanitizers, so ccache need not run the
# preprocessor to find out.
find_program(HEARTH_CCACHE ccache)
set(ccache_settings CCACHE_NOHASHDIR=1)
if(HEARTH_SANITIZE)
  list(APPEND ccache_settings CCACHE_DEPEND=1)
endif()
foreach(language C CXX)
  if(HEARTH_CCACHE AND NOT CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER env ${ccache_settings} ${HEARTH_CCACHE})
  endif()
endforeach()

# hwloc detects which cores share a cache (src/base/heater/cores.c). Without it the heater takes any core. Each target that contains
# hearth_base may need it; --as-needed drops it where it is not used.
find_package(PkgConfig)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(HWLOC hwloc>=2.0)
endif()
if(HWLOC_FOUND)
  link_libraries(-Wl,--push-state,--as-needed,${HWLOC_LINK_LIBRARIES},--pop-state)
else()
  message(STATUS "no hwloc: cores that share a cache will not be detected")
endif()

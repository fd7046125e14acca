# hwloc tells which cores share a cache (src/base/heater/cores.c). Without it the heater takes any core. All that holds
# hearth_base may need it; the linker keeps it only where it is used.
find_package(PkgConfig)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(HWLOC hwloc>=2.0)
endif()
if(HWLOC_FOUND)
  link_libraries(-Wl,--push-state,--as-needed,${HWLOC_LINK_LIBRARIES},--pop-state)
else()
  message(STATUS "no hwloc: which cores share a cache will not be known")
endif()

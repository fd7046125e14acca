# hwloc detects which cores share a cache (src/heater/cores.c). Without it the heater is bound to no core. Each target that contains
# hearth_heater may need it; --as-needed drops it where it is not used.
hearth_optional(HWLOC libhwloc-dev "cores that share a cache are not detected" hwloc>=2.0)
if(HWLOC_FOUND)
  link_libraries(-Wl,--push-state,--as-needed,${HWLOC_LINK_LIBRARIES},--pop-state)
endif()

# The optional libraries. Each has an option HEARTH_WITH_NAME: AUTO uses the library if it is installed, ON fails if it is missing, OFF
# leaves it out.
#
#   hearth_optional(NAME PACKAGE WITHOUT MODULE...)    sets NAME_FOUND and what pkg-config says of the first MODULE that is installed
#
# PACKAGE is Debian's name of it, WITHOUT what a build without it lacks.
find_package(PkgConfig)

# What pkg-config said is in the cache, also after the option has become OFF: variables of these names hide it.
macro(hearth_leave_out name)
  foreach(part FOUND CFLAGS INCLUDE_DIRS LDFLAGS LINK_LIBRARIES)
    set(${name}_${part} "")
  endforeach()
endmacro()

macro(hearth_optional name package without)
  set(HEARTH_WITH_${name} AUTO CACHE STRING "use this library: AUTO, ON or OFF; without it: ${without}")
  set_property(CACHE HEARTH_WITH_${name} PROPERTY STRINGS AUTO ON OFF)
  if(HEARTH_WITH_${name} STREQUAL AUTO OR HEARTH_WITH_${name})
    if(PKG_CONFIG_FOUND)
      foreach(module ${ARGN}) # also where the cache knows it: part of what pkg-config says is not in the cache
        pkg_check_modules(${name} ${module})
        if(${name}_FOUND)
          break()
        endif()
      endforeach()
    endif()
    if(NOT ${name}_FOUND AND NOT HEARTH_WITH_${name} STREQUAL AUTO)
      message(FATAL_ERROR "HEARTH_WITH_${name}=${HEARTH_WITH_${name}}, but pkg-config finds no ${ARGN}: install ${package}, or set it to OFF")
    endif()
  else()
    hearth_leave_out(${name})
  endif()
  if(NOT ${name}_FOUND)
    message(STATUS "without ${name}: ${without}")
  endif()
endmacro()

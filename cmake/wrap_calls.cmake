# hearth_wrap_calls(NAME OBJECTS REGEX CALL...): a target to link with, NAME, that has those of the objects of the target OBJECTS whose path
# matches REGEX, as one object in which each CALL of another object or library has become a call of __wrap_CALL. So a test makes the
# calls of some files fail, and no others. Of an archive that has these objects too, the linker then takes none of them.
function(hearth_wrap_calls name objects regex)
  set(wrapped ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  set(from "$<FILTER:$<TARGET_OBJECTS:${objects}>,INCLUDE,${regex}>")
  set(calls ${ARGN})
  list(TRANSFORM calls PREPEND -Wl,--wrap=)
  add_custom_command(OUTPUT ${wrapped} COMMAND ${CMAKE_C_COMPILER} -r -nostdlib ${calls} -o ${wrapped} "${from}"
    DEPENDS "${from}" COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${name}_object DEPENDS ${wrapped})
  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}_object)
  target_link_libraries(${name} INTERFACE ${wrapped})
endfunction()

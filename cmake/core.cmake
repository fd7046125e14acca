# What libhearth-core exports: the names in src/core_names.h, which gives each of them the prefix hearth_core_, so that none of them
# meets a name of the program. All of our code is compiled with that header.
set(HEARTH_CORE_NAMES ${CMAKE_SOURCE_DIR}/src/core_names.h)
set(HEARTH_CORE_MAP ${CMAKE_BINARY_DIR}/core.map)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${HEARTH_CORE_NAMES})
file(STRINGS ${HEARTH_CORE_NAMES} names REGEX "^#define [a-z0-9_]+ +hearth_core_")
list(TRANSFORM names REPLACE "^#define [a-z0-9_]+ +(hearth_core_[a-z0-9_]+)$" "\\1")
list(JOIN names ";\n    " names)
file(CONFIGURE OUTPUT ${HEARTH_CORE_MAP} CONTENT "HEARTH_${PROJECT_VERSION} {\nglobal:\n    ${names};\nlocal:\n    *;\n};\n" @ONLY)
add_compile_options("$<$<COMPILE_LANGUAGE:C>:SHELL:-include ${HEARTH_CORE_NAMES}>")

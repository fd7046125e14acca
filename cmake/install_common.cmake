# ---- what knows no MPI: included by install.cmake ----

set_target_properties(hearth-match PROPERTIES INSTALL_RPATH "$ORIGIN")
set_target_properties(hearth-match hearth PROPERTIES INSTALL_RPATH_USE_LINK_PATH ${HEARTH_MPI_RPATH})
install(DIRECTORY include/hearth DESTINATION include FILES_MATCHING PATTERN "*.h")
install(TARGETS hearth-core hearth-match hearth_match_static LIBRARY DESTINATION lib/hearth ARCHIVE DESTINATION lib/hearth)
if(TARGET hearth-ucx)
  install(TARGETS hearth-ucx LIBRARY DESTINATION lib/hearth)
endif()
install(TARGETS hearth RUNTIME DESTINATION bin)
install(FILES tools/gdb/hearth-gdb.py DESTINATION share/hearth) # gdb: source it

# ---- manual pages: written when the tree is built, from the headers and the table of settings ----

set(man_folder ${CMAKE_BINARY_DIR}/man)
file(GLOB man_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/hearth/*.h ${CMAKE_SOURCE_DIR}/include/hearth/*/*.h ${CMAKE_SOURCE_DIR}/man/*)
add_custom_command(OUTPUT ${man_folder}/stamp
  COMMAND ${CMAKE_COMMAND} -E env "CC=${CMAKE_C_COMPILER}" ${CMAKE_SOURCE_DIR}/man/generate.sh ${man_folder} ${PROJECT_VERSION}
  COMMAND ${CMAKE_COMMAND} -E touch ${man_folder}/stamp
  DEPENDS ${man_sources} ${CMAKE_SOURCE_DIR}/src/base/settings.def ${CMAKE_SOURCE_DIR}/doc/settings.sh
  COMMENT "Writing manual pages" VERBATIM)
add_custom_target(man ALL DEPENDS ${man_folder}/stamp)
foreach(section 1 3 7)
  install(DIRECTORY ${man_folder}/man${section} DESTINATION share/man)
endforeach()

# ---- documents and examples ----

install(FILES README.md CHANGELOG.md LICENSE CITATION.cff DESTINATION share/doc/hearth)
install(DIRECTORY doc DESTINATION share/doc/hearth FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples DESTINATION share/doc/hearth)

write_basic_package_version_file(${package}/HearthConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES packaging/cmake/HearthConfig.cmake ${package}/HearthConfigVersion.cmake DESTINATION lib/cmake/Hearth)
hearth_install_with_prefix(pkgconfig/hearth-match.pc.in lib/pkgconfig/hearth-match.pc)
hearth_install_with_prefix(module/modulefile.in share/modulefiles/hearth/${PROJECT_VERSION})

# What `make install` puts under the prefix. Both MPIs are installed side by side, so the libraries stand in a folder
# named after theirs; they find their MPI where it was when they were linked.
install(FILES include/clampi.h include/hearth.h include/match.h include/vgasnet.h DESTINATION include)
set_target_properties(hearth-mpi armci vgasnet PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS hearth-mpi armci armci_static vgasnet vgasnet_static LIBRARY DESTINATION lib/hearth/${HEARTH_MPI} ARCHIVE DESTINATION lib/hearth/${HEARTH_MPI})
install(DIRECTORY include/armci DESTINATION include/hearth) # not among the others: ARMCI-MPI's have the same names
install(DIRECTORY include/gasnet DESTINATION include) # vgasnet.h includes gasnet/gasnet.h
install(TARGETS match match_static LIBRARY DESTINATION lib ARCHIVE DESTINATION lib) # they know no MPI

# The command, once for all MPIs, and what it tries each of them out with.
set_target_properties(hearth hearth-probe PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS hearth RUNTIME DESTINATION bin)
install(TARGETS hearth-probe RUNTIME DESTINATION lib/hearth/${HEARTH_MPI})
install(FILES man/hearth.1 DESTINATION share/man/man1)

# What `make install` puts under the prefix. Both MPIs are installed side by side, so the libraries stand in a folder
# named after theirs; they find their MPI where it was when they were linked.
install(FILES include/clampi.h include/hearth.h include/match.h DESTINATION include)
set_target_properties(hearth-mpi armci PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS hearth-mpi armci armci_static LIBRARY DESTINATION lib/hearth/${HEARTH_MPI} ARCHIVE DESTINATION lib/hearth/${HEARTH_MPI})
install(DIRECTORY include/armci DESTINATION include/hearth) # not among the others: ARMCI-MPI's have the same names
install(TARGETS match match_static LIBRARY DESTINATION lib ARCHIVE DESTINATION lib) # they know no MPI

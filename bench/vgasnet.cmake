# The vGASNet benches: plain GASNet programs. armci_link measures the network below them.
foreach(program hit near small fetch walk share)
  add_executable(vgasnet_${program} vgasnet_${program}.c vgasnet_nodes.c armci_rest.c rig.c sample.c
    ${CMAKE_SOURCE_DIR}/src/base/clock.c)
  target_compile_options(vgasnet_${program} PRIVATE -Wno-strict-prototypes) # handlers have various argument lists
  target_link_libraries(vgasnet_${program} PRIVATE vgasnet MPI::MPI_C Threads::Threads m)
endforeach()

# UCX carries the messages between nodes (src/net/link). Without it they go through MPI.
if(PKG_CONFIG_FOUND)
  pkg_check_modules(UCX ucx>=1.13)
endif()
if(NOT UCX_FOUND)
  message(STATUS "no UCX: messages between nodes will go through MPI")
endif()

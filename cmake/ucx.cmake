# UCX is the transport for messages between nodes (src/net/link). Without it MPI is.
if(PKG_CONFIG_FOUND)
  pkg_check_modules(UCX ucx>=1.13)
endif()
if(NOT UCX_FOUND)
  message(STATUS "no UCX: messages between nodes will go through MPI")
endif()

# Disk access of src/pages: with io_uring if liburing is installed, otherwise with threads. xxHash computes the checksums; without it
# segments on NVM are not built.
if(PKG_CONFIG_FOUND)
  pkg_check_modules(URING liburing>=2.0)
  pkg_check_modules(XXHASH libxxhash>=0.8)
endif()
if(NOT URING_FOUND)
  message(STATUS "no liburing: threads will read and write pages")
endif()
if(NOT XXHASH_FOUND)
  message(STATUS "no xxHash: segments on NVM will not be built")
endif()

# Disk access of src/pages: with io_uring if liburing is installed, otherwise with threads. xxHash computes the checksums; without it
# segments on NVM are not built, and liburing is not used.
hearth_optional(XXHASH libxxhash-dev "segments on NVM are not built" libxxhash>=0.8)
hearth_optional(URING liburing-dev "threads read and write pages" liburing>=2.0)
if(NOT XXHASH_FOUND)
  hearth_leave_out(URING)
endif()

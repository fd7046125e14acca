# dgemm, on libvgasnet and OpenBLAS, if that is installed.
if(PKG_CONFIG_FOUND)
  pkg_check_modules(OPENBLAS IMPORTED_TARGET openblas)
endif()
if(NOT OPENBLAS_FOUND)
  message(STATUS "no program dgemm: no OpenBLAS; see packaging/setup.sh test")
  return()
endif()
add_executable(dgemm dgemm/main.c dgemm/options.c dgemm/layout.c dgemm/fill.c dgemm/summa.c dgemm/verify.c dgemm/report.c
                     dgemm/team.c ${common})
# The double-precision pairs of verify.c rely on each single rounding: the compiler may not fuse any.
target_compile_options(dgemm PRIVATE -ffp-contract=off)
target_link_libraries(dgemm PRIVATE vgasnet hearth_core_static PkgConfig::OPENBLAS Threads::Threads m)

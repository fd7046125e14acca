# dgemm, on libvgasnet and OpenBLAS, where that is installed.
if(PKG_CONFIG_FOUND)
  pkg_check_modules(OPENBLAS IMPORTED_TARGET openblas)
endif()
if(NOT OPENBLAS_FOUND)
  message(STATUS "no program dgemm: no OpenBLAS; see packaging/setup.sh test")
  return()
endif()
add_executable(dgemm dgemm/main.c dgemm/options.c dgemm/layout.c dgemm/fill.c dgemm/summa.c dgemm/verify.c dgemm/report.c
                     dgemm/team.c ${common})
# Sums of twice the precision in verify.c are made of single roundings: none may be left out.
target_compile_options(dgemm PRIVATE -ffp-contract=off)
target_link_libraries(dgemm PRIVATE vgasnet hearth_base PkgConfig::OPENBLAS Threads::Threads m)

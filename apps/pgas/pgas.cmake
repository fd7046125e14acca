# dht and stencil: C++ programs on GASNet-EX, if there is a C++ compiler. C++11, which all clients of GASNet-EX have.
include(${CMAKE_SOURCE_DIR}/cmake/cxx.cmake)
if(NOT HEARTH_CXX)
  message(STATUS "no programs dht and stencil: no C++ compiler; see packaging/setup.sh test")
  return()
endif()
foreach(program dht stencil)
  add_executable(${program} pgas/${program}.cpp pgas/job.cpp)
  set_target_properties(${program} PROPERTIES CXX_STANDARD 11 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  # As in halo: cells must be bitwise equal wherever they are computed.
  target_compile_options(${program} PRIVATE -ffp-contract=off)
  target_link_libraries(${program} PRIVATE vgasnet)
endforeach()

# Sets HEARTH_CXX, and enables C++ in this folder, if there is a compiler: only programs and tests on GASNet-EX are C++.
include(CheckLanguage)
if(NOT CMAKE_CXX_COMPILER) # check_language would not look again
  unset(CMAKE_CXX_COMPILER CACHE)
endif()
check_language(CXX)
set(HEARTH_CXX ${CMAKE_CXX_COMPILER})
if(HEARTH_CXX)
  enable_language(CXX)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g -DNDEBUG")
endif()

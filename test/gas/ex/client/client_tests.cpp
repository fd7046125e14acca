// client_tests.cpp: the same as C++.
#include "client_tests.c"

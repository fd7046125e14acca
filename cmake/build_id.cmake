# Writes a header with an id of the files SOURCES and of OPTIONS.
set(all "${OPTIONS}")
separate_arguments(SOURCES)
foreach(source ${SOURCES})
  file(SHA1 ${source} hash)
  string(APPEND all ${hash})
endforeach()
string(SHA1 id "${all}")
file(WRITE ${HEADER} "#define HEARTH_BUILD_ID \"${id}\"\n")

# `pip install .` asks before anything is built whether Debian's packages are there, and names all that are not in one line, ready to be pasted.
# ./amdahl and ./check install them themselves (scripts/setup.sh); pip must not. CMake and Ninja it brings where they are missing.
find_program(DPKG_QUERY dpkg-query)
if(DPKG_QUERY)
  file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/scripts/packages.txt rows REGEX "^[a-z0-9.+-]+ +program ")
  set(missing "")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "^[a-z0-9.+-]+" package "${row}")
    execute_process(COMMAND ${DPKG_QUERY} -W -f "\${db:Status-Status}" ${package} OUTPUT_VARIABLE state ERROR_QUIET)
    if(NOT state STREQUAL "installed" AND NOT package MATCHES "^(cmake|ninja-build)$")
      string(APPEND missing " ${package}")
    endif()
  endforeach()
  if(missing)
    message(FATAL_ERROR "amdahl is built with Debian packages that are missing here. Install them, and call pip again:\n"
                        "  apt-get install --no-install-recommends${missing}\n")
  endif()
endif()

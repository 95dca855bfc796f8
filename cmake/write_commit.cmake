# Writes OUT, a header with the commit of the sources in SOURCE ("" without a repository), when it is another than last time.
find_package(Git QUIET)
set(commit "")
if(GIT_EXECUTABLE AND EXISTS ${SOURCE}/.git)
  # No lock is taken: a build must not stand in the way of a commit.
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env GIT_OPTIONAL_LOCKS=0 ${GIT_EXECUTABLE} describe --always --dirty --exclude=* --abbrev=12
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
set(text "#define AMDAHL_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${OUT} "${text}")
endif()

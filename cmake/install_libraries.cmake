# At install time: copies the shared libraries of PROGRAMS, and what their packages say of copyright. C's and C++'s own stay out: they are where a C++
# compiler is, which tuning needs, and kernels that a newer compiler makes need the newer ones.
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${PROGRAMS} RESOLVED_DEPENDENCIES_VAR libraries
     PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s|gomp)\\.so")

set(root $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX})
set(terms ${root}/share/doc/amdahl/libraries)
file(MAKE_DIRECTORY ${root}/libexec/amdahl/lib ${terms})

foreach(library IN LISTS libraries)
  # By the name that the loader asks for, not as a link: wheels know none.
  get_filename_component(name ${library} NAME)
  file(REAL_PATH ${library} file)
  file(COPY_FILE ${file} ${root}/libexec/amdahl/lib/${name})

  get_filename_component(file_name ${file} NAME)
  execute_process(COMMAND dpkg-query -S "*/${file_name}" OUTPUT_VARIABLE owner ERROR_QUIET)
  string(REGEX MATCH "^[a-z0-9.+-]+" package "${owner}")
  if(package AND EXISTS /usr/share/doc/${package}/copyright)
    file(COPY_FILE /usr/share/doc/${package}/copyright ${terms}/${package}.txt)
  else()
    message(WARNING "no package says what the licence of ${name} is: add it to the wheel before it is given to others")
  endif()
endforeach()

# They point to licences that every Debian has, and nobody else.
file(GLOB files ${terms}/*.txt)
foreach(file IN LISTS files)
  file(READ ${file} text)
  string(REGEX MATCHALL "/usr/share/common-licenses/[A-Za-z]+[A-Za-z0-9.-]*[A-Za-z0-9]" licences "${text}")
  foreach(licence IN LISTS licences)
    if(EXISTS ${licence})
      get_filename_component(name ${licence} NAME)
      file(REAL_PATH ${licence} real)
      file(COPY_FILE ${real} ${terms}/${name})
    endif()
  endforeach()
endforeach()

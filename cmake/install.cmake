# What goes where with `cmake --install build --prefix P`, and the Debian package that `cpack` makes of it.
# Found at run time relative to the program: libexec/amdahl/amdahl-worker, amdahl-nvrtc and libamdahl-plan.so (base/own_program.h) and share/amdahl/vega
# (experiments/vega.cc). Kernel sources, export templates and the report's page are inside the program.
include(GNUInstallDirs)

# The component `program` is what a wheel takes (pyproject.toml); without a word, everything is installed.
install(TARGETS amdahl RUNTIME DESTINATION bin COMPONENT program)
install(TARGETS amdahl-worker amdahl-nvrtc amdahl-plan RUNTIME DESTINATION libexec/amdahl COMPONENT program
                                                       LIBRARY DESTINATION libexec/amdahl COMPONENT program)
if(AMDAHL_WHEEL)
  include(cmake/wheel.cmake)
endif()

# The manual page and completions are written by a small program that knows the option tables.
add_executable(amdahl-manual cli/manual_main.cc)
target_link_libraries(amdahl-manual amdahl_cli)
function(write_manual form out)
  add_custom_command(OUTPUT ${out} COMMAND amdahl-manual ${form} ${out} DEPENDS amdahl-manual VERBATIM)
endfunction()
set(MANUAL ${CMAKE_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${MANUAL})
write_manual(man ${MANUAL}/amdahl.1)
write_manual(bash ${MANUAL}/amdahl)
write_manual(zsh ${MANUAL}/_amdahl)
# Debian's rules want it compressed; -n leaves the date out, so that equal sources make equal files.
add_custom_command(OUTPUT ${MANUAL}/amdahl.1.gz COMMAND gzip -9nkf ${MANUAL}/amdahl.1 DEPENDS ${MANUAL}/amdahl.1 VERBATIM)
add_custom_target(manual ALL DEPENDS ${MANUAL}/amdahl.1.gz ${MANUAL}/amdahl ${MANUAL}/_amdahl)
install(FILES ${MANUAL}/amdahl.1.gz DESTINATION share/man/man1)
install(FILES ${MANUAL}/amdahl DESTINATION share/bash-completion/completions)
install(FILES ${MANUAL}/_amdahl DESTINATION share/zsh/vendor-completions)
install(FILES cmake/copyright DESTINATION share/doc/amdahl COMPONENT program)
install(FILES README.md DESTINATION share/doc/amdahl)
install(DIRECTORY docs/ DESTINATION share/doc/amdahl/docs)

# Debian has Vega as a package, which ours asks for; an installation under another prefix takes a copy along.
option(AMDAHL_INSTALL_VEGA "Install a copy of Vega, for the plots of the report" ON)
set(VEGA_FOLDER /usr/share/javascript/vega)
if(AMDAHL_INSTALL_VEGA AND EXISTS ${VEGA_FOLDER})
  install(DIRECTORY ${VEGA_FOLDER}/ DESTINATION share/amdahl/vega COMPONENT program FILES_MATCHING PATTERN "vega-*.min.js")
  if(EXISTS /usr/share/doc/libjs-vega/copyright)
    install(FILES /usr/share/doc/libjs-vega/copyright DESTINATION share/amdahl/vega COMPONENT program)
  endif()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME amdahl)
set(CPACK_PACKAGE_VENDOR amdahl)
set(CPACK_PACKAGE_CONTACT "the authors of amdahl <amdahl@localhost>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "makes a neural network run faster on this machine, and proves it")
set(CPACK_PACKAGE_DESCRIPTION "Measures where the time of an ONNX model goes, tries other kernels for what is worth it,
keeps those that are proven faster and right, and hands over the result as source.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Kernels are compiled while it tunes: one compiler is needed, the rest makes it better.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "g++")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libjs-vega")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, ninja-build")
include(CPack)

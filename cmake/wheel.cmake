# The programs of the wheel (pyproject.toml) bring the shared libraries along that a plain system lacks: neither a build tree nor a package of Debian's is
# asked for where it is installed. They lie below libexec/amdahl, the one folder that confined compilers may read (starter_kernels/toolchain).
#
# DT_RPATH, not DT_RUNPATH: it holds for the libraries of libraries too, and goes before LD_LIBRARY_PATH, which in an environment of Python's is often another's.
foreach(program amdahl amdahl-worker amdahl-nvrtc)
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
endforeach()
set_target_properties(amdahl PROPERTIES INSTALL_RPATH "$ORIGIN/../libexec/amdahl/lib")

install(CODE "set(PROGRAMS \"$<TARGET_FILE:amdahl>;$<TARGET_FILE:amdahl-worker>;$<TARGET_FILE:amdahl-nvrtc>\")" COMPONENT program)
install(SCRIPT cmake/install_libraries.cmake COMPONENT program)

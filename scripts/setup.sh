# Sourced by ./amdahl and ./check: installs what is missing and builds. Needs bash and coreutils only.
# Everything it says goes to stderr: stdout belongs to the program.

cd "$ROOT" || exit 11
BUILD=$ROOT/build
SOURCES=(CMakeLists.txt cmake scripts base graph starter_kernels plan profiler playbook experiments tuner export cli)

say() { printf 'amdahl: %s\n' "$*" >&2; }
die() { say "$*"; exit 11; }

# missing_packages program|test: the rows of packages.txt that are not installed.
missing_packages() {
  local name who why
  while read -r name who why; do
    [[ -z $name || $name == \#* ]] && continue
    [[ $who == program || $who == "$1" ]] || continue
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || printf '%s %s\n' "$name" "$why"
  done <scripts/packages.txt
}

# install_missing program|test
install_missing() {
  if ! command -v dpkg-query >/dev/null; then
    say "this is not Debian: the packages of scripts/packages.txt must be there under your system's names"
    return
  fi
  local rows
  rows=$(missing_packages "$1")
  [[ -z $rows ]] && return
  local names=() name why
  say "these Debian packages are missing:"
  while read -r name why; do
    names+=("$name")
    printf '  %-29s %s\n' "$name" "$why" >&2
  done <<<"$rows"
  if [[ $NO_INSTALL ]]; then
    die "--no-install: install them yourself: apt-get install --no-install-recommends ${names[*]}"
  fi
  local as_root=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || die "not root and no sudo: ask an administrator for apt-get install ${names[*]}"
    as_root=(sudo)
  fi
  mkdir -p "$BUILD" || die "cannot write $BUILD"
  local log=$BUILD/install.log
  say "installing them with apt-get (log: build/install.log)"
  export DEBIAN_FRONTEND=noninteractive
  { "${as_root[@]}" apt-get update && "${as_root[@]}" apt-get install -y --no-install-recommends "${names[@]}"; } \
    >"$log" 2>&1 </dev/null || { tail -n 15 "$log" >&2; die "apt-get failed; build/install.log has all it said"; }
}

# What a finished build was made from. A checkout changes the commit, an edit changes a time stamp.
commit() { git rev-parse HEAD 2>/dev/null || echo none; }

# up_to_date STAMP FOLDER…
up_to_date() {
  local stamp=$1
  shift
  [[ -f $stamp && $(<"$stamp") == "$(commit)" && -z $(find "$@" -newer "$stamp" -print -quit 2>/dev/null) ]]
}

# build program|test|quick TARGET…: configures where needed, builds, leaves a stamp.
build() {
  local who=$1 stamp=$BUILD/.built-$1 log=$BUILD/build.log
  shift
  mkdir -p "$BUILD" || die "cannot write $BUILD"
  exec 9>"$BUILD/.lock"
  flock 9  # one build at a time; a second call waits and finds it done
  local now
  now=$(commit)
  printf '%s' "$now" >"$stamp.new"  # dated before the build: an edit during it is newer than the stamp
  local options=()
  [[ $who != program ]] && options=(-DAMDAHL_TESTS=ON)
  [[ $who == program && ! -f $BUILD/CMakeCache.txt ]] && options=(-DAMDAHL_TESTS=OFF)
  if [[ ! -f $BUILD/build.ninja || ${#options[@]} -gt 0 ]]; then
    cmake -S . -B "$BUILD" -G Ninja -DCMAKE_BUILD_TYPE=Release "${options[@]}" >"$log" 2>&1 ||
      { tail -n 20 "$log" >&2; die "cmake failed; build/build.log has all it said"; }
  fi
  if [[ -t 2 ]]; then
    ninja -C "$BUILD" "$@" >&2 || die "the build failed (see above)"
  else
    say "building (the first time takes some minutes; log: build/build.log)"
    ninja -C "$BUILD" "$@" >"$log" 2>&1 || { grep -E -m 20 'error|FAILED' "$log" >&2; die "the build failed; build/build.log has all it said"; }
  fi
  mv "$stamp.new" "$stamp"
  exec 9>&-
}

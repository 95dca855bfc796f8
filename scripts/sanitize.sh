# Sourced by ./check --sanitize: builds the tests with sanitizers (CMakePresets.json) and runs those that say something about
# this program's own code. Left out: what compiles hundreds of kernels or measures, and what runs the worker under seccomp,
# which knows nothing of a sanitizer's system calls: what judges candidates runs with the plain build's worker. Kernels are compiled by the
# program as always, without sanitizers.

# sanitized PRESET PROGRAM FILTER: runs one test program, adds to passed and failed.
sanitized() {
  local preset=$1 program=$2 filter=$3 start=$SECONDS
  local results=$ROOT/build-$preset/test-results/$program.xml
  "build-$preset/tests/${4:-}$program" --gtest_brief=1 --gtest_filter="$filter" --gtest_output="xml:$results"
  local status=$?
  if [[ ! -f $results ]]; then
    echo "$preset: $program did not finish"
    failed=$((failed + 1))
    return
  fi
  local bad skip
  bad=$(($(attribute "$results" failures) + $(attribute "$results" errors)))
  skip=$(grep -c 'result="skipped"' "$results")
  ((status != 0 && bad == 0)) && bad=1  # a leak is found when the tests are over
  passed=$((passed + $(attribute "$results" tests) - $(attribute "$results" disabled) - bad - skip))
  failed=$((failed + bad))
  printf '%s: %s, %d s\n' "$preset" "$program" $((SECONDS - start))
}

# build_sanitized PRESET TARGET…
build_sanitized() {
  local preset=$1 start=$SECONDS
  shift
  mkdir -p "build-$preset"
  { cmake --preset "$preset" && ninja -C "build-$preset" "$@"; } >"build-$preset/build.log" 2>&1 ||
    { grep -E -m 20 'error|FAILED' "build-$preset/build.log" >&2; die "the build failed; build-$preset/build.log has all it said"; }
  rm -rf "build-$preset/test-results" && mkdir -p "build-$preset/test-results"
  printf '%s: built in %d s\n' "$preset" $((SECONDS - start))
}

check_sanitized() {
  passed=0 failed=0
  ulimit -c 0
  export UBSAN_OPTIONS=print_stacktrace=1

  build_sanitized asan base_test graph_test starter_kernels_test plan_test profiler_test experiments_test tuner_test exploits_test cli_test fuzz_test house_test
  sanitized asan base_test '*'
  sanitized asan graph_test '*'
  sanitized asan starter_kernels_test '*'
  sanitized asan plan_test '-Kinds/*:OnnxConformance*:ConvAlgorithms*'
  sanitized asan profiler_test '-CeilingsCache*:CeilingLoops*'
  sanitized asan experiments_test '*'
  sanitized asan tuner_test 'SignTest*:Estimate*:Contradicts*:Loop*:Options*:Builder*'
  # What lives between a supervisor and its workers: references, judges, benches of windows, mappings.
  build program amdahl amdahl-worker
  export AMDAHL_WORKER=$BUILD/amdahl-worker
  sanitized asan tuner_test 'Rewrites.*IsJudgedByWhatItDeclares:BoundProgram*:InputSource*:HostArena*:*EveryBackend*:ShareDifferent*:Headline*'
  sanitized asan exploits_test '*Controls*:*Strassen*:*Winograd*:*07*:*37b*:*39b*-*Distant*'
  unset AMDAHL_WORKER
  sanitized asan cli_test 'BadInput*:CommandLine*:ModelOptions*'
  sanitized asan fuzz_test '*' fuzz/
  sanitized asan house_test '*'

  # GCC's OpenMP runtime is not built with ThreadSanitizer, which so cannot see its barriers and reports races that are none:
  # one OpenMP thread. What is covered is every thread that the program starts itself.
  export OMP_NUM_THREADS=1
  build_sanitized tsan plan_test experiments_test tuner_test
  sanitized tsan plan_test 'SeveralThreads*:BlockedLayoutOfPooling*:Reorder*:Program*'
  sanitized tsan experiments_test '*'
  sanitized tsan tuner_test 'Builder*:Loop*'
  echo "$passed passed, $failed failed"
  ((failed == 0))
}

# `--target tests` builds all test programs, `--target optimised_tests` those that `make test` also runs with optimised
# code; it runs the others under the sanitizers only.
add_custom_target(tests)
add_custom_target(optimised_tests)

# add_optimised_tests(TARGET...): adds programs and plugins to both targets.
function(add_optimised_tests)
  add_dependencies(tests ${ARGN})
  add_dependencies(optimised_tests ${ARGN})
endfunction()

# add_test_program(NAME SOURCE...): a program of GoogleTest cases. ctest runs it in two parts: a process for each case would
# take longer to start than most cases run.
function(add_test_program name)
  find_package(GTest REQUIRED)
  find_package(Threads REQUIRED)
  add_executable(${name} EXCLUDE_FROM_ALL ${ARGN})
  add_dependencies(tests ${name})
  # Optimising the tests themselves takes longer than running them.
  target_compile_options(${name} PRIVATE -O0)
  precompile_standard_headers(${name} <gtest/gtest.h>)
  # GoogleTest's main() is unused if there is another one.
  target_link_libraries(${name} PRIVATE GTest::gtest_main Threads::Threads ${CMAKE_DL_LIBS})
  foreach(part 0 1)
    add_test(NAME ${name}_${part} COMMAND ${name})
    set_tests_properties(${name}_${part} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=${part};GTEST_BRIEF=1")
  endforeach()
endfunction()

# add_test_program(NAME SOURCE...): a program of GoogleTest cases. `--target tests` builds it, ctest runs its cases.

function(add_test_program name)
  find_package(GTest REQUIRED)
  find_package(Threads REQUIRED)
  include(GoogleTest)
  add_executable(${name} EXCLUDE_FROM_ALL ${ARGN})
  add_dependencies(tests ${name})
  # Optimising the tests themselves takes longer than running them.
  set(optimisation -O1)
  if(ONEFLOW_SANITIZE)
    set(optimisation -O0)
  endif()
  target_compile_options(${name} PRIVATE ${optimisation})
  precompile_standard_headers(${name} <gtest/gtest.h>)
  # GoogleTest's main() is unused if there is another one.
  target_link_libraries(${name} PRIVATE GTest::gtest_main Threads::Threads ${CMAKE_DL_LIBS})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
endfunction()

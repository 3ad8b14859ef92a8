# Installs commnet into an empty folder, moves that, and builds a program with the CMake package and with pkg-config.
# Run by ctest with BUILD, SCRATCH, LIBDIR, SHARED, C_COMPILER, CXX_COMPILER and PKG_CONFIG.

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(moved "${SCRATCH}/moved")
file(REMOVE_RECURSE "${SCRATCH}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${SCRATCH}/installed")
file(RENAME "${SCRATCH}/installed" "${moved}")
set(ENV{LD_LIBRARY_PATH} "${moved}/${LIBDIR}")

run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/consumer" -B "${SCRATCH}/by-cmake" "-DCMAKE_PREFIX_PATH=${moved}"
    "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}")
run("${CMAKE_COMMAND}" --build "${SCRATCH}/by-cmake")
run("${SCRATCH}/by-cmake/consumer-c")
run("${SCRATCH}/by-cmake/consumer-cpp")

set(ENV{PKG_CONFIG_PATH} "${moved}/${LIBDIR}/pkgconfig")
if(NOT SHARED)
  set(static --static)
endif()
execute_process(COMMAND "${PKG_CONFIG}" --cflags --libs ${static} commnet OUTPUT_VARIABLE options COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(options UNIX_COMMAND "${options}")
run("${C_COMPILER}" -std=c99 -Wall -Wextra -Wpedantic -Werror "${CMAKE_CURRENT_LIST_DIR}/consumer/consumer.c" ${options} -o "${SCRATCH}/by-pkg-config")
run("${SCRATCH}/by-pkg-config")

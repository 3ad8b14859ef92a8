# Compiler settings for the whole project.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Of a front end's extension, others see the functions that its language looks for.
string(APPEND CMAKE_MODULE_LINKER_FLAGS " -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/no_cpp.map")

# Relative run paths, so that libraries find each other in the build folder and in any installation folder.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN")

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The settings that ccache needs for precompiled headers.
  set(CMAKE_C_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>")
endif()

# precompile_standard_headers(TARGET [HEADER...]): compiles headers of the standard library, and others that are given, once
# for all sources of a target. To read them takes as long as to compile what most sources hold themselves.
function(precompile_standard_headers target)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <charconv> <cmath> <cstring> <deque> <functional>
    <map> <memory> <mutex> <optional> <set> <span> <string> <unordered_map> <utility> <vector> ${ARGN})
endfunction()

add_compile_options(-Wall -Wextra)

set(ONEFLOW_SANITIZE "" CACHE STRING "Sanitizers to build with, as in -fsanitize=: address,undefined")
option(ONEFLOW_SANITIZE_POINTERS "Let UndefinedBehaviorSanitizer check pointers before each access" OFF)
if(ONEFLOW_SANITIZE)
  # A C caller may pass any number as an enumerator, and the library reads it in order to reject it.
  set(unchecked enum)
  # These checks take a third of the compilation. AddressSanitizer finds most of what they would.
  if(NOT ONEFLOW_SANITIZE_POINTERS)
    string(APPEND unchecked ",null,alignment,object-size,pointer-overflow,vptr")
  endif()
  add_compile_options(-fsanitize=${ONEFLOW_SANITIZE} -fno-sanitize=${unchecked} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g1 -Og) # compiles faster than -O3, and keeps stack traces readable
  add_link_options(-fsanitize=${ONEFLOW_SANITIZE})
  set(small_code "")
else()
  # For sources without loops over elements, which small code serves best.
  set(small_code "$<$<CONFIG:Release>:-Os>")
  # GCC would copy memory by an instruction that is much slower than memcpy at times.
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-mstringop-strategy=libcall ONEFLOW_HAS_STRINGOP_STRATEGY)
  if(ONEFLOW_HAS_STRINGOP_STRATEGY)
    list(APPEND small_code -mstringop-strategy=libcall)
  endif()
endif()

# add_merged_library(NAME OBJECTS TARGET... LIBRARIES TARGET... FILES ARCHIVE...): a static library of object libraries, and
# of all that is in other static libraries, so that programs link just one. A file that is a shared library is linked by
# the programs, as is a shared SLEEF.

function(add_merged_library name)
  cmake_parse_arguments(PARSE_ARGV 1 merged "" "" "OBJECTS;LIBRARIES;FILES")
  list(TRANSFORM merged_OBJECTS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_library(${name} STATIC ${merged_OBJECTS})
  add_dependencies(${name} ${merged_LIBRARIES})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  set(shared "")
  set(script "open $<TARGET_FILE:${name}>\n")
  foreach(library IN LISTS merged_LIBRARIES)
    string(APPEND script "addlib $<TARGET_FILE:${library}>\n")
  endforeach()
  foreach(file IN LISTS merged_FILES)
    if(file MATCHES "\\.a$")
      string(APPEND script "addlib ${file}\n")
    else()
      list(APPEND shared "${file}")
    endif()
  endforeach()
  if(SLEEF_FILE)
    list(APPEND shared "-l:${SLEEF_FILE}")
  endif()
  file(GENERATE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${name}.mri" CONTENT "${script}save\nend\n")
  add_custom_command(TARGET ${name} POST_BUILD COMMAND "${CMAKE_AR}" -M < "${CMAKE_CURRENT_BINARY_DIR}/${name}.mri"
                     COMMAND "${CMAKE_RANLIB}" "$<TARGET_FILE:${name}>" VERBATIM)
  target_link_directories(${name} INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_LIBDIR}>")
  target_link_libraries(${name} INTERFACE -Wl,--gc-sections -Wl,--push-state,--as-needed ${shared} -Wl,--pop-state
                        -lstdc++ -lm -lpthread -ldl)
endfunction()

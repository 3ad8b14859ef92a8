# The headers that packages for other languages contain, so that their users can compile extensions: those of the C API,
# and that of the language, in a folder `include` of the binding.

# Installs all of them into a folder of a component.
function(install_headers destination component)
  foreach(folder IN ITEMS ${ONEFLOW_INCLUDE_DIRS} ${ARGN})
    install(DIRECTORY "${folder}/oneflow" DESTINATION "${destination}" COMPONENT ${component} EXCLUDE_FROM_ALL
            FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
  endforeach()
endfunction()

# Links all of them into a folder, as a package in the build folder has it.
function(link_headers destination)
  file(MAKE_DIRECTORY "${destination}/oneflow")
  foreach(folder IN ITEMS ${ONEFLOW_INCLUDE_DIRS} ${ARGN})
    file(GLOB headers CONFIGURE_DEPENDS "${folder}/oneflow/*.h" "${folder}/oneflow/*.hpp")
    foreach(header IN LISTS headers)
      get_filename_component(name "${header}" NAME)
      file(CREATE_LINK "${header}" "${destination}/oneflow/${name}" SYMBOLIC)
    endforeach()
  endforeach()
endfunction()

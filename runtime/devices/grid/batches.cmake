# combine_sources(OUT ENDING COUNT FILE...): sets OUT to sources that each include COUNT of the files.
#
# The headers of kernels take most of the time to compile a small file. A generated file has a namespace of its own, so that
# it can be compiled together with others.
function(combine_sources out ending count)
  set(files ${ARGN})
  set(combined "")
  while(files)
    list(SUBLIST files 0 ${count} batch)
    list(REMOVE_ITEM files ${batch})
    list(GET batch 0 first)
    get_filename_component(first "${first}" NAME_WE)
    list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"" OUTPUT_VARIABLE includes)
    list(JOIN includes "\n" includes)
    file(CONFIGURE OUTPUT "combined/${first}.${ending}" CONTENT "${includes}\n" @ONLY)
    list(APPEND combined "${CMAKE_CURRENT_BINARY_DIR}/combined/${first}.${ending}")
  endwhile()
  set(${out} "${combined}" PARENT_SCOPE)
endfunction()

# Builds the vignettes with the package in LIBRARY and installs it again with them, over objects that are there already.
#   cmake -DRSCRIPT=Rscript -DR=R -DSOURCE=build/r/source -DLIBRARY=build/r/library -DPREFIX=build/r/prefix -P vignettes.cmake
set(ENV{R_LIBS} ${LIBRARY})
set(ENV{SHEAF_HOME} ${PREFIX})
set(ENV{MAKEFLAGS} "")
execute_process(COMMAND ${RSCRIPT} --vanilla -e "for (p in c('knitr', 'rmarkdown')) loadNamespace(p); stopifnot(rmarkdown::pandoc_available())"
  RESULT_VARIABLE found OUTPUT_QUIET ERROR_QUIET)
if(NOT found EQUAL 0)
  message("The R package is installed without its vignettes: they need knitr, rmarkdown and pandoc (scripts/setup.sh r)")
  return()
endif()
execute_process(COMMAND ${RSCRIPT} --vanilla -e "tools::buildVignettes(dir = '${SOURCE}', tangle = TRUE, quiet = TRUE)"
  COMMAND_ERROR_IS_FATAL ANY)
file(GLOB made ${SOURCE}/vignettes/*.Rmd ${SOURCE}/vignettes/*.R ${SOURCE}/vignettes/*.html)
file(REMOVE_RECURSE ${SOURCE}/inst/doc)
file(COPY ${made} DESTINATION ${SOURCE}/inst/doc)
execute_process(COMMAND ${R} CMD INSTALL --no-test-load --library=${LIBRARY} ${SOURCE} COMMAND_ERROR_IS_FATAL ANY
  OUTPUT_QUIET ERROR_QUIET)

# Copies the package to where R builds it. Times stay as they are, so that R compiles only what has changed.
#   cmake -DFROM=r -DTO=build/r/source -P copy.cmake
file(REMOVE_RECURSE ${TO}/R ${TO}/man ${TO}/tests ${TO}/vignettes ${TO}/inst)
file(COPY ${FROM}/ DESTINATION ${TO} PATTERN "*.o" EXCLUDE PATTERN "*.so" EXCLUDE)

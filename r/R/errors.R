# Conditions. What a user can cause is of class sheaf_error; where an argument is known to be wrong, its element
# `argument` names it.

sheaf_condition <- function(message, argument = NULL) {
  kinds <- c(if (!is.null(argument)) "sheaf_argument_error", "sheaf_error", "error", "condition")
  structure(class = kinds, list(message = message, call = NULL, argument = argument))
}

stop_argument <- function(argument, ...) {
  stop(sheaf_condition(paste0("argument '", argument, "': ", ...), argument))
}

stop_sheaf <- function(...) stop(sheaf_condition(paste0(...)))

# Calls the compiled part; its errors become conditions of this package.
core <- function(expr) {
  tryCatch(expr, `C++Error` = function(error) {
    text <- as_arguments(conditionMessage(error))
    named <- regmatches(text, regexec("^argument '([^']+)'", text))[[1]]
    stop(sheaf_condition(text, if (length(named) == 2) named[2]))
  })
}

# The library speaks of flags of its command line where R has arguments.
as_arguments <- function(text) {
  text <- gsub("--([a-z][a-z0-9-]*) (?!with |if )([-+.0-9e]+|[a-z][a-z-]*)", "\\1 = \\2", text, perl = TRUE)
  gsub("--([a-z][a-z0-9-]*)", "\\1", text)
}

warn_each <- function(messages) {
  for (message in messages) warning(as_arguments(message), call. = FALSE)
}

# The one of `choices` that was given, or that stands for a function's default vector of them.
one_of <- function(value, choices, argument) {
  if (identical(value, choices)) return(choices[1])
  if (!is.character(value) || length(value) != 1 || is.na(value)) {
    stop_argument(argument, "must be one of ", paste0("\"", choices, "\"", collapse = ", "))
  }
  place <- pmatch(value, choices)
  if (is.na(place)) {
    stop_argument(argument, "is \"", value, "\"; known are ", paste0("\"", choices, "\"", collapse = ", "))
  }
  choices[place]
}

one_number <- function(value, argument, low = -Inf, high = Inf) {
  if (!is.numeric(value) || length(value) != 1 || is.na(value) || value < low || value > high) {
    range <- if (is.finite(high)) paste(" from", low, "to", high) else if (is.finite(low)) paste(" of", low, "or more")
    stop_argument(argument, "must be a number", range)
  }
  value
}

one_flag <- function(value, argument) {
  if (!is.logical(value) || length(value) != 1 || is.na(value)) stop_argument(argument, "must be TRUE or FALSE")
  value
}

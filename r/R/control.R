#' Where and how to work
#'
#' The surroundings of a call, for the argument `control` of all functions that train or predict. A plain list of the
#' same elements will do as well.
#'
#' @param device `"cpu"`, `"cuda"`, `"cuda:1"` and so on, or `"auto"`: a GPU where the work is large enough for one. A
#'   GPU that is not there is an error; see [sheaf_devices()].
#' @param threads number of CPU threads; `NULL`: the option `sheaf.threads`, else all cores. Results do not depend on
#'   it.
#' @param memory memory that the work may use, such as `"2G"`; `NULL`: 80 % of what is free.
#' @param precision `"double"` or `"float"`, the type of numbers in the data.
#' @param progress whether to show how far the work is; `NULL`: in interactive sessions, where package cli is there.
#'   A function of the stage, the units done and the units in all is called about ten times a second.
#' @return A list of class `sheaf_control`.
#' @examples
#' sheaf_glm(Species ~ Petal.Length, data = iris, alpha = 0.01, control = list(threads = 1))
#' @export
sheaf_control <- function(device = "auto", threads = NULL, memory = NULL, precision = c("double", "float"),
                          progress = NULL) {
  precision <- one_of(precision, c("double", "float"), "precision")
  threads <- if (is.null(threads)) getOption("sheaf.threads") else threads
  settings <- rbind(setting("device", device), setting("threads", threads), setting("memory", memory),
                    setting("precision", precision))
  structure(class = "sheaf_control", list(settings = settings, progress = reporter(progress)))
}

#' @export
print.sheaf_control <- function(x, ...) {
  values <- stats::setNames(x$settings[, 2], x$settings[, 1])
  shown <- c(device = "auto", threads = "all cores", memory = "80 % of what is free", precision = "double")
  shown[names(values)] <- values
  shown["progress"] <- if (is.null(x$progress)) "not shown" else "shown"
  cat("Where and how to work:\n", paste0("  ", format(names(shown)), "  ", shown, "\n"), sep = "")
  invisible(x)
}

#' Devices that work can be done on
#'
#' @return A data frame with a row for the CPU and for each GPU, or for why there is none.
#' @examples
#' sheaf_devices()
#' @export
sheaf_devices <- function() core_devices()

# NULL, or a function of a stage, units done and units in all.
reporter <- function(progress) {
  if (is.function(progress)) return(progress)
  shown <- if (is.null(progress)) interactive() else one_flag(progress, "progress")
  if (!shown || !requireNamespace("cli", quietly = TRUE)) return(NULL)
  bar <- NULL
  stage_now <- NULL
  frame <- new.env()
  function(stage, done, total) {
    if (!nzchar(stage)) return(NULL)
    if (!identical(stage, stage_now)) {
      if (!is.null(bar)) cli::cli_progress_done(id = bar, .envir = frame)
      bar <<- cli::cli_progress_bar(stage, total = if (total > 0) total else NA, .envir = frame)
      stage_now <<- stage
    }
    cli::cli_progress_update(set = done, id = bar, .envir = frame)
    NULL
  }
}

as_control <- function(control, seed = NULL) {
  if (!inherits(control, "sheaf_control")) {
    if (!is.list(control)) stop_argument("control", "must be a list or what sheaf_control() returns")
    unknown <- setdiff(names(control), names(formals(sheaf_control)))
    if (length(unknown) > 0) {
      stop_argument("control", "has no element '", unknown[1], "'; known are ",
                    paste(names(formals(sheaf_control)), collapse = ", "))
    }
    control <- do.call(sheaf_control, control)
  }
  control$settings <- rbind(control$settings, setting("seed", seed))
  control
}

# Drawn once from R's generator, or the user's own.
draw_seed <- function(seed) {
  if (is.null(seed)) return(sample.int(.Machine$integer.max, 1L))
  one_number(seed, "seed", 0)
}

# A row of the table of settings: an option of the C++ library as text, and the argument that it comes from. Nothing
# where the value is NULL, so that the library's default holds.
setting <- function(option, value, argument = option) {
  if (is.null(value)) return(no_settings())
  text <- if (is.logical(value)) c("no", "yes")[value + 1L] else if (is.numeric(value)) number_text(value) else value
  if (length(text) != 1) text <- paste(text, collapse = ",")
  if (anyNA(value) || length(value) == 0) stop_argument(argument, "is missing (NA) or empty")
  row <- c(option, as.character(text), argument)
  dim(row) <- c(1L, 3L)
  row
}

none <- matrix(character(), nrow = 0, ncol = 3)
no_settings <- function() none

# To the last bit; whole numbers as such, for options that take no others.
number_text <- function(value) {
  whole <- is.finite(value) & value == round(value) & abs(value) < 2^53
  if (all(whole)) sprintf("%.0f", value) else ifelse(whole, sprintf("%.0f", value), sprintf("%.17g", value))
}

# Settings of a named list, whose names are those of the parameter table with '_' or '.' for '-'.
settings_of <- function(values, argument) {
  if (length(values) == 0) return(no_settings())
  if (is.null(names(values)) || any(!nzchar(names(values)))) {
    stop_argument(argument, "must have a name for each element")
  }
  rows <- lapply(names(values), function(name) setting(gsub("[._]", "-", name), values[[name]], name))
  do.call(rbind, rows)
}

# One setting for each class: factors of the rows of a class, by name.
class_weight_settings <- function(weights, levels, argument) {
  if (is.null(weights)) return(no_settings())
  if (is.character(weights)) {
    if (!identical(unname(weights), "balanced")) {
      stop_argument(argument, "must be numbers named by class, or \"balanced\"")
    }
    return(setting("class-weight", "balanced", argument))
  }
  if (!is.numeric(weights) || is.null(names(weights))) stop_argument(argument, "must be numbers named by class")
  unknown <- setdiff(names(weights), levels)
  if (length(unknown) > 0) stop_argument(argument, "there is no class '", unknown[1], "'")
  rows <- lapply(names(weights), function(name) {
    setting("class-weight", paste0(name, "=", number_text(weights[[name]])), argument)
  })
  do.call(rbind, rows)
}

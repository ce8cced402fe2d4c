#' Read a dataset
#'
#' Reads the formats that Sheaf's program reads: LIBSVM, CSV, ARFF and others, compressed (gz, xz, zst) or not, by all
#' cores.
#'
#' @param file its path.
#' @param control see [sheaf_control()].
#' @return A list of `x`, a matrix or (of sparse files) a `dgCMatrix`, and `y`, a factor, numbers or `NULL`. It is
#'   printed as a summary.
#' @examples
#' file <- tempfile(fileext = ".libsvm")
#' writeLines(c("+1 1:0.5 3:2", "-1 2:1", "+1 3:1.5"), file)
#' sheaf_read(file)
#' @export
sheaf_read <- function(file, control = list()) {
  if (!is.character(file) || length(file) != 1 || is.na(file)) stop_argument("file", "must be a path")
  found <- core(core_read(as_control(control), path.expand(file)))
  names <- list(NULL, if (length(found$names) > 0) found$names)
  if (is.null(found$dense)) {
    x <- sparse_columns(found$i, found$p, found$x, as.integer(c(found$rows, found$columns)), names)
  } else {
    x <- found$dense
    dimnames(x) <- names
  }
  y <- if (!is.null(found$levels)) factor(found$levels[found$classes], levels = sorted_levels(found$levels))
  structure(list(x = x, y = if (is.null(y)) found$numbers else y), class = "sheaf_data")
}

#' @export
print.sheaf_data <- function(x, ...) {
  cells <- as.double(nrow(x$x)) * ncol(x$x)
  cat("A dataset of ", nrow(x$x), " rows and ", ncol(x$x), " columns", sep = "")
  if (isS4(x$x)) {
    cat(", sparse: ", format(100 * length(x$x@x) / max(cells, 1), digits = 3), " % of values are kept", sep = "")
  }
  cat("\n  x: ", few_of(feature_names(x$x)), "\n", sep = "")
  if (is.null(x$y)) {
    cat("  y: none\n")
  } else if (is.factor(x$y)) {
    counts <- table(x$y)
    cat("  y: ", nlevels(x$y), " classes: ", few_of(paste0(names(counts), " (", counts, ")")), "\n", sep = "")
  } else {
    cat("  y: numbers from ", format(min(x$y)), " to ", format(max(x$y)), ", mean ", format(mean(x$y)), "\n", sep = "")
  }
  invisible(x)
}

# The first of many words.
few_of <- function(words, most = 6) {
  paste0(paste(utils::head(words, most), collapse = ", "), if (length(words) > most) ", ...")
}

# Numbers by value, other names by the alphabet.
sorted_levels <- function(levels) {
  numbers <- suppressWarnings(as.numeric(levels))
  if (anyNA(numbers)) sort(levels) else levels[order(numbers)]
}

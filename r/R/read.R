#' Read a dataset
#'
#' Reads the formats that Sheaf's program reads: LIBSVM, CSV, ARFF and others, compressed (gz, xz, zst) or not, by all
#' cores.
#'
#' @param file its path.
#' @param control see [sheaf_control()].
#' @return A list of `x`, a matrix or (of sparse files) a `dgCMatrix`, and `y`, a factor, numbers or `NULL`.
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
    x <- sparse_columns(found$i, found$p, found$x, c(found$rows, found$columns), names)
  } else {
    x <- found$dense
    dimnames(x) <- names
  }
  y <- if (!is.null(found$levels)) factor(found$levels[found$classes], levels = sorted_levels(found$levels))
  list(x = x, y = if (is.null(y)) found$numbers else y)
}

# Numbers by value, other names by the alphabet.
sorted_levels <- function(levels) {
  numbers <- suppressWarnings(as.numeric(levels))
  if (anyNA(numbers)) sort(levels) else levels[order(numbers)]
}

#' What may mislead in a dataset
#'
#' What the command-line program says before it trains: columns that alone determine the response, codes for missing
#' values, dates as numbers, names that differ in letter case only, columns that never change, rare classes.
#' [sheaf_search()] looks by itself.
#'
#' @param x a matrix, sparse matrix or data frame; factors are features with levels.
#' @param y the response: a factor, numbers, or a `survival::Surv()`.
#' @param control see [sheaf_control()].
#' @return A data frame with a row for each finding: `level` (`"warning"` or `"note"`), `code`, which stays the same
#'   between releases, and `message`.
#' @examples
#' x <- cbind(iris[, 1:4], code = as.integer(iris$Species), year = 1936)
#' sheaf_findings(x, iris$Species)
#' @export
sheaf_findings <- function(x, y, control = list()) {
  x <- as_features(x, nominal = TRUE)
  y <- if (is_survival(y)) read_survival(y, nrow(x)) else as_target(y, nrow(x))
  found <- core(core_findings(as_control(control), x, about_features(x, core_target(y), missing = TRUE)))
  found$message <- vapply(found$message, as_arguments, "", USE.NAMES = FALSE)
  as.data.frame(found)
}

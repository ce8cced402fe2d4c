#' Exact nearest rows
#'
#' @param x a matrix, sparse matrix or data frame of numbers.
#' @param k how many neighbours of each row.
#' @param queries rows whose neighbours are wanted; `NULL`: those of `x`, without themselves.
#' @param metric,power,feature_weights see [sheaf_distances()].
#' @param include_self whether a row of `x` is a neighbour of itself.
#' @param control see [sheaf_control()].
#' @return A list of two matrices with a row for each query and `k` columns: `index`, the row of `x`, nearest first, and
#'   `distance`.
#' @examples
#' sheaf_neighbors(iris[, 1:4], k = 2)$index[1:3, ]
#' @export
sheaf_neighbors <- function(x, k = 5, queries = NULL, metric = "euclidean", power = NULL, feature_weights = NULL,
                            include_self = FALSE, control = list()) {
  x <- as_features(x)
  queries <- if (!is.null(queries)) check_columns(as_features(queries, "queries"), x, "queries")
  settings <- rbind(setting("k", one_number(k, "k", 1)),
                    setting("include-self", one_flag(include_self, "include_self"), "include_self"))
  found <- core(core_neighbors(as_control(control), x, queries, settings, distance_settings(metric, power),
                               check_feature_weights(feature_weights, x)))
  rownames(found$index) <- rownames(found$distance) <- rownames(if (is.null(queries)) x else queries)
  found
}

#' Exact distances between rows
#'
#' @param x a matrix, sparse matrix or data frame of numbers.
#' @param y other rows; `NULL`: those of `x` among themselves.
#' @param metric `"euclidean"`, `"sqeuclidean"`, `"manhattan"`, `"cosine"`, `"correlation"`, `"chebyshev"`,
#'   `"minkowski"`, `"hamming"` or `"jaccard"`.
#' @param power of Minkowski's distance.
#' @param feature_weights one of 0 or more for each column, which multiplies its term.
#' @param control see [sheaf_control()].
#' @return A [stats::dist()] object or, with `y`, a matrix of rows of `x` by rows of `y`.
#' @examples
#' hclust(sheaf_distances(mtcars))
#' sheaf_distances(iris[1:2, 1:4], iris[51:53, 1:4], metric = "manhattan")
#' @export
sheaf_distances <- function(x, y = NULL, metric = "euclidean", power = NULL, feature_weights = NULL, control = list()) {
  call <- match.call()
  x <- as_features(x)
  y <- if (!is.null(y)) check_columns(as_features(y, "y"), x, "y")
  found <- core(core_distances(as_control(control), x, y, distance_settings(metric, power),
                               check_feature_weights(feature_weights, x)))
  if (!is.null(y)) return(matrix(found, nrow(x), nrow(y), dimnames = list(rownames(x), rownames(y))))
  structure(found, Size = nrow(x), Labels = rownames(x), Diag = FALSE, Upper = FALSE, method = metric, call = call,
            class = "dist")
}

distance_settings <- function(metric, power) rbind(setting("metric", metric), setting("power", power))

check_columns <- function(other, x, argument) {
  if (ncol(other) != ncol(x)) stop_argument(argument, "has ", counted(ncol(other), "column"), ", and 'x' has ", ncol(x))
  other
}

check_feature_weights <- function(weights, x) {
  if (is.null(weights)) return(numeric())
  if (!is.numeric(weights) || length(weights) != ncol(x) || anyNA(weights)) {
    stop_argument("feature_weights", "must be one number for each of ", ncol(x), " columns")
  }
  as.double(weights)
}

#' Which features are chosen again and again
#'
#' Rows are divided anew for every resample; on the training rows of each, a model is chosen by cross-validation.
#' Features are reported by the share of resamples whose chosen model has a weight for them, with the stability of the
#' whole choice (Nogueira, Sechidis and Brown 2018). All models of all resamples are trained together.
#'
#' @param x a matrix, sparse matrix or data frame.
#' @param y a factor, numbers, or a `survival::Surv()`.
#' @param model `NULL`: `"elastic-net-logistic"` for a factor, `"elastic-net"` for numbers and survival. Any model that
#'   leaves features out will do, or one with `select` among the steps of `prepare`.
#' @param resamples how often rows are divided.
#' @param test_fraction the share of the rows that each resample holds out.
#' @param folds folds of the cross-validation within a resample.
#' @param min_frequency the least share of resamples that must choose a selected feature.
#' @param permutations how often to repeat the study with permuted labels, for the stability that chance gives; each
#'   takes as long as the study.
#' @param grid,prepare,groups,score,choose,weights,seed,control,... as in [sheaf_search()]; `standardise = TRUE` is the
#'   default of elastic nets here.
#' @return An object of class `sheaf_study`: `features` (a data frame of those that some resample chose: `feature`,
#'   `index`, `frequency`, `median_rank`, `mean_weight` and `sign_agreement`, matrices with a column for each decision
#'   value), `selected` (positions named by feature), `stability` (the estimate and its 95 % interval: 1 if all
#'   resamples choose the same features, 0 if each drew as many at random), `stability_by_chance` (one number for each
#'   permutation: resamples share rows, so that it may be above 0), `outer` (scores on the held-out rows).
#' @examples
#' study <- sheaf_study(as.matrix(mtcars[, -1]), mtcars$mpg, resamples = 10, folds = 3, seed = 1)
#' study
#' @export
sheaf_study <- function(x, y, model = NULL, resamples = 20, test_fraction = 0.2, folds = 5, min_frequency = 0.5,
                        permutations = 0, grid = list(), prepare = list(), groups = NULL, score = NULL, choose = NULL,
                        weights = NULL, seed = NULL, control = list(), ...) {
  call <- match.call()
  options <- list(...)
  classes <- is.factor(y) || is.character(y) || is.logical(y)
  if (is.null(model)) model <- if (classes) "elastic-net-logistic" else "elastic-net"
  is_net <- any(grepl("^(elastic-net|lasso|ridge)", model))
  if (is_net && is.null(options$standardise)) options$standardise <- TRUE
  one_number(resamples, "resamples", 2)
  settings <- rbind(setting("folds", folds), setting("outer", resamples, "resamples"),
                    setting("outer-fraction", test_fraction, "test_fraction"), setting("score", score),
                    setting("choose", choose), setting("min-frequency", min_frequency, "min_frequency"),
                    setting("stability-permutations", permutations, "permutations"))
  found <- run_search(x, y, model, grid, prepare, settings, NULL, groups, weights, seed, control, TRUE, options)
  found$call <- call
  found$resamples <- resamples
  found$min_frequency <- min_frequency
  chosen <- found$features$frequency >= min_frequency
  found$selected <- stats::setNames(found$features$index[chosen], found$features$feature[chosen])
  structure(found, class = "sheaf_study")
}

#' @export
print.sheaf_study <- function(x, ...) {
  cat(x$title, "\n\n", x$resamples, " resamples; ", x$score_title, " on held-out rows ",
      format(mean(x$outer[[x$score]]), digits = 4), "\n", sep = "")
  cat("Stability ", format(x$stability[["estimate"]], digits = 3), " (95 % interval ",
      format(x$stability[["low"]], digits = 3), " to ", format(x$stability[["high"]], digits = 3), ")", sep = "")
  if (length(x$stability_by_chance) > 0) {
    cat("; by chance ", format(mean(x$stability_by_chance), digits = 3), " (mean of ", length(x$stability_by_chance),
        " permutations of the labels)", sep = "")
  }
  cat("\n")
  cat(counted(length(x$selected), "feature"), " chosen by at least ", format(100 * x$min_frequency), " % of the resamples:\n",
      sep = "")
  table <- x$features[x$features$frequency >= x$min_frequency, c("feature", "frequency", "median_rank")]
  print(utils::head(table, 20), row.names = FALSE)
  if (nrow(table) > 20) cat("... and ", nrow(table) - 20, " more\n", sep = "")
  invisible(x)
}

#' Plot a study
#'
#' @param x a [sheaf_study()].
#' @param most how many features to show.
#' @param ... passed on to [graphics::dotchart()].
#' @return Nothing; called for its plot.
#' @examples
#' plot(sheaf_study(as.matrix(mtcars[, -1]), mtcars$mpg, resamples = 10, folds = 3, seed = 1))
#' @export
plot.sheaf_study <- function(x, most = 30, ...) {
  shown <- utils::head(x$features, most)
  graphics::dotchart(rev(shown$frequency), labels = rev(shown$feature), xlim = c(0, 1), pch = 19,
                     xlab = "share of resamples", ...)
  graphics::abline(v = x$min_frequency, lty = 3)
  invisible(x)
}

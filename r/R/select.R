#' Select features by a criterion
#'
#' Greedy selection by mutual information, with the picks of FEAST, or by relief; as the functions of package praznik
#' are used.
#'
#' @param x a matrix, sparse matrix or data frame. Factors keep their levels as states; numbers are binned.
#' @param y a factor; numbers are binned where `target_bins` says into how many bins, else they are taken for classes.
#' @param k how many features.
#' @param criterion a name of [sheaf_criteria()]: `"jmi"`, `"mrmr"`, `"cmim"` and so on.
#' @param bins,binning how numbers become states: how many bins (`NULL`: 1 + log4(rows / classes), rounded down, at
#'   least 3), and `"automatic"`, `"equal-width"`, `"equal-frequency"` or `"mdlp"`. `NULL`: `"equal-width"` with `bins`,
#'   else `"automatic"`, which takes equal frequency for skewed features. Without `bins`, features of the same score are
#'   ordered by how well their values separate the classes, else as FEAST does.
#' @param target_bins bins of a numeric `y`.
#' @param beta,gamma,threshold,neighbours of some criteria.
#' @param criteria,resamples several criteria, or so many bootstrap resamples, whose choices are combined.
#' @param permutations how often to repeat an ensemble with permuted labels, for the stability that chance gives.
#' @param seed of the resamples; `NULL`: drawn from R's generator.
#' @param control see [sheaf_control()].
#' @return A list of class `sheaf_selection`: `selection`, positions of the columns named by feature, best first, and
#'   `score`, as praznik has them; also `relevance` and `redundancy` in bits, `bins` (how many were used) and, of
#'   ensembles, `frequency`, `stability` and `stability_by_chance`, one number for each permutation.
#' @examples
#' sheaf_select(iris[, 1:4], iris$Species, k = 2, bins = 10)
#' @export
sheaf_select <- function(x, y, k = 10, criterion = "jmi", bins = NULL, binning = NULL, target_bins = NULL, beta = NULL,
                         gamma = NULL, threshold = NULL, neighbours = NULL, criteria = NULL, resamples = NULL,
                         permutations = NULL, seed = NULL, control = list()) {
  x <- as_features(x, nominal = TRUE)
  y <- as_target(y, nrow(x))
  if (is.double(y) && is.null(target_bins)) y <- factor(y)
  if (is.factor(y)) y <- need_classes(y)
  one_number(k, "k", 1)
  settings <- rbind(setting("criterion", criterion), setting("count", k, "k"), setting("beta", beta),
                    setting("gamma", gamma), setting("threshold", threshold), setting("neighbours", neighbours))
  states <- rbind(setting("bins", bins), setting("binning", binning),
                  setting("target-bins", target_bins, "target_bins"))
  ensemble <- rbind(setting("criteria", criteria), setting("resamples", resamples),
                    setting("stability-permutations", permutations, "permutations"))
  surroundings <- as_control(control, if (!is.null(resamples)) draw_seed(seed))
  found <- core(core_select(surroundings, x, about_features(x, core_target(y)), settings, states, ensemble))
  names <- feature_names(x)[found$selected]
  named <- function(values) if (length(values) > 0) stats::setNames(values, names)
  result <- list(selection = named(found$selected), score = named(found$scores), relevance = named(found$relevance),
                 redundancy = named(found$redundancy), criterion = criterion,
                  bins = found$bins %||% NA_integer_, notes = found$notes)
  if (length(found$frequency) > 0) {
    result$frequency <- named(found$frequency)
    result$stability <- found$stability
    result$stability_by_chance <- found$chance
  }
  for (note in found$notes) message(as_arguments(note))
  structure(result, class = "sheaf_selection")
}

#' Criteria by which features are selected
#'
#' @return A data frame of `name`, `title` and `help`.
#' @examples
#' sheaf_criteria()[, 1:2]
#' @export
sheaf_criteria <- function() core_criteria()

#' @export
print.sheaf_selection <- function(x, ...) {
  cat("Features selected by ", x$criterion, if (!is.null(x$stability)) paste0(", stability ", format(x$stability)),
      "\n", sep = "")
  table <- data.frame(feature = names(x$selection), column = unname(x$selection), score = unname(x$score),
                      relevance = unname(x$relevance), redundancy = unname(x$redundancy))
  if (!is.null(x$frequency)) table$frequency <- unname(x$frequency)
  print(table)
  invisible(x)
}

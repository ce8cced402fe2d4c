#' Tune a support vector machine by cross-validation
#'
#' As `e1071::tune()` with `svm`: every combination of the ranges is scored on the same folds, and the best one is
#' trained on all rows. All costs, gammas and degrees on all folds are one search, which shares kernel values.
#'
#' @details Folds are dealt as `e1071::tune()` deals them, after the same `set.seed()` alike. Columns are scaled within
#' each fold by standard deviations of its training rows that are divided by n; e1071 divides by n - 1. The response of
#' a regression is scaled by its standard deviation over all rows.
#'
#' @param x a formula, or a matrix, sparse matrix or data frame of features.
#' @param y a factor, or numbers.
#' @param formula,data,subset,na.action as in [stats::lm()].
#' @param ranges a list of values to try of `cost`, `gamma`, `degree`, or of any other argument of [sheaf_svm()] that is
#'   a number or a name, as `e1071::tune()` takes it. `NULL`: the values of these arguments that are given themselves,
#'   as `e1071::tune.svm()` takes them, else costs from 0.1 to 100.
#' @param cross number of folds.
#' @param foldid the fold of each row, in place of `cross`.
#' @param scale whether to scale columns.
#' @param type,kernel,class.weights,weights,control as in [sheaf_svm()].
#' @param ... further arguments of [sheaf_svm()]: without `ranges` values to try, with `ranges` one value for all.
#' @return An object of class `tune_sheaf_svm` with the elements of an e1071 `tune` object: `best.parameters`,
#'   `best.performance`, `performances` (with `error` and `dispersion`), `best.model`, `train.ind`, `sampling`,
#'   `nparcomb`, `method`. The error is the share of wrong classes or the mean squared error.
#' @examples
#' set.seed(1)
#' ranges <- list(cost = c(1, 10), gamma = c(0.05, 0.25))
#' tuned <- tune_sheaf_svm(Species ~ ., data = iris, ranges = ranges)
#' tuned
#' tuned$best.model
#'
#' tune_sheaf_svm(Species ~ ., data = iris, cost = c(1, 10), gamma = c(0.05, 0.25))
#' @export
tune_sheaf_svm <- function(x, ...) UseMethod("tune_sheaf_svm")

#' @rdname tune_sheaf_svm
#' @export
tune_sheaf_svm.formula <- function(formula, data, subset, na.action = stats::na.omit, scale = TRUE, ...) {
  call <- as_generic(match.call(), quote(tune_sheaf_svm))
  parts <- formula_parts(call, parent.frame())
  if (any(parts$from_levels) && isTRUE(scale)) {
    stop_argument("formula", "has factors, whose columns are not to be scaled: give a matrix, or scale = FALSE")
  }
  tuned <- tune_sheaf_svm.default(parts$x, parts$y, scale = scale, ...)
  tuned$call <- call
  tuned$best.model <- with_terms(tuned$best.model, parts)
  tuned$best.model$call <- call
  tuned
}

#' @rdname tune_sheaf_svm
#' @export
tune_sheaf_svm.default <- function(x, y, ranges = NULL, cross = 10, foldid = NULL, scale = TRUE,
                                   type = NULL, kernel = "radial", class.weights = NULL, weights = NULL,
                                   control = list(), ...) {
  call <- as_generic(match.call(), quote(tune_sheaf_svm))
  x <- as_features(x)
  y <- as_target(y, nrow(x))
  type <- svm_type(type, y)
  one_flag(scale, "scale")
  fixed <- list(kernel = kernel, ...)
  if (is.null(ranges)) {
    ranges <- fixed[names(fixed) != "kernel"]
    if (length(kernel) > 1) ranges$kernel <- kernel
    fixed <- fixed["kernel"]
    if (length(ranges) == 0) ranges <- list(cost = 10^(-1:2))
  }
  check_ranges(ranges, fixed)
  grid <- expand.grid(ranges, stringsAsFactors = FALSE, KEEP.OUT.ATTRS = FALSE)
  train <- if (is.null(foldid)) deal_folds(nrow(x), cross) else split_rows(foldid, nrow(x))
  folds <- held_out_fold(train, nrow(x))
  spread <- if (is.double(y) && scale) stats::sd(y) else 1
  target <- if (is.double(y) && scale) (y - mean(y)) / spread else y
  search <- list(x = x, y = target, type = type, folds = check_folds(folds, nrow(x)), scale = scale && is.matrix(x),
                 class.weights = class.weights, weights = check_weights(weights, nrow(x)),
                 control = as_control(control, 0))
  scores <- score_grid(search, grid, fixed) * spread^2
  performances <- cbind(grid, error = rowMeans(scores), dispersion = apply(scores, 1, stats::sd))
  best <- which.min(performances$error)
  parameters <- as.list(grid[best, , drop = FALSE])
  arguments <- c(list(x = x, y = y, scale = scale, type = type, class.weights = class.weights, weights = weights,
                      control = control), utils::modifyList(fixed, parameters))
  model <- do.call(sheaf_svm.default, arguments)
  model$call <- call
  structure(class = "tune_sheaf_svm", list(
    best.parameters = grid[best, , drop = FALSE], best.performance = performances$error[best], method = "sheaf_svm",
    nparcomb = nrow(grid), train.ind = train, sampling = paste0(length(train), "-fold cross validation"),
    performances = performances, best.model = model, call = call
  ))
}

check_ranges <- function(ranges, fixed) {
  if (!is.list(ranges) || length(ranges) == 0 || is.null(names(ranges))) {
    stop_argument("ranges", "must be a list of values named by arguments of sheaf_svm()")
  }
  known <- c("cost", "gamma", "degree", "coef0", "nu", "epsilon", "tolerance", "kernel")
  unknown <- setdiff(c(names(ranges), names(fixed)), known)
  if (length(unknown) > 0) {
    stop_argument(if (unknown[1] %in% names(ranges)) "ranges" else unknown[1], "'", unknown[1],
                  "' is not among ", paste(known, collapse = ", "))
  }
  fixed <- fixed[setdiff(names(fixed), names(ranges))]
  several <- names(fixed)[lengths(fixed) != 1]
  if (length(several) > 0) {
    stop_argument(several[1], "must be one value beside 'ranges'; put the values to try in the list 'ranges'")
  }
}

# The training rows of each fold, as in e1071's tune().
deal_folds <- function(rows, cross) {
  one_number(cross, "cross", 2, rows)
  order <- sample(rows)
  tapply(seq_len(rows), cut(seq_len(rows), breaks = cross), function(places) order[-places], simplify = FALSE)
}

# For each row the fold that holds it out.
held_out_fold <- function(train, rows) {
  folds <- integer(rows)
  for (k in seq_along(train)) folds[-train[[k]]] <- k
  folds
}

split_rows <- function(foldid, rows) {
  folds <- check_folds(foldid, rows)
  lapply(sort(unique(folds)), function(fold) which(folds != fold))
}

# Errors of every row of the grid on every fold. Rows that differ in cost, gamma and degree alone are one search.
score_grid <- function(search, grid, fixed) {
  shared <- intersect(names(grid), c("cost", "gamma", "degree"))
  others <- setdiff(names(grid), shared)
  key <- do.call(paste, c(list(rep("", nrow(grid))), unname(grid[others])))
  scores <- matrix(NA_real_, nrow(grid), max(search$folds) + 1)
  for (one in unique(key)) {
    rows <- which(key == one)
    values <- utils::modifyList(fixed, as.list(grid[rows[1], others, drop = FALSE]))
    scores[rows, ] <- score_part(search, grid[rows, shared, drop = FALSE], values)
  }
  scores
}

score_part <- function(search, grid, values) {
  kernel <- one_of(values$kernel, names(svm_kernels), "kernel")
  axis <- function(name, default) {
    if (name %in% names(grid)) grid[[name]] else rep(values[[name]] %||% default, nrow(grid))
  }
  points <- data.frame(cost = axis("cost", 1))
  if (kernel != "linear") points$gamma <- axis("gamma", 1 / ncol(search$x))
  if (kernel == "polynomial") points$degree <- axis("degree", 3)
  space <- do.call(rbind, lapply(names(points), function(name) setting(name, sort(unique(points[[name]])), name)))
  others <- setdiff(names(values), c("kernel", "cost", "gamma", "degree"))
  settings <- rbind(setting("type", svm_types[[search$type]]), setting("kernel", svm_kernels[[kernel]]),
                    settings_of(values[others], "ranges"),
                    class_weight_settings(search$class.weights, levels(search$y), "class.weights"))
  metric <- if (is.factor(search$y)) "accuracy" else "mean-squared-error"
  found <- core(core_search(search$control, search$x, about_features(search$x, core_target(search$y, FALSE)), "svm",
                            settings, space, rbind(setting("strategy", "grid"), setting("score", metric)),
                            setting("scale", if (search$scale) "standard" else "none"), search$folds,
                            search$weights, FALSE, FALSE))
  warn_each(found$warnings)
  scores <- found$scores[[found$score]]
  if (is.factor(search$y)) scores <- 1 - scores
  match_text <- function(table) do.call(paste, lapply(names(points), function(name) signif(table[[name]], 12)))
  scores[match(match_text(points), match_text(found$points)), , drop = FALSE]
}

#' @export
print.tune_sheaf_svm <- function(x, ...) {
  cat("\nParameter tuning of ", sQuote("sheaf_svm", FALSE), ":\n\n- sampling method: ", x$sampling,
      "\n\n- best parameters:\n", sep = "")
  print(as.data.frame(x$best.parameters), row.names = FALSE)
  cat("\n- best performance: ", x$best.performance, "\n\n", sep = "")
  invisible(x)
}

#' @export
summary.tune_sheaf_svm <- function(object, ...) structure(object, class = "summary.tune_sheaf_svm")

#' @export
print.summary.tune_sheaf_svm <- function(x, ...) {
  print.tune_sheaf_svm(x)
  cat("- Detailed performance results:\n")
  print(x$performances)
  invisible(x)
}

#' @export
predict.tune_sheaf_svm <- function(object, newdata, ...) stats::predict(object$best.model, newdata, ...)

#' Plot the tuning of a support vector machine
#'
#' As e1071 plots it: the error over one parameter with its standard deviation between folds, or a surface over two.
#'
#' @param x a [tune_sheaf_svm()].
#' @param type `"contour"` or `"perspective"`, of two parameters.
#' @param transform.x,transform.y functions of the parameters that are drawn, such as `log10`.
#' @param xlab,ylab titles of the axes; `NULL`: names of the parameters.
#' @param ... passed on to [graphics::plot()], [graphics::filled.contour()] or [graphics::persp()].
#' @return Nothing; called for its plot.
#' @examples
#' set.seed(1)
#' tuned <- tune_sheaf_svm(Species ~ ., data = iris, ranges = list(cost = 10^(-1:2), gamma = 2^(-4:0)))
#' plot(tuned, transform.x = log10, transform.y = log2)
#' @export
plot.tune_sheaf_svm <- function(x, type = c("contour", "perspective"), transform.x = identity, transform.y = identity,
                                xlab = NULL, ylab = NULL, ...) {
  type <- one_of(type, c("contour", "perspective"), "type")
  table <- x$performances
  axes <- setdiff(names(table), c("error", "dispersion"))
  if (length(axes) > 2 || !all(vapply(table[axes], is.numeric, NA))) {
    stop_argument("x", "must have been tuned over one or two parameters that are numbers")
  }
  if (length(axes) == 1) {
    along <- transform.x(table[[1]])
    order <- order(along)
    range <- range(table$error - table$dispersion, table$error + table$dispersion)
    graphics::plot(along[order], table$error[order], type = "b", ylim = range, xlab = xlab %||% axes, ylab = "error",
                   ...)
    graphics::segments(along, table$error - table$dispersion, along, table$error + table$dispersion, lty = 3)
    return(invisible(x))
  }
  first <- sort(unique(table[[1]]))
  second <- sort(unique(table[[2]]))
  error <- matrix(table$error[order(table[[2]], table[[1]])], length(first))
  draw <- if (type == "contour") graphics::filled.contour else graphics::persp
  draw(transform.x(first), transform.y(second), error, xlab = xlab %||% axes[1], ylab = ylab %||% axes[2], ...)
  invisible(x)
}

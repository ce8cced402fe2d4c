# Plots by package ggplot2, where it is installed.

#' Plots by ggplot2
#'
#' Methods of `ggplot2::autoplot()`: the path of an elastic net, the curve of its cross-validation, the scores of a
#' search (a curve over one parameter, a surface over two), its confusion matrix or ROC curves on held-out rows, and the
#' frequencies of a study.
#'
#' @param object a [sheaf_net()], [cv_sheaf_net()], [sheaf_search()] or [sheaf_study()].
#' @param type of a search: `"scores"`, `"confusion"` or `"roc"` (two classes). The latter two need a search with
#'   `predictions = TRUE`.
#' @param labels of a path: how many of the largest coefficients at the smallest penalty are named.
#' @param gamma of relaxed models: the share of the penalised model; see [sheaf_net()].
#' @param most of a study: how many features to show.
#' @param ... not used.
#' @return A ggplot object.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' library(ggplot2)
#' autoplot(sheaf_net(as.matrix(mtcars[, -1]), mtcars$mpg))
#' found <- sheaf_search(iris[, 1:4], iris$Species, model = "svm", predictions = TRUE, seed = 1,
#'                       grid = list(cost = c(1, 10), gamma = c(0.01, 0.1)))
#' autoplot(found)
#' autoplot(found, type = "confusion")
#' @name autoplot
NULL

column <- function(name) ggplot2::aes(x = .data[[name[1]]], y = .data[[name[2]]])

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.sheaf_net <- function(object, labels = 10, ...) {
  one_number(labels, "labels", 0)
  several <- has_several(object$family)
  parts <- if (several) object$beta else list(object$beta)
  table <- do.call(rbind, Map(path_curves, parts, names(parts) %||% "", list(object$lambda)))
  if (nrow(table) == 0) stop_argument("object", "has no coefficients at any penalty: there is nothing to plot")
  ends <- table[table$lambda == min(object$lambda), ]
  ends <- do.call(rbind, lapply(split(ends, ends$part), function(part) {
    utils::head(part[order(-abs(part$estimate)), ], labels)
  }))
  # Room for the names beside the ends of the curves: panels of several classes are narrower.
  panels <- if (several) grDevices::n2mfrow(length(parts))[1] else 1
  share <- min(0.6, 0.013 * panels * max(nchar(c("", ends$term))))
  room <- ggplot2::expansion(mult = c(share / (1 - share), 0.05))
  plot <- ggplot2::ggplot(table, column(c("lambda", "estimate"))) +
    ggplot2::geom_line(ggplot2::aes(group = .data$term, colour = .data$term), show.legend = FALSE) +
    ggplot2::geom_text(ggplot2::aes(label = .data$term), data = ends, hjust = 1.1, size = 3, check_overlap = TRUE) +
    ggplot2::scale_x_log10(expand = room, guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    ggplot2::labs(x = "lambda", y = "coefficient")
  if (several) plot + ggplot2::facet_wrap("part") else plot
}

# Coefficients of the features that have one somewhere, at all penalties, zeros too, so that curves begin at 0.
path_curves <- function(beta, part, lambda) {
  used <- which(Matrix::rowSums(beta != 0) > 0)
  values <- as.matrix(beta[used, , drop = FALSE])
  data.frame(part = rep(part, length(values)), term = rep(rownames(beta)[used], ncol(beta)),
             lambda = rep(lambda, each = length(used)), estimate = as.vector(values))
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.cv_sheaf_net <- function(object, ...) {
  ggplot2::ggplot(tidy.cv_sheaf_net(object), column(c("lambda", "estimate"))) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$conf.low, ymax = .data$conf.high), alpha = 0.25) +
    ggplot2::geom_line() + ggplot2::scale_x_log10() +
    ggplot2::geom_vline(xintercept = c(object$lambda.min, object$lambda.1se), linetype = 3) +
    ggplot2::labs(x = "lambda", y = unname(object$name))
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.sheaf_relaxed <- function(object, labels = 10, gamma = 1, ...) {
  autoplot.sheaf_net(mix_path(object, gamma, extend = FALSE), labels)
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.cv_sheaf_relaxed <- function(object, ...) {
  table <- tidy.cv_sheaf_relaxed(object)
  table$gamma <- factor(table$gamma)
  ggplot2::ggplot(table, column(c("lambda", "estimate"))) +
    ggplot2::geom_line(ggplot2::aes(colour = .data$gamma)) + ggplot2::scale_x_log10() +
    ggplot2::geom_vline(xintercept = c(object$relaxed$lambda.min, object$relaxed$lambda.1se), linetype = 3) +
    ggplot2::labs(x = "lambda", y = unname(object$name))
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.sheaf_search <- function(object, type = c("scores", "confusion", "roc"), ...) {
  type <- one_of(type, c("scores", "confusion", "roc"), "type")
  if (type == "scores") return(plot_scores(object))
  if (is.null(object$predictions)) stop_argument("object", "has no predictions: search with predictions = TRUE")
  if (object$regression) stop_argument("type", "\"", type, "\" is for classes")
  if (type == "confusion") plot_confusion(object) else plot_roc(object)
}

plot_scores <- function(object) {
  if (!is.null(object$models)) return(plot_models(object))
  axes <- object$axes
  numeric <- vapply(object$results[axes], is.numeric, NA)
  if (length(axes) >= 2 && all(numeric[1:2])) {
    shown <- function(axis) factor(signif(object$results[[axis]], 3))
    table <- data.frame(a = shown(axes[1]), b = shown(axes[2]), mean = object$results$mean)
    return(ggplot2::ggplot(table, column(c("a", "b"))) + ggplot2::geom_tile(ggplot2::aes(fill = .data$mean)) +
             ggplot2::labs(x = object$axis_titles[1], y = object$axis_titles[2], fill = object$score_title))
  }
  table <- data.frame(a = object$results[[axes[1]]], mean = object$results$mean, se = object$results$se)
  plot <- ggplot2::ggplot(table, column(c("a", "mean"))) +
    ggplot2::geom_pointrange(ggplot2::aes(ymin = .data$mean - .data$se, ymax = .data$mean + .data$se)) +
    ggplot2::labs(x = object$axis_titles[1], y = object$score_title)
  if (numeric[1] && all(table$a > 0)) plot + ggplot2::scale_x_log10() else plot
}

plot_models <- function(object) {
  table <- data.frame(a = object$models$mean, b = factor(object$models$model, rev(object$models$model)))
  ggplot2::ggplot(table, column(c("a", "b"))) + ggplot2::geom_point() + ggplot2::labs(x = object$score_title, y = NULL)
}

plot_confusion <- function(object) {
  counts <- as.data.frame(table(truth = object$predictions$truth, predicted = object$predictions$predicted))
  ggplot2::ggplot(counts, column(c("predicted", "truth"))) + ggplot2::geom_tile(ggplot2::aes(fill = .data$Freq)) +
    ggplot2::geom_text(ggplot2::aes(label = .data$Freq), colour = "white") + ggplot2::labs(fill = "rows")
}

# A curve for each split, and the band of one standard deviation around their mean.
plot_roc <- function(object) {
  if (length(object$levels) != 2) stop_argument("type", "\"roc\" is for two classes")
  held <- object$predictions
  at <- seq(0, 1, 0.01)
  curves <- vapply(split(held, held$split), function(part) roc_curve(part$decision, part$truth == object$levels[2], at),
                   at)
  mean <- rowMeans(curves)
  spread <- if (ncol(curves) > 1) apply(curves, 1, stats::sd) else 0
  table <- data.frame(at = at, mean = mean, low = pmax(mean - spread, 0), high = pmin(mean + spread, 1))
  ggplot2::ggplot(table, column(c("at", "mean"))) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$low, ymax = .data$high), alpha = 0.25) + ggplot2::geom_line() +
    ggplot2::geom_abline(linetype = 3) + ggplot2::coord_equal() +
    ggplot2::labs(x = "false positive rate", y = "true positive rate")
}

# The share of positive rows found where shares `at` of the others are taken for positive.
roc_curve <- function(values, positive, at) {
  cuts <- sort(unique(values), decreasing = TRUE)
  found <- vapply(cuts, function(cut) mean(values[positive] >= cut), 0)
  wrong <- vapply(cuts, function(cut) mean(values[!positive] >= cut), 0)
  stats::approx(c(0, wrong), c(0, found), at, ties = max, rule = 2)$y
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.sheaf_study <- function(object, most = 30, ...) {
  table <- utils::head(tidy.sheaf_study(object), most)
  table$feature <- factor(table$feature, levels = rev(table$feature))
  ggplot2::ggplot(table, column(c("frequency", "feature"))) + ggplot2::geom_point() +
    ggplot2::geom_vline(xintercept = object$min_frequency, linetype = 3) + ggplot2::xlim(0, 1) +
    ggplot2::labs(x = "share of resamples", y = NULL)
}

# Scores of elastic nets on rows that they were not trained on, as package glmnet has them.

#' Scores of elastic nets on other rows
#'
#' As `glmnet::assess.glmnet()`, `glmnet::confusion.glmnet()` and `glmnet::roc.glmnet()`: all measures that
#' [cv_sheaf_net()] has of a family, tables of predicted and true classes, and points of ROC curves.
#'
#' @param object a [sheaf_net()] or [cv_sheaf_net()].
#' @param newx,newy rows with the columns of the training data, and their responses.
#' @param weights how much each row counts; `NULL`: 1.
#' @param ... passed on to [predict.sheaf_net()], such as `s`, `gamma` and `newoffset`.
#' @return `assess_sheaf_net()`: a list with a vector for each measure, one number for each penalty.
#'   `confusion_sheaf_net()`: a table, or a list of tables for several penalties. `roc_sheaf_net()`: a data frame of the
#'   rates `FPR` and `TPR`, or a list of these.
#' @examples
#' odd <- seq(1, 150, 2)
#' fit <- sheaf_net(as.matrix(iris[odd, 1:4]), iris$Species[odd], family = "multinomial")
#' assess_sheaf_net(fit, as.matrix(iris[-odd, 1:4]), iris$Species[-odd], s = c(0.1, 0.01))
#' confusion_sheaf_net(fit, as.matrix(iris[-odd, 1:4]), iris$Species[-odd], s = 0.01)
#' @export
assess_sheaf_net <- function(object, newx, newy, weights = NULL, ...) {
  path <- path_of(object)
  link <- stats::predict(object, newx, type = "link", ...)
  rows <- dim(link)[1]
  problem <- list(family = path$family, rows = rows, weights = check_weights(weights, rows),
                  loss_parameter = path$threshold %||% path$quantile)
  problem <- c(problem, new_response(path, newy, rows))
  measures <- family_measures(path$family)
  scores <- lapply(measures, function(type) {
    structure(score_links(problem, link, type), measure = unname(measure_name(type, path$family)))
  })
  stats::setNames(scores, measures)
}

path_of <- function(object) {
  if (inherits(object, "cv_sheaf_net")) return(object$glmnet.fit)
  if (!inherits(object, "sheaf_net")) stop_argument("object", "must be a model of sheaf_net() or cv_sheaf_net()")
  object
}

new_response <- function(path, newy, rows) {
  if (path$family == "cox") return(list(survival = read_survival(newy, rows, "newy")))
  if (path$family == "mgaussian") return(list(response = as_responses(newy, rows)))
  newy <- as_target(newy, rows, "newy")
  if (is.null(path$classnames)) return(list(response = newy))
  newy <- as.character(newy)
  unknown <- setdiff(newy, path$classnames)
  if (length(unknown) > 0) stop_argument("newy", "has the class '", unknown[1], "', which the model does not know")
  if (path$family == "binomial") return(two_class_response(newy == path$classnames[2]))
  list(response = outer(newy, path$classnames, "==") + 0)
}

two_class_response <- function(second) list(response = as.double(second), target = 2 * second - 1)

# The weighted mean over the rows, of each penalty; the deviance of Cox models is that of all rows together.
score_links <- function(problem, link, type) {
  scores <- core(core_net_scores(net_response(problem), type, link, integer(), integer(), FALSE))$mean
  stats::setNames(scores, utils::tail(dimnames(link), 1)[[1]])
}

#' @rdname assess_sheaf_net
#' @export
confusion_sheaf_net <- function(object, newx, newy, ...) {
  path <- path_of(object)
  if (is.null(path$classnames)) stop_argument("object", "is of the family ", path$family, ", which has no classes")
  predicted <- stats::predict(object, newx, type = "class", ...)
  truth <- factor(as_target(newy, nrow(predicted), "newy"))
  tables <- lapply(seq_len(ncol(predicted)), function(k) {
    table(Predicted = factor(predicted[, k], levels = path$classnames), True = truth)
  })
  if (length(tables) == 1) tables[[1]] else stats::setNames(tables, colnames(predicted))
}

#' @rdname assess_sheaf_net
#' @export
roc_sheaf_net <- function(object, newx, newy, ...) {
  path <- path_of(object)
  if (path$family != "binomial") {
    stop_argument("object", "is of the family ", path$family, ", and ROC curves are for two classes")
  }
  link <- stats::predict(object, newx, type = "link", ...)
  positive <- new_response(path, newy, nrow(link))$response
  curves <- lapply(seq_len(ncol(link)), function(k) {
    counts <- rowsum(cbind(1 - positive, positive), -link[, k])
    rates <- apply(counts, 2, cumsum) / rep(colSums(counts), each = nrow(counts))
    data.frame(FPR = rates[, 1], TPR = rates[, 2], row.names = NULL)
  })
  if (length(curves) == 1) curves[[1]] else stats::setNames(curves, colnames(link))
}

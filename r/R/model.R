# Trained models that live in the compiled part, and come back to life from their text where a session ended.

# The list that core_fit() returns, without what only the compiled part needs; `text` outlives the session.
keep_model <- function(model) {
  box <- new.env(parent = emptyenv())
  box$pointer <- model$pointer
  list(box = box, text = model$text)
}

model_pointer <- function(kept) {
  if (!core_is_alive(kept$box$pointer)) kept$box$pointer <- core(core_parse(kept$text))$pointer
  kept$box$pointer
}

predict_core <- function(object, x, probabilities = FALSE, missing = FALSE) {
  found <- core(core_predict(as_control(object$control), model_pointer(object$model), x,
                             about_features(x, missing = missing), probabilities))
  warn_each(found$warnings)
  found
}

# Probabilities with a column for each level.
probability_columns <- function(found, levels, rows) {
  shares <- matrix(0, nrow(found$probabilities), length(levels), dimnames = list(rows, levels))
  shares[, match(found$levels, levels)] <- found$probabilities
  shares
}

#' Write a model to a file
#'
#' @param object a [sheaf_glm()], [sheaf_net()], [cv_sheaf_net()], [sheaf_svm()], [sheaf_linear()], the result of a
#'   [sheaf_search()], or a model of [sheaf_read_model()].
#' @param file where to write it.
#' @param format `"sheaf"`: readable, exact, with all names; the command-line program and the Python package read it.
#'   `"libsvm"` and `"liblinear"` are the formats of these programs, where they can hold the model.
#' @param s,gamma of elastic nets: the penalty and, of relaxed ones, the share of the penalised model, as of `coef()`.
#' @details
#' Features have the names of the columns of the matrix that the model was trained on: with a formula those of
#' `model.matrix()`, such as `sexmale`.
#' @return The path of the file, invisibly.
#' @seealso [sheaf_read_model()]
#' @examples
#' fit <- sheaf_linear(as.matrix(iris[, 1:4]), iris$Species)
#' file <- tempfile()
#' sheaf_write_model(fit, file)
#' predict(sheaf_read_model(file), iris[1:3, 1:4])
#' @export
sheaf_write_model <- function(object, file, format = c("sheaf", "libsvm", "liblinear"), s = NULL, gamma = 1) {
  format <- one_of(format, c("sheaf", "libsvm", "liblinear"), "format")
  text <- if (inherits(object, c("sheaf_net", "cv_sheaf_net"))) {
    net_text(object, s, gamma, format)
  } else {
    kept <- if (inherits(object, "sheaf_glm")) object$kept else object$model
    if (is.null(kept$box)) stop_argument("object", "is no model that can be written to a file")
    core(core_model_text(model_pointer(kept), format))
  }
  writeLines(text, file, sep = "", useBytes = TRUE)
  invisible(file)
}

net_text <- function(object, s, gamma, format) {
  path <- path_of(object)
  if (is.null(s)) {
    if (!inherits(object, "cv_sheaf_net")) stop_argument("s", "is missing: which penalty's model is to be written")
    s <- "lambda.1se"
  }
  if (inherits(object, "cv_sheaf_net")) s <- lambda_of(object, s)
  one_number(s, "s", 0)
  path <- if (inherits(path, "sheaf_relaxed")) mix_path(path, one_number(gamma, "gamma", 0, 1)) else path
  found <- path_coefficients(path, s)
  table <- if (is.list(found)) do.call(cbind, lapply(found, as.matrix)) else as.matrix(found)
  constant <- path$family != "cox"
  weights <- if (constant) table[-1, , drop = FALSE] else table
  core(core_net_text(list(
    loss = net_loss(path$family), weights = as.vector(t(weights)), intercepts = if (constant) table[1, ] else numeric(),
    names = rownames(weights), class_names = rev_two(path$classnames) %||% character(),
    target_names = if (path$family == "mgaussian") names(found) else character(), alpha = unname(s),
    l1_ratio = path$penalty$alpha, standardised = path$penalty$standardize,
    grouped = path$family == "mgaussian" || isTRUE(path$grouped), parameter = path$threshold %||% path$quantile %||% 0,
    relax = gamma
  ), format))
}

# Files have the second of two classes first: decision values above 0 favour it.
rev_two <- function(levels) if (length(levels) == 2) rev(levels) else levels

#' Read a model from a file
#'
#' Of any family, as the command-line program, the Python package and [sheaf_write_model()] write it, or of LIBSVM or
#' LIBLINEAR.
#'
#' @param file a file.
#' @param object,x a model that was read.
#' @param newdata new rows: a matrix or a data frame. Features are found by their names or, if there are none, by their
#'   places.
#' @param type `"response"` (classes or numbers), `"prob"` or `"decision"`.
#' @param control see [sheaf_control()].
#' @param ... not used.
#' @return An object of class `sheaf_model`; its methods `predict()`: a factor, numbers, or a matrix with a column for
#'   each class (`"prob"`), target or decision value; and `coef()`: a matrix with a row for each feature.
#' @examples
#' file <- tempfile()
#' sheaf_write_model(sheaf_glm(as.matrix(mtcars[, 2:4]), mtcars$mpg), file)
#' model <- sheaf_read_model(file)
#' coef(model)
#' predict(model, mtcars[1:2, ])
#' @export
sheaf_read_model <- function(file, control = list()) {
  if (!is.character(file) || length(file) != 1 || is.na(file)) stop_argument("file", "must be the name of a file")
  found <- core(core_load(path.expand(file)))
  structure(class = "sheaf_model",
            list(model = keep_model(found), family = found$family, levels = found$levels, n_features = found$features,
                 regression = found$regression, targets = found$targets, coefficients = model_weights(found),
                 control = as_control(control)))
}

#' @rdname sheaf_read_model
#' @export
predict.sheaf_model <- function(object, newdata, type = c("response", "prob", "decision"), ...) {
  type <- one_of(type, c("response", "prob", "decision"), "type")
  if (missing(newdata)) stop_argument("newdata", "is missing")
  x <- as_features(newdata, "newdata", nominal = TRUE)
  if (type == "prob" && object$regression) stop_argument("type", "\"prob\" is for classes")
  found <- predict_core(object, x, type == "prob", missing = TRUE)
  if (type == "prob") return(probability_columns(found, object$levels, rownames(x)))
  if (type == "decision" || length(object$targets) > 1) {
    return(structure(found$decisions, dimnames = list(rownames(x), if (length(object$targets) > 1) object$targets)))
  }
  if (object$regression) return(stats::setNames(found$decisions[, 1], rownames(x)))
  as_classes(found$classes, found$levels, object$levels)
}

#' @export
coef.sheaf_model <- function(object, ...) {
  if (is.null(object$coefficients)) stop_sheaf("the model has no weight for each feature")
  object$coefficients
}

#' @rdname sheaf_read_model
#' @export
print.sheaf_model <- function(x, ...) {
  cat("A model of the family ", x$family, ": ", counted(x$n_features, "feature"), sep = "")
  if (!x$regression) cat(", classes ", paste(x$levels, collapse = ", "), sep = "")
  cat("\n")
  invisible(x)
}

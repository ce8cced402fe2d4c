#' Nearest neighbours and local models
#'
#' Exact nearest neighbours for classes and numbers, and three local models: `"hknn"` and `"cknn"` decide by the class
#' whose nearest rows span the nearest hyperplane or convex hull, `"alh"` by hyperplanes with learnt weights of
#' features.
#'
#' @param x a formula, or a matrix, sparse matrix or data frame of features.
#' @param y a factor, or numbers (`"knn"` only).
#' @param formula,data,subset,na.action as in [stats::lm()].
#' @param k how many neighbours; of the local models how many of each class.
#' @param kind `"knn"`, `"hknn"`, `"alh"` or `"cknn"`.
#' @param vote `"uniform"`, `"inverse-distance"` or `"gaussian"`: how much a neighbour counts.
#' @param metric a distance; see [sheaf_distances()].
#' @param power of Minkowski's distance.
#' @param weighting weights of features: `"none"`, or learnt by `"class-ratio"`, `"mutual-information"` or `"relief"`.
#'   `NULL`: the one of `kind`.
#' @param feature_weights weights of features, in place of `weighting`.
#' @param temperature of `"class-ratio"`.
#' @param lambda of the local models: the penalty of their coefficients.
#' @param weights how much each row's vote counts.
#' @param control see [sheaf_control()].
#' @param ... passed on to the default method.
#' @return An object of class `sheaf_knn`. It keeps the training rows.
#' @examples
#' fit <- sheaf_knn(Species ~ ., data = iris, k = 7, vote = "inverse-distance")
#' predict(fit, iris[c(1, 51, 101), ])
#' predict(fit, iris[c(1, 51, 101), ], type = "prob")
#' @export
sheaf_knn <- function(x, ...) UseMethod("sheaf_knn")

#' @rdname sheaf_knn
#' @export
sheaf_knn.formula <- function(formula, data, subset, na.action = stats::na.omit, ...) {
  call <- as_generic(match.call(), quote(sheaf_knn))
  parts <- formula_parts(call, parent.frame())
  fit <- sheaf_knn.default(parts$x, parts$y, ...)
  fit$call <- call
  with_terms(fit, parts)
}

#' @rdname sheaf_knn
#' @export
sheaf_knn.default <- function(x, y, k = 5, kind = c("knn", "hknn", "alh", "cknn"), vote = NULL, metric = NULL,
                              power = NULL, weighting = NULL, feature_weights = NULL, temperature = NULL, lambda = NULL,
                              weights = NULL, control = list(), ...) {
  call <- as_generic(match.call(), quote(sheaf_knn))
  if (...length() > 0) stop_argument(...names()[1], "is not an argument of sheaf_knn()")
  kind <- one_of(kind, c("knn", "hknn", "alh", "cknn"), "kind")
  x <- as_features(x)
  y <- as_target(y, nrow(x))
  if (is.factor(y)) y <- need_classes(y)
  if (!is.null(feature_weights)) {
    if (!is.null(weighting)) stop_argument("weighting", "has no meaning beside 'feature_weights'")
    if (!is.numeric(feature_weights) || length(feature_weights) != ncol(x)) {
      stop_argument("feature_weights", "must be one number for each of ", ncol(x), " columns")
    }
    weighting <- "given"
  }
  settings <- rbind(setting("k", one_number(k, "k", 1)), setting("vote", vote), setting("metric", metric),
                    setting("power", power), setting("weighting", weighting), setting("temperature", temperature),
                    setting("lambda", lambda))
  fit <- list(call = call, kind = kind, k = k, levels = levels(y), x = x, y = y, settings = settings,
              feature_weights = feature_weights, weights = check_weights(weights, nrow(x)), n_features = ncol(x),
              feature_names = colnames(x), control = control)
  class(fit) <- "sheaf_knn"
  fit$model <- list(box = new.env(parent = emptyenv()))
  remember_rows(fit)
  fit
}

# The compiled part's model, which is made again from the rows where a session ended: they are no smaller as text.
remember_rows <- function(fit) {
  box <- fit$model$box
  if (!is.null(box$pointer) && core_is_alive(box$pointer)) return(box$pointer)
  vectors <- if (is.null(fit$feature_weights)) list() else list(feature_weights = as.double(fit$feature_weights))
  model <- core(core_fit(as_control(fit$control), fit$x, about_features(fit$x, core_target(fit$y, FALSE)), fit$kind,
                         fit$settings, no_settings(), fit$weights, vectors, FALSE))
  warn_each(model$warnings)
  box$pointer <- model$pointer
}

#' Predictions of nearest neighbours
#'
#' @param object a [sheaf_knn()].
#' @param newdata new rows.
#' @param type `"response"` (classes or numbers), `"prob"` (shares of the votes) or `"decision"`.
#' @param ... not used.
#' @return A factor, numbers, or a matrix with a column for each class.
#' @examples
#' predict(sheaf_knn(as.matrix(mtcars[, -1]), mtcars$mpg, k = 3), as.matrix(mtcars[1:2, -1]))
#' @export
predict.sheaf_knn <- function(object, newdata, type = c("response", "prob", "decision"), ...) {
  type <- one_of(type, c("response", "prob", "decision"), "type")
  if (missing(newdata)) stop_argument("newdata", "is missing")
  x <- new_features(object, newdata)
  if (type == "prob" && (is.null(object$levels) || object$kind != "knn")) {
    stop_argument("type", "\"prob\" is for classes and kind = \"knn\"")
  }
  remember_rows(object)
  found <- predict_core(object, x, type == "prob")
  if (type == "prob") return(probability_columns(found, object$levels, rownames(x)))
  if (is.null(object$levels)) return(stats::setNames(found$decisions[, 1], rownames(x)))
  if (type == "response") return(as_classes(found$classes, found$levels, object$levels))
  decisions <- found$decisions
  dimnames(decisions) <- list(rownames(x), found$levels)
  decisions
}

#' @export
print.sheaf_knn <- function(x, ...) {
  cat("\nCall:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat(x$kind, ", k = ", x$k, ", ", nrow(x$x), " rows, ", ncol(x$x), " features\n", sep = "")
  invisible(x)
}

#' Nearest neighbours
#'
#' Exact nearest neighbours for classes and numbers. [sheaf_local()] has the local models.
#'
#' @param x a formula, or a matrix, sparse matrix or data frame of features.
#' @param y a factor, or numbers (`"knn"` only).
#' @param formula,data,subset,na.action as in [stats::lm()].
#' @param k how many neighbours; of local models how many of each class.
#' @param kind `"knn"`, or one of the local models without an SVM, as in [sheaf_local()].
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
  settings <- rbind(setting("k", one_number(k, "k", 1)), setting("vote", vote), setting("lambda", lambda))
  fit_neighbors(call, x, y, kind, k, settings, metric, power, weighting, feature_weights, temperature, weights, control)
}

# Shared by models of neighbours: the distance and the rows that are kept.
fit_neighbors <- function(call, x, y, kind, k, settings, metric, power, weighting, feature_weights, temperature,
                          weights, control) {
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
  settings <- rbind(settings, setting("metric", metric), setting("power", power), setting("weighting", weighting),
                    setting("temperature", temperature))
  fit <- list(call = call, kind = kind, k = k, levels = levels(y), x = x, y = y, settings = settings,
              feature_weights = feature_weights, weights = check_weights(weights, nrow(x)), n_features = ncol(x),
              feature_names = colnames(x), control = control)
  class(fit) <- "sheaf_knn"
  fit$model <- list(box = new.env(parent = emptyenv()))
  remember_rows(fit)
  fit
}

#' Local models
#'
#' Models of the neighbourhood of each new row: `"hknn"` and `"cknn"` decide by the class whose nearest rows span the
#' nearest hyperplane or convex hull, `"alh"` by hyperplanes with learnt weights of features, `"local-svm"` by a support
#' vector machine that is trained on the nearest rows, `"falk-svm"` by one of the support vector machines around rows
#' that cover the others, which predictions share.
#'
#' @inheritParams sheaf_knn
#' @param y a factor.
#' @param kind `"hknn"`, `"alh"`, `"cknn"`, `"local-svm"` or `"falk-svm"`.
#' @param k how many neighbours; of `"hknn"`, `"alh"` and `"cknn"` of each class. `NULL`: 5, of support vector machines
#'   40.
#' @param lambda of hyperplanes and hulls: the penalty of their coefficients.
#' @param kernel,cost,gamma,tolerance of the support vector machines: `"linear"` or `"rbf"`, the cost of errors, gamma
#'   of the radial kernel (`NULL`: 1 / number of columns), and where training ends.
#' @return An object of class `sheaf_local`, which is a `sheaf_knn` too. It keeps the training rows.
#' @references Vincent and Bengio (2001) K-local hyperplane and convex distance nearest neighbor algorithms. Segata and
#'   Blanzieri (2010) Fast and scalable local kernel machines.
#' @examples
#' fit <- sheaf_local(Species ~ ., data = iris, kind = "local-svm", k = 30)
#' table(predict(fit, iris), iris$Species)
#' @export
sheaf_local <- function(x, ...) UseMethod("sheaf_local")

#' @rdname sheaf_local
#' @export
sheaf_local.formula <- function(formula, data, subset, na.action = stats::na.omit, ...) {
  call <- as_generic(match.call(), quote(sheaf_local))
  parts <- formula_parts(call, parent.frame())
  fit <- sheaf_local.default(parts$x, parts$y, ...)
  fit$call <- call
  with_terms(fit, parts)
}

#' @rdname sheaf_local
#' @export
sheaf_local.default <- function(x, y, kind = c("hknn", "alh", "cknn", "local-svm", "falk-svm"), k = NULL, lambda = NULL,
                                kernel = NULL, cost = NULL, gamma = NULL, tolerance = NULL, metric = NULL, power = NULL,
                                weighting = NULL, feature_weights = NULL, temperature = NULL, weights = NULL,
                                control = list(), ...) {
  call <- as_generic(match.call(), quote(sheaf_local))
  if (...length() > 0) stop_argument(...names()[1], "is not an argument of sheaf_local()")
  kind <- one_of(kind, c("hknn", "alh", "cknn", "local-svm", "falk-svm"), "kind")
  if (is.numeric(y)) stop_argument("y", "must be a factor for local models")
  svm <- grepl("svm", kind)
  if (svm && !is.null(lambda)) stop_argument("lambda", "is for hyperplanes and hulls, not for kind = \"", kind, "\"")
  of_svms <- c(kernel = is.null(kernel), cost = is.null(cost), gamma = is.null(gamma), tolerance = is.null(tolerance))
  if (!svm && !all(of_svms)) stop_argument(names(of_svms)[!of_svms][1], "is for kind = \"local-svm\" and \"falk-svm\"")
  if (is.null(k)) k <- if (svm) 40 else 5
  settings <- rbind(setting("k", one_number(k, "k", 1)), setting("lambda", lambda), setting("kernel", kernel),
                    setting("cost", cost), setting("gamma", gamma), setting("tolerance", tolerance))
  fit <- fit_neighbors(call, x, y, kind, k, settings, metric, power, weighting, feature_weights, temperature, weights,
                       control)
  class(fit) <- c("sheaf_local", "sheaf_knn")
  fit
}

# The compiled part's model, which is made again from the rows where a session ended: they are no smaller as text.
remember_rows <- function(fit) {
  box <- fit$model$box
  if (!is.null(box$pointer) && core_is_alive(box$pointer)) return(box$pointer)
  vectors <- if (is.null(fit$feature_weights)) list() else list("feature-weights" = as.double(fit$feature_weights))
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
  cat(x$kind, ", k = ", x$k, ", ", counted(nrow(x$x), "row"), ", ", counted(ncol(x$x), "feature"), "\n", sep = "")
  invisible(x)
}

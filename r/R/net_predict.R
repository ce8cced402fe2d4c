#' Coefficients and predictions of elastic nets
#'
#' @param object a [sheaf_net()] or [cv_sheaf_net()].
#' @param newx new rows, with the columns of the training data.
#' @param s penalties; those between two of the path are interpolated, as in glmnet. `NULL`: all of the path. Of
#'   `cv_sheaf_net`: `"lambda.1se"`, `"lambda.min"` or numbers.
#' @param type `"link"`, `"response"`, `"class"`, `"coefficients"`, or `"nonzero"`: the features that have a
#'   coefficient.
#' @param gamma of relaxed models: the share of the penalised model; 1 is the elastic net, 0 the relaxed model. Of
#'   `cv_sheaf_relaxed`: a number, `"gamma.1se"` or `"gamma.min"`; `NULL`: the one that belongs to `s`.
#' @param exact whether to train anew at penalties `s` that are not of the path, instead of interpolating. The arguments
#'   `x`, `y` and, if they were given, `weights`, `offset`, `penalty.factor`, `exclude`, `lower.limits` and
#'   `upper.limits` of the call must then be given too, as in glmnet.
#' @param newoffset needed where the model was trained with an offset.
#' @param ... with `exact`: arguments of [sheaf_net()]; of `cv_sheaf_net` passed on.
#' @return A matrix with a column for each penalty; `"nonzero"`: a list, or a data frame of one column; `coef()`: a
#'   sparse matrix whose first row is the intercept (Cox models have none). Multinomial and mgaussian: `"link"` and
#'   `"response"` are arrays of rows, classes or responses and penalties, and coefficients and `"nonzero"` lists with an
#'   element for each class or response.
#' @examples
#' fit <- sheaf_net(as.matrix(mtcars[, -1]), mtcars$mpg)
#' predict(fit, as.matrix(mtcars[1:3, -1]), s = c(1, 0.1))
#' @export
predict.sheaf_net <- function(object, newx, s = NULL, type = c("link", "response", "coefficients", "nonzero", "class"),
                              exact = FALSE, newoffset = NULL, ...) {
  type <- one_of(type, c("link", "response", "coefficients", "nonzero", "class"), "type")
  object <- exact_path(object, s, exact, list(...), parent.frame())
  coefficients <- path_coefficients(object, s)
  several <- has_several(object$family)
  if (type == "coefficients") return(coefficients)
  if (type == "nonzero") {
    return(if (several) lapply(coefficients, nonzero_features) else nonzero_features(coefficients, object$family))
  }
  if (missing(newx)) stop_argument("newx", "is missing")
  x <- new_features(object, newx, "newx")
  if (type == "class" && object$family == "mgaussian") stop_argument("type", "\"class\" is for models of classes")
  if (object$offset && is.null(newoffset)) {
    stop_argument("newoffset", "is missing: the model was trained with an offset")
  }
  if (several) {
    newoffset <- if (object$offset) check_offsets(newoffset, nrow(x), length(coefficients), "newoffset")
    return(predict_several(x, coefficients, if (object$family == "mgaussian") "link" else type, newoffset))
  }
  link <- link_of(x, coefficients, object$family)
  if (object$offset) link <- link + check_offset(newoffset, nrow(x), "newoffset")
  if (type == "class" && object$family != "binomial") stop_argument("type", "\"class\" is for models of classes")
  if (type == "class") link[] <- object$classnames[(link > 0) + 1]
  if (type != "response") return(link)
  switch(object$family, binomial = 1 / (1 + exp(-link)), poisson = , cox = exp(link), link)
}

link_of <- function(x, coefficients, family = "") {
  link <- as.matrix(x %*% of_features(coefficients, family))
  if (family != "cox") link <- link + rep(coefficients[1, ], each = nrow(x))
  dimnames(link) <- list(rownames(x), colnames(coefficients))
  link
}

# Without the intercept, where there is one.
of_features <- function(coefficients, family) if (family == "cox") coefficients else coefficients[-1, , drop = FALSE]

# All classes or responses in one model; `coefficients` is a list of them.
predict_several <- function(x, coefficients, type, offset = NULL) {
  names <- names(coefficients)
  link <- vapply(coefficients, function(one) link_of(x, one), matrix(0, nrow(x), ncol(coefficients[[1]])))
  link <- aperm(link, c(1, 3, 2)) + as.vector(offset %||% 0)
  dimnames(link) <- list(rownames(x), names, colnames(coefficients[[1]]))
  if (type == "link") return(link)
  if (type == "response") return(shares(link))
  chosen <- apply(link, c(1, 3), which.max)
  chosen[] <- names[chosen]
  chosen
}

# A matrix whose first row is the intercept, but that of a Cox model; of all classes in one model a list of such.
path_coefficients <- function(object, s) {
  if (!has_several(object$family)) return(rows_at(rbind(object$a0, object$beta), object, s))
  names <- names(object$beta)
  all <- lapply(names, function(name) rows_at(rbind(object$a0[name, ], object$beta[[name]]), object, s))
  stats::setNames(all, names)
}

rows_at <- function(all, object, s) {
  beta <- if (is.list(object$beta)) object$beta[[1]] else object$beta
  dimnames(all) <- list(c(if (object$family != "cox") "(Intercept)", rownames(beta)), colnames(beta))
  if (is.null(s)) return(all)
  if (!is.numeric(s) || anyNA(s)) stop_argument("s", "must be numbers")
  place <- interpolate(object$lambda, s)
  found <- all[, place$left, drop = FALSE] %*% Diagonal(x = place$share) +
    all[, place$right, drop = FALSE] %*% Diagonal(x = 1 - place$share)
  dimnames(found) <- list(rownames(all), if (is.null(names(s))) paste0("s", seq_along(s)) else names(s))
  as(found, "CsparseMatrix")
}

# Between which two penalties of the path each one of `s` lies, and the share of the left one.
interpolate <- function(lambda, s) {
  count <- length(lambda)
  if (count == 1) return(list(left = rep(1L, length(s)), right = rep(1L, length(s)), share = rep(1, length(s))))
  s <- pmin(pmax(s, lambda[count]), lambda[1])
  place <- stats::approx(lambda, seq_len(count), s)$y
  left <- floor(place)
  right <- ceiling(place)
  share <- ifelse(left == right | lambda[left] == lambda[right], 1,
                  (s - lambda[right]) / (lambda[left] - lambda[right]))
  list(left = left, right = right, share = share)
}

nonzero_features <- function(coefficients, family = "") {
  features <- apply(as.matrix(of_features(coefficients, family)) != 0, 2, which, simplify = FALSE)
  features <- lapply(features, unname)
  if (length(features) == 1) as.data.frame(features) else features
}

#' @rdname predict.sheaf_net
#' @export
coef.sheaf_net <- function(object, s = NULL, exact = FALSE, ...) {
  path_coefficients(exact_path(object, s, exact, list(...), parent.frame()), s)
}

# The path, with exact = TRUE trained again with the penalties `s` among its own.
exact_path <- function(object, s, exact, given, frame) {
  if (!one_flag(exact, "exact")) {
    if (length(given) > 0) stop_argument(names(given)[1] %||% "...", "is not an argument here without exact = TRUE")
    return(object)
  }
  if (is.null(s) || all(s %in% object$lambda)) return(object)
  data <- c("x", "y", "weights", "offset", "penalty.factor", "exclude", "lower.limits", "upper.limits")
  lacking <- setdiff(intersect(data, names(object$call)), names(given))
  if (length(lacking) > 0) {
    stop_argument("exact", "trains anew: give ", paste(lacking, collapse = ", "), " too, as in the call of sheaf_net()")
  }
  call <- object$call
  call[[1L]] <- sheaf_net
  call[names(given)] <- given
  call$lambda <- sort(unique(c(s, object$lambda)), decreasing = TRUE)
  eval(call, frame)
}

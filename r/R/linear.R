#' Linear models of LIBLINEAR
#'
#' As `LiblineaR::LiblineaR()`: the objectives of LIBLINEAR, with the same arguments and an object of the same elements.
#' Classes of three or more are trained one against the rest, all as one piece of work.
#'
#' @details Types are LIBLINEAR's:
#' * with an L2 penalty: 0 and 7 logistic regression; 1 and 2 the support vector machine with squared hinge loss, 3 with
#'   hinge loss; 4 that of Crammer and Singer for all classes at once; 11 and 12 support vector regression with squared
#'   loss, 13 with absolute loss
#' * with an L1 penalty: 5 the support vector machine with squared hinge loss, 6 logistic regression
#' * 21: the one-class support vector machine, which needs no `target`
#'
#' The numbers of a pair differ in LIBLINEAR by the algorithm and have the same optimum; here they are the same.
#'
#' @param data a matrix, sparse matrix or data frame of features.
#' @param target a factor, or numbers: for types 11 to 13 the response, else classes.
#' @param type one of LIBLINEAR's types.
#' @param cost how much errors weigh against the size of the weights.
#' @param epsilon training ends where at most this share of what it gains is left, by a bound; `NULL`: 1e-4.
#' @param svr_eps types 11 to 13: errors up to it cost nothing.
#' @param nu type 21: the share of rows that may be outliers.
#' @param bias value of a constant feature that is added, whose weight is penalised too; 0: none.
#' @param wi factors of the cost, named by class, or `"balanced"`.
#' @param weights how much each row counts.
#' @param control see [sheaf_control()].
#' @return An object of class `sheaf_linear` with the elements of a `LiblineaR` object: `TypeDetail`, `Type`, `W` (a row
#'   for each decision value, the last column being `Bias`), `Bias`, `ClassNames`, `NbClass`. Of two classes the one row
#'   of `W` speaks for the first of `ClassNames`.
#' @examples
#' fit <- sheaf_linear(scale(iris[, 1:4]), iris$Species, type = 2)
#' fit$W
#' table(predict(fit, scale(iris[, 1:4]))$predictions, iris$Species)
#' @export
sheaf_linear <- function(data, target, type = 0, cost = 1, epsilon = NULL, svr_eps = 0.1, bias = 1, wi = NULL, nu = 0.5,
                         weights = NULL, control = list()) {
  call <- match.call()
  x <- as_features(data, "data")
  if (!is.numeric(type) || !as.character(type[1]) %in% names(linear_types) || length(type) != 1) {
    stop_argument("type", "must be one of ", paste(names(linear_types), collapse = ", "))
  }
  chosen <- linear_types[[as.character(type)]]
  if (type == 21) return(one_class_linear(call, x, chosen, nu, epsilon, weights, control))
  regression <- chosen$loss %in% c("svr", "epsilon-insensitive")
  y <- as_target(target, nrow(x), "target")
  if (!regression) y <- need_classes(y, "target")
  if (regression && is.factor(y)) stop_argument("target", "is of classes, and type ", type, " is for numbers")
  settings <- rbind(
    setting("loss", chosen$loss, "type"), setting("cost", cost), setting("tolerance", epsilon, "epsilon"),
    setting("bias", bias), setting("penalise-bias", "yes", "bias"),
    if (!is.null(chosen$penalty)) setting("penalty", chosen$penalty, "type"),
    if (regression) setting("epsilon", svr_eps, "svr_eps"),
    if (!regression) class_weight_settings(wi, levels(y), "wi")
  )
  model <- core(core_fit(as_control(control), x, about_features(x, core_target(y, FALSE)), "linear", settings,
                         no_settings(), check_weights(weights, nrow(x)), list(), TRUE))
  names <- model$levels
  w <- t(rbind(model$coefficients$weights, if (bias > 0) model$coefficients$intercepts / bias))
  dimnames(w) <- list(if (nrow(w) > 1) names, c(feature_names(x), if (bias > 0) "Bias"))
  warn_each(model$warnings)
  structure(class = "sheaf_linear", list(
    TypeDetail = chosen$detail, Type = type, W = w, Bias = bias, ClassNames = factor(names, levels = levels(y)),
    NbClass = if (regression) NULL else length(names), levels = levels(y), iterations = model$iterations,
    regression = regression, probabilities = chosen$loss == "logistic", model = keep_model(model), call = call,
    n_features = ncol(x), feature_names = colnames(x), control = control
  ))
}

# Rows are TRUE where they are not outliers; the weight of the bias is -rho.
one_class_linear <- function(call, x, chosen, nu, epsilon, weights, control) {
  nu <- one_number(nu, "nu", 0, 1)
  if (nu == 0) stop_argument("nu", "must be above 0")
  tolerance <- if (is.null(epsilon)) 0 else one_number(epsilon, "epsilon", 0)
  model <- core(core_one_class(as_control(control), x, about_features(x), nu, tolerance,
                               check_weights(weights, nrow(x))))
  found <- model$coefficients
  w <- t(rbind(found$weights, found$intercepts))
  dimnames(w) <- list(NULL, c(feature_names(x), "Bias"))
  warn_each(model$warnings)
  structure(class = "sheaf_linear", list(
    TypeDetail = chosen$detail, Type = 21, W = w, Bias = 1, rho = -found$intercepts, nu = nu, regression = FALSE,
    one_class = TRUE, probabilities = FALSE, model = keep_model(model), call = call, n_features = ncol(x),
    feature_names = colnames(x), control = control
  ))
}

linear_types <- list(
  `0` = list(loss = "logistic", detail = "L2-regularized logistic regression primal (L2R_LR)"),
  `1` = list(loss = "svm", detail = "L2-regularized L2-loss support vector classification dual (L2R_L2LOSS_SVC_DUAL)"),
  `2` = list(loss = "svm", detail = "L2-regularized L2-loss support vector classification primal (L2R_L2LOSS_SVC)"),
  `3` = list(loss = "hinge",
             detail = "L2-regularized L1-loss support vector classification dual (L2R_L1LOSS_SVC_DUAL)"),
  `4` = list(loss = "crammer-singer", detail = "support vector classification by Crammer and Singer (MCSVM_CS)"),
  `5` = list(loss = "svm", penalty = "l1",
             detail = "L1-regularized L2-loss support vector classification (L1R_L2LOSS_SVC)"),
  `6` = list(loss = "logistic", penalty = "l1", detail = "L1-regularized logistic regression (L1R_LR)"),
  `7` = list(loss = "logistic", detail = "L2-regularized logistic regression dual (L2R_LR_DUAL)"),
  `11` = list(loss = "svr", detail = "L2-regularized L2-loss support vector regression primal (L2R_L2LOSS_SVR)"),
  `12` = list(loss = "svr", detail = "L2-regularized L2-loss support vector regression dual (L2R_L2LOSS_SVR_DUAL)"),
  `13` = list(loss = "epsilon-insensitive",
              detail = "L2-regularized L1-loss support vector regression dual (L2R_L1LOSS_SVR_DUAL)"),
  `21` = list(loss = "one-class", detail = "one-class support vector machine (ONECLASS_SVM)")
)

#' Predictions of a linear model
#'
#' @param object a [sheaf_linear()].
#' @param newx new rows, with the columns of the training data.
#' @param proba whether to give probabilities; logistic regression only.
#' @param decisionValues whether to give decision values.
#' @param ... not used.
#' @return A list of `predictions` (type 21: `TRUE` for rows that are no outliers) and, as asked for, `probabilities`
#'   and `decisionValues`.
#' @examples
#' fit <- sheaf_linear(scale(iris[, 1:4]), iris$Species)
#' predict(fit, scale(iris[, 1:4])[c(1, 51, 101), ], proba = TRUE)
#' @export
predict.sheaf_linear <- function(object, newx, proba = FALSE, decisionValues = FALSE, ...) {
  if (missing(newx)) stop_argument("newx", "is missing")
  x <- new_features(object, newx, "newx")
  if (proba && !object$probabilities) stop_argument("proba", "is for logistic regression (types 0, 6 and 7)")
  found <- predict_core(object, x, proba)
  predictions <- if (isTRUE(object$one_class)) {
    found$decisions[, 1] >= 0
  } else if (object$regression) {
    found$decisions[, 1]
  } else {
    as_classes(found$classes, found$levels, object$levels)
  }
  answer <- list(predictions = predictions)
  if (proba) answer$probabilities <- probability_columns(found, object$levels, rownames(x))
  if (decisionValues) answer$decisionValues <- found$decisions
  answer
}

#' @export
coef.sheaf_linear <- function(object, ...) t(object$W)

#' @export
print.sheaf_linear <- function(x, ...) {
  cat("\n", x$TypeDetail, "\n", sep = "")
  if (!is.null(x$ClassNames) && !x$regression) cat("Classes:", paste(x$ClassNames, collapse = ", "), "\n")
  cat(x$n_features, "features, bias", x$Bias, "\n")
  invisible(x)
}

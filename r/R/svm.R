#' Support vector machines
#'
#' As `e1071::svm()`: the same arguments and defaults, and an object of the same elements.
#'
#' @details
#' `scale = TRUE` centres and scales the columns of a dense matrix, and the response of a regression, as `e1071::svm()`
#' does. Classes stand in the order of the factor's levels, in `labels` and in the columns of decision values, which are
#' named `first/second`; e1071 orders them by their first rows. Probabilities come from a cross-validation within the
#' training rows, whose folds are drawn by `seed`. The folds of `cross` are dealt as [tune_sheaf_svm()] deals them;
#' columns are scaled before, over all rows, as in e1071.
#'
#' @param x a formula, or a matrix, sparse matrix or data frame of features.
#' @param y a factor, or numbers; missing: one-classification.
#' @param formula,data,subset,na.action as in [stats::lm()].
#' @param scale whether to scale the columns: one logical, or one for each column.
#' @param type `"C-classification"`, `"nu-classification"`, `"one-classification"`, `"eps-regression"` or
#'   `"nu-regression"`; `NULL`: the first for a factor, `"eps-regression"` for numbers.
#' @param kernel `"radial"`, `"linear"`, `"polynomial"` or `"sigmoid"`.
#' @param degree,gamma,coef0 of the kernel; `gamma = NULL`: 1 / number of columns.
#' @param cost,nu,epsilon of the type.
#' @param class.weights factors of the cost, named by class, or `"balanced"`.
#' @param weights how much each row counts.
#' @param tolerance at which training ends, as in LIBSVM.
#' @param cross folds of a cross-validation, whose scores are added to the object; 0: none.
#' @param probability whether to train for probabilities too.
#' @param fitted whether to predict the training rows.
#' @param seed of the probabilities' cross-validation; `NULL`: drawn from R's generator.
#' @param control see [sheaf_control()].
#' @param ... passed on to the default method.
#' @return An object of class `sheaf_svm` with the elements of an e1071 `svm` object: `SV`, `index`, `coefs`, `rho`,
#'   `nSV`, `tot.nSV`, `labels`, `levels`, `nclasses`, `x.scale`, `y.scale`, `fitted`, `decision.values`,
#'   `residuals` ..., with `cross` also `accuracies` and `tot.accuracy` (percent) or, of a regression, `MSE` and
#'   `tot.MSE`.
#' @seealso [tune_sheaf_svm()], [predict.sheaf_svm()]
#' @examples
#' fit <- sheaf_svm(Species ~ ., data = iris)
#' fit
#' table(predict(fit, iris), iris$Species)
#' @export
sheaf_svm <- function(x, ...) UseMethod("sheaf_svm")

#' @rdname sheaf_svm
#' @export
sheaf_svm.formula <- function(formula, data, subset, na.action = stats::na.omit, scale = TRUE, ...) {
  call <- as_generic(match.call(), quote(sheaf_svm))
  parts <- formula_parts(call, parent.frame())
  if (length(scale) == 1) scale <- rep(scale, ncol(parts$x))
  # Columns of levels stay as they are, as in e1071.
  if (length(scale) == ncol(parts$x)) scale <- scale & !parts$from_levels
  fit <- sheaf_svm.default(parts$x, parts$y, scale = scale, ...)
  fit$call <- call
  with_terms(fit, parts)
}

# The matrix without an intercept and the response of a call of a formula method.
formula_parts <- function(call, envir) {
  frame <- frame_of(call, envir, c("formula", "data", "subset", "na.action"))
  terms <- attr(frame, "terms")
  attr(terms, "intercept") <- 0
  design <- design_of(frame, terms)
  classes <- attr(terms, "dataClasses")[attr(terms, "term.labels")]
  numeric <- is.na(classes) | classes == "numeric" | startsWith(classes, "nmatrix")
  list(x = design$x, y = stats::model.response(frame), terms = terms, xlevels = stats::.getXlevels(terms, frame),
       contrasts = design$contrasts, na.action = attr(frame, "na.action"), from_levels = !numeric[design$assign])
}

# Elements of a formula that predictions of new rows need.
with_terms <- function(fit, parts) {
  fit[c("terms", "xlevels", "contrasts", "na.action")] <- parts[c("terms", "xlevels", "contrasts", "na.action")]
  fit
}

svm_types <- c(`C-classification` = "c-svc", `nu-classification` = "nu-svc", `one-classification` = "one-class",
               `eps-regression` = "epsilon-svr", `nu-regression` = "nu-svr")
svm_kernels <- c(radial = "rbf", linear = "linear", polynomial = "polynomial", sigmoid = "sigmoid")

#' @rdname sheaf_svm
#' @export
sheaf_svm.default <- function(x, y = NULL, scale = TRUE, type = NULL,
                              kernel = c("radial", "linear", "polynomial", "sigmoid"), degree = 3, gamma = NULL,
                              coef0 = 0, cost = 1, nu = 0.5, class.weights = NULL, tolerance = 0.001, epsilon = 0.1,
                              cross = 0, probability = FALSE, fitted = TRUE, weights = NULL, seed = NULL,
                              control = list(), ...) {
  call <- as_generic(match.call(), quote(sheaf_svm))
  if (...length() > 0) stop_argument(...names()[1], "is not an argument of sheaf_svm()")
  x <- as_features(x)
  kernel <- one_of(kernel, names(svm_kernels), "kernel")
  y <- if (is.null(y)) NULL else as_target(y, nrow(x))
  type <- svm_type(type, y)
  if (grepl("classification", type) && type != "one-classification") y <- need_classes(y)
  if (grepl("regression", type) && is.factor(y)) stop_argument("y", "is a factor, and ", type, " is for numbers")
  scaled <- scale_svm(x, y, scale, type)
  gamma <- if (is.null(gamma)) 1 / ncol(x) else one_number(gamma, "gamma", 0)
  settings <- rbind(
    setting("type", svm_types[[type]]), setting("kernel", svm_kernels[[kernel]]), setting("degree", degree),
    setting("gamma", gamma), setting("coef0", coef0), setting("cost", cost), setting("nu", nu),
    setting("epsilon", epsilon), setting("tolerance", tolerance),
    setting("probability", one_flag(probability, "probability")),
    class_weight_settings(class.weights, levels(y), "class.weights")
  )
  target <- if (type == "one-classification") list(numbers = rep(1, nrow(x))) else core_target(scaled$y, FALSE)
  surroundings <- as_control(control, if (probability) draw_seed(seed))
  model <- core(core_fit(surroundings, scaled$x, about_features(scaled$x, target), "svm", settings, no_settings(),
                         check_weights(weights, nrow(x)), list(), TRUE))
  fit <- list(call = call, type = type, kernel = kernel, cost = cost, degree = degree, gamma = gamma, coef0 = coef0,
              nu = nu, epsilon = epsilon, sparse = is(x, "dgCMatrix"), scaled = scaled$columns,
              x.scale = scaled$x.scale, y.scale = scaled$y.scale, levels = levels(y), compprob = probability,
              control = control)
  fit <- c(fit, support_of(model, fit), list(model = keep_model(model), n_features = ncol(x),
                                             feature_names = colnames(x)))
  if (one_number(cross, "cross", 0, nrow(x)) > 0) {
    values <- list(kernel = kernel, gamma = gamma, degree = degree, coef0 = coef0, nu = nu, epsilon = epsilon,
                   tolerance = tolerance)
    fit <- c(fit, cross_validate_svm(scaled, type, cross, cost, values, class.weights, weights, control))
  }
  class(fit) <- "sheaf_svm"
  warn_each(model$warnings)
  if (!fitted) return(fit)
  found <- predict_core(fit, scaled$x)
  fit$fitted <- svm_answer(fit, found, rownames(x))
  fit$decision.values <- svm_decisions(fit, found, rownames(x))
  if (is.double(y) && grepl("regression", type)) fit$residuals <- y - fit$fitted
  fit
}

# Scores of each fold and of all rows, under the names of e1071.
cross_validate_svm <- function(scaled, type, cross, cost, values, class.weights, weights, control) {
  if (type == "one-classification") stop_argument("cross", "is not for one-classification")
  rows <- nrow(scaled$x)
  train <- deal_folds(rows, cross)
  folds <- check_folds(held_out_fold(train, rows), rows)
  search <- list(x = scaled$x, y = scaled$y, type = type, folds = folds, scale = FALSE, class.weights = class.weights,
                 weights = check_weights(weights, rows), control = as_control(control, 0))
  errors <- score_part(search, data.frame(cost = cost), values)[1, ]
  total <- sum(errors * tabulate(folds + 1)) / rows
  if (is.factor(scaled$y)) return(list(accuracies = 100 * (1 - errors), tot.accuracy = 100 * (1 - total)))
  units <- if (is.null(scaled$y.scale)) 1 else scaled$y.scale[["scaled:scale"]]^2
  list(MSE = errors * units, tot.MSE = total * units)
}

svm_type <- function(type, y) {
  if (is.null(y)) type <- if (is.null(type)) "one-classification" else type
  if (is.null(type)) type <- if (is.factor(y)) "C-classification" else "eps-regression"
  type <- one_of(type, names(svm_types), "type")
  if (is.null(y) && type != "one-classification") stop_argument("y", "is missing")
  type
}

scale_svm <- function(x, y, scale, type) {
  if (!is.logical(scale) || anyNA(scale) || !length(scale) %in% c(1, ncol(x))) {
    stop_argument("scale", "must be TRUE or FALSE, or one of them for each column")
  }
  columns <- rep_len(scale, ncol(x))
  if (is(x, "dgCMatrix")) columns[] <- FALSE
  result <- list(x = x, y = y, columns = columns)
  if (!any(columns)) return(result)
  constant <- vapply(which(columns), function(j) max(x[, j]) == min(x[, j]), NA)
  if (isTRUE(any(constant))) {
    warning("columns ", paste(feature_names(x)[which(columns)[constant]], collapse = ", "),
            " are constant and are not scaled", call. = FALSE)
    columns[which(columns)[constant]] <- FALSE
  }
  wanted <- scale(x[, columns, drop = FALSE])
  x[, columns] <- wanted
  result$x <- x
  result$columns <- columns
  result$x.scale <- list(`scaled:center` = attr(wanted, "scaled:center"), `scaled:scale` = attr(wanted, "scaled:scale"))
  if (grepl("regression", type)) {
    response <- scale(y)
    result$y.scale <- list(`scaled:center` = attr(response, "scaled:center"),
                           `scaled:scale` = attr(response, "scaled:scale"))
    result$y <- as.double(response)
  }
  result
}

# Support vectors and coefficients as LIBSVM keeps them: of the SVM of classes a and b, column b - 1 holds the
# coefficients of vectors of class a, and column a those of class b.
support_of <- function(model, fit) {
  svm <- model$svm
  classes <- length(model$levels)
  coefs <- matrix(0, length(svm$rows), length(svm$rho))
  coefs[cbind(svm$vector, svm$svm)] <- svm$value
  if (classes > 2) {
    of_pairs <- coefs
    coefs <- matrix(0, length(svm$rows), classes - 1)
    place <- 0
    for (a in seq_len(classes - 1)) {
      for (b in (a + 1):classes) {
        place <- place + 1
        of_a <- svm$classes == a
        of_b <- svm$classes == b
        coefs[of_a, b - 1] <- of_pairs[of_a, place]
        coefs[of_b, a] <- of_pairs[of_b, place]
      }
    }
  }
  vectors <- svm$vectors
  if (is.list(vectors)) vectors <- dense_rows(vectors, model$features)
  if (!is.null(vectors)) dimnames(vectors) <- list(svm$rows, fit$feature_names)
  list(nclasses = max(classes, 2L), tot.nSV = length(svm$rows),
       nSV = if (classes > 0) tabulate(svm$classes, classes) else length(svm$rows),
       labels = if (classes > 0) match(model$levels, fit$levels), SV = vectors, index = svm$rows, rho = svm$rho,
       coefs = coefs, probA = svm$sigmoid_a, probB = svm$sigmoid_b,
       sigma = if (classes == 0) svm$sigmoid_a, core_levels = model$levels)
}

# A matrix from its compressed rows.
dense_rows <- function(parts, columns) {
  counts <- diff(parts$offsets)
  dense <- matrix(0, length(counts), columns)
  dense[cbind(rep(seq_along(counts), counts), parts$indices + 1L)] <- parts$values
  dense
}

svm_answer <- function(fit, found, rows) {
  if (fit$type == "one-classification") return(stats::setNames(found$classes == 1, rows))
  if (grepl("classification", fit$type)) {
    return(stats::setNames(as_classes(found$classes, found$levels, fit$levels), rows))
  }
  values <- found$decisions[, 1]
  if (!is.null(fit$y.scale)) values <- values * fit$y.scale[["scaled:scale"]] + fit$y.scale[["scaled:center"]]
  stats::setNames(values, rows)
}

svm_decisions <- function(fit, found, rows) {
  decisions <- found$decisions
  names <- NULL
  if (length(fit$core_levels) > 1) {
    pairs <- utils::combn(fit$core_levels, 2)
    names <- paste(pairs[1, ], pairs[2, ], sep = "/")
  }
  dimnames(decisions) <- list(rows, names)
  decisions
}

#' Predictions of a support vector machine
#'
#' @param object a [sheaf_svm()].
#' @param newdata new rows: a data frame or a matrix; missing: the training rows.
#' @param decision.values,probability whether to add the decision values, or the probabilities, as attributes.
#' @param na.action what to do with rows that have missing values.
#' @param ... not used.
#' @return A factor with the levels of the training data, numbers, or (one-classification) logical values; with the
#'   attributes `decision.values` and `probabilities` as asked for.
#' @examples
#' fit <- sheaf_svm(Species ~ ., data = iris, probability = TRUE, seed = 1)
#' head(attr(predict(fit, iris, probability = TRUE), "probabilities"))
#' @export
predict.sheaf_svm <- function(object, newdata, decision.values = FALSE, probability = FALSE,
                              na.action = stats::na.omit, ...) {
  if (missing(newdata)) {
    if (is.null(object$fitted)) stop_argument("newdata", "is missing, and the model has not kept its fitted values")
    return(object$fitted)
  }
  if (probability && !object$compprob) {
    stop_argument("probability", "needs a model that was trained with probability = TRUE")
  }
  x <- if (is.null(object$terms)) new_features(object, newdata) else svm_design(object, newdata, na.action)
  if (any(object$scaled)) {
    x[, object$scaled] <- scale(x[, object$scaled, drop = FALSE], object$x.scale[["scaled:center"]],
                                object$x.scale[["scaled:scale"]])
  }
  classes <- grepl("classification", object$type) && object$type != "one-classification"
  found <- predict_core(object, x, probability && classes)
  answer <- svm_answer(object, found, rownames(x))
  if (decision.values) attr(answer, "decision.values") <- svm_decisions(object, found, rownames(x))
  if (probability && classes) attr(answer, "probabilities") <- probability_columns(found, object$levels, rownames(x))
  answer
}

svm_design <- function(object, newdata, na.action) new_design(object, newdata, na.action)$x

#' @export
print.sheaf_svm <- function(x, ...) {
  cat("\nCall:\n", paste(deparse(x$call, 0.8 * getOption("width")), collapse = "\n"), "\n\n", sep = "")
  cat("Parameters:\n   SVM-Type: ", x$type, "\n SVM-Kernel: ", x$kernel, "\n")
  if (x$type %in% c("C-classification", "eps-regression", "nu-regression")) cat("       cost: ", x$cost, "\n")
  if (x$kernel == "polynomial") cat("     degree: ", x$degree, "\n")
  if (x$kernel != "linear") cat("      gamma: ", x$gamma, "\n")
  if (x$type %in% c("nu-classification", "nu-regression", "one-classification")) cat("         nu: ", x$nu, "\n")
  if (x$type == "eps-regression") cat("    epsilon: ", x$epsilon, "\n")
  cat("\nNumber of Support Vectors: ", x$tot.nSV, "\n\n")
  invisible(x)
}

#' @export
summary.sheaf_svm <- function(object, ...) structure(object, class = "summary.sheaf_svm")

#' @export
print.summary.sheaf_svm <- function(x, ...) {
  print.sheaf_svm(x)
  if (!is.null(x$levels)) {
    cat(" (", paste(x$nSV, collapse = " "), ")\n\n\nNumber of Classes: ", x$nclasses, "\n\nLevels:\n ",
        paste(x$levels, collapse = " "), "\n\n", sep = "")
  }
  if (!is.null(x$accuracies) || !is.null(x$MSE)) {
    of_classes <- !is.null(x$accuracies)
    folds <- if (of_classes) x$accuracies else x$MSE
    cat("\n", length(folds), "-fold cross-validation on training data:\n\nTotal ",
        if (of_classes) "Accuracy: " else "Mean Squared Error: ", if (of_classes) x$tot.accuracy else x$tot.MSE,
        "\n", if (of_classes) "Single Accuracies:" else "Squared Errors of folds:", "\n ",
        paste(format(folds, digits = 4), collapse = " "), "\n\n", sep = "")
  }
  invisible(x)
}

#' @export
fitted.sheaf_svm <- function(object, ...) stats::napredict(object$na.action, object$fitted)

#' @export
residuals.sheaf_svm <- function(object, ...) object$residuals

#' @export
coef.sheaf_svm <- function(object, ...) {
  if (object$kernel != "linear" || length(object$rho) != 1) {
    stop_sheaf("coefficients are those of a linear kernel and two classes or a numeric response")
  }
  c(`(Intercept)` = -object$rho, drop(crossprod(object$SV, object$coefs)))
}

#' Plot the classes of a support vector machine
#'
#' As e1071 plots them: which class the model predicts over two features, with the rows of `data` on top; support
#' vectors are crosses.
#'
#' @param x a [sheaf_svm()] of a formula, for classes.
#' @param data the rows that it was trained on.
#' @param formula the features to draw, `vertical ~ horizontal`; needed where the model has more than two.
#' @param slice a list of values for the other features; those that are not named are 0 or, of factors, the first level.
#' @param grid how many points there are along each axis.
#' @param ... passed on to [graphics::image()].
#' @return Nothing; called for its plot.
#' @examples
#' fit <- sheaf_svm(Species ~ ., data = iris)
#' plot(fit, iris, Petal.Width ~ Petal.Length, slice = list(Sepal.Width = 3, Sepal.Length = 6))
#' @export
plot.sheaf_svm <- function(x, data, formula = NULL, slice = list(), grid = 50, ...) {
  if (is.null(x$terms)) stop_argument("x", "was trained on a matrix, and only models of a formula can be drawn")
  if (is.null(x$levels)) stop_argument("x", "must be a model of classes")
  features <- attr(stats::delete.response(x$terms), "term.labels")
  shown <- if (is.null(formula)) features else all.vars(formula)
  if (length(shown) != 2 || !all(shown %in% features)) {
    stop_argument("formula", "must name two features of the model, as in vertical ~ horizontal")
  }
  lattice <- lapply(data[shown], function(values) seq(min(values), max(values), length.out = grid))
  places <- expand.grid(lattice)
  for (other in setdiff(features, shown)) {
    usual <- if (is.factor(data[[other]])) factor(levels(data[[other]])[1], levels(data[[other]])) else 0
    places[[other]] <- slice[[other]] %||% usual
  }
  classes <- matrix(as.integer(stats::predict(x, places)), grid)
  colours <- grDevices::hcl.colors(length(x$levels), "Pastel 1")
  graphics::image(lattice[[2]], lattice[[1]], t(classes), col = colours, zlim = c(1, length(x$levels)),
                  xlab = shown[2], ylab = shown[1], useRaster = TRUE, ...)
  truth <- as.integer(factor(data[[all.vars(x$terms)[1]]], levels = x$levels))
  graphics::points(data[[shown[2]]], data[[shown[1]]], col = grDevices::hcl.colors(length(x$levels), "Dark 3")[truth],
                   pch = ifelse(seq_along(truth) %in% x$index, 4, 1))
  graphics::legend("topleft", x$levels, fill = colours, bty = "n")
  invisible(x)
}

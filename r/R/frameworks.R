#' Models for caret
#'
#' `caret::train(x, y, method = sheaf_caret("svm"))` tunes and resamples with caret what Sheaf trains. [sheaf_search()]
#' does the same as one piece of work, and is faster.
#'
#' @param model `"svm"` (parameters `cost`, `gamma`), `"linear"` (`cost`), `"net"` (`alpha`, `lambda`, as in glmnet),
#'   `"knn"` (`k`) or `"local"` (`k`, a local support vector machine).
#' @return A list that describes the model to caret.
#' @examplesIf requireNamespace("caret", quietly = TRUE)
#' set.seed(1)
#' fit <- caret::train(iris[, 1:4], iris$Species, method = sheaf_caret("svm"),
#'                     tuneGrid = expand.grid(cost = c(1, 10), gamma = 0.1),
#'                     trControl = caret::trainControl("cv", number = 3))
#' fit$bestTune
#' @export
sheaf_caret <- function(model = c("svm", "linear", "net", "knn", "local")) {
  model <- one_of(model, c("svm", "linear", "net", "knn", "local"), "model")
  kind <- framework_models[[model]]
  parameters <- data.frame(parameter = names(kind$parameters), class = "numeric", label = names(kind$parameters))
  list(
    label = kind$label, library = "sheaf", type = kind$types, parameters = parameters, loop = NULL, sort = identity,
    grid = function(x, y, len = NULL, search = "grid") kind$grid(ncol(x), if (is.null(len)) 3 else len),
    fit = function(x, y, wts, param, lev, last, classProbs, ...) {
      fit_framework(kind, x, y, as.list(param), if (missing(wts)) NULL else wts, ...)
    },
    predict = function(modelFit, newdata, submodels = NULL) kind$predict(modelFit, as.matrix(newdata), FALSE),
    prob = if (kind$probabilities) {
      function(modelFit, newdata, submodels = NULL) as.data.frame(kind$predict(modelFit, as.matrix(newdata), TRUE))
    },
    levels = function(x) x$levels
  )
}

# Numbers without the names of rows; factors, and columns of probabilities, as they are.
classes_or_numbers <- function(found) if (is.factor(found) || is.matrix(found)) found else unname(found)

powers <- function(base, from, to, len) base^seq(from, to, length.out = max(len, 2))

# Our models for frameworks: parameters with their types, training and prediction.
framework_models <- list(
  svm = list(
    label = "Support vector machine (Sheaf)", types = c("Classification", "Regression"), probabilities = FALSE,
    parameters = c(cost = "double", gamma = "double"),
    grid = function(columns, len) expand.grid(cost = powers(4, -1, 3, len), gamma = powers(4, -1, 1, len) / columns),
    fit = function(x, y, weights, cost = 1, gamma = NULL, ...) {
      sheaf_svm(x, y, cost = cost, gamma = gamma, weights = weights, fitted = FALSE, ...)
    },
    predict = function(fit, x, probabilities) classes_or_numbers(stats::predict(fit, x))
  ),
  linear = list(
    label = "Logistic regression (Sheaf)", types = "Classification", probabilities = TRUE,
    parameters = c(cost = "double"),
    grid = function(columns, len) data.frame(cost = powers(10, -2, 2, len)),
    fit = function(x, y, weights, cost = 1, ...) sheaf_linear(x, y, cost = cost, weights = weights, ...),
    predict = function(fit, x, probabilities) {
      found <- stats::predict(fit, x, proba = probabilities)
      if (probabilities) found$probabilities else found$predictions
    }
  ),
  net = list(
    label = "Elastic net (Sheaf)", types = c("Classification", "Regression"), probabilities = TRUE,
    parameters = c(alpha = "double", lambda = "double"),
    grid = function(columns, len) {
      expand.grid(alpha = seq(0.1, 1, length.out = max(len, 2)), lambda = powers(10, -3, -0.5, len))
    },
    fit = function(x, y, weights, alpha = 1, lambda = 0.01, ...) {
      family <- if (!is.factor(y)) "gaussian" else if (nlevels(y) == 2) "binomial" else "multinomial"
      fit <- sheaf_net(x, y, family = family, alpha = alpha, lambda = lambda, weights = weights, ...)
      fit$levels <- levels(y)
      fit
    },
    predict = function(fit, x, probabilities) {
      if (is.null(fit$levels)) return(drop(stats::predict(fit, x)))
      found <- stats::predict(fit, x, type = "response")
      found <- if (length(fit$levels) == 2) cbind(1 - found[, 1], found[, 1]) else matrix(found, nrow(x))
      colnames(found) <- fit$levels
      if (probabilities) found else factor(fit$levels[max.col(found, "first")], levels = fit$levels)
    }
  ),
  knn = list(
    label = "Nearest neighbours (Sheaf)", types = c("Classification", "Regression"), probabilities = TRUE,
    parameters = c(k = "integer"),
    grid = function(columns, len) data.frame(k = 2 * seq_len(len) + 3),
    fit = function(x, y, weights, k = 5, ...) sheaf_knn(x, y, k = k, weights = weights, ...),
    predict = function(fit, x, probabilities) {
      classes_or_numbers(stats::predict(fit, x, type = if (probabilities) "prob" else "response"))
    }
  ),
  local = list(
    label = "Local support vector machine (Sheaf)", types = "Classification", probabilities = FALSE,
    parameters = c(k = "integer"),
    grid = function(columns, len) data.frame(k = 20 * seq_len(len)),
    fit = function(x, y, weights, k = 40, ...) sheaf_local(x, y, kind = "local-svm", k = k, weights = weights, ...),
    predict = function(fit, x, probabilities) stats::predict(fit, x)
  )
)

fit_framework <- function(kind, x, y, parameters, weights = NULL, ...) {
  do.call(kind$fit, c(list(as.matrix(x), y, weights), parameters, list(...)))
}

# Learners of mlr: makeLearner("classif.sheaf_svm") and others. mlr finds them as methods of its own generics.
#
# listLearners() calls these methods with a function of its own in place of makeRLearnerClassif() or makeRLearnerRegr(),
# in a new parent of what they are called in: hence get().
mlr_learner <- function(model, task) {
  maker <- c(classif = "makeRLearnerClassif", regr = "makeRLearnerRegr")[[task]]
  parts <- mlr_parts
  learner <- function() do.call(get(maker), parts(model, task))
  environment(learner) <- list2env(list(model = model, task = task, maker = maker, parts = parts),
                                   parent = asNamespace("mlr"))
  learner
}

mlr_parts <- function(model, task) {
  kind <- framework_models[[model]]
  parameters <- Map(function(name, type) {
    if (type == "integer") return(ParamHelpers::makeIntegerLearnerParam(name, lower = 1))
    ParamHelpers::makeNumericLearnerParam(name, lower = 0)
  }, names(kind$parameters), kind$parameters)
  classif <- task == "classif"
  properties <- c("numerics", "weights", if (classif) c("twoclass", "multiclass"),
                  if (classif && kind$probabilities) "prob")
  list(cl = paste0(task, ".sheaf_", model), package = "sheaf",
       par.set = ParamHelpers::makeParamSet(params = parameters), properties = properties, name = kind$label,
       short.name = paste0("sheaf_", model))
}

mlr_train <- function(model) {
  force(model)
  function(.learner, .task, .subset, .weights = NULL, ...) {
    data <- mlr::getTaskData(.task, .subset, target.extra = TRUE)
    fit_framework(framework_models[[model]], data$data, data$target, list(...), .weights)
  }
}

mlr_predict <- function(model) {
  force(model)
  function(.learner, .model, .newdata, ...) {
    probabilities <- identical(.learner$predict.type, "prob")
    framework_models[[model]]$predict(.model$learner.model, as.matrix(.newdata), probabilities)
  }
}

# Methods are registered when mlr is there, or comes later.
register_mlr <- function() {
  if (isNamespaceLoaded("mlr")) return(register_mlr_now())
  setHook(packageEvent("mlr", "onLoad"), function(...) register_mlr_now())
}

register_mlr_now <- function() {
  namespace <- asNamespace("mlr")
  for (model in names(framework_models)) {
    kind <- framework_models[[model]]
    for (task in c("classif", "regr")[c("Classification", "Regression") %in% kind$types]) {
      class <- paste0(task, ".sheaf_", model)
      registerS3method("makeRLearner", class, mlr_learner(model, task), namespace)
      registerS3method("trainLearner", class, mlr_train(model), namespace)
      registerS3method("predictLearner", class, mlr_predict(model), namespace)
    }
  }
}

#' An engine for parsnip
#'
#' Registers the engine `"sheaf"` with package parsnip for `svm_rbf()`, `nearest_neighbor()` and `multinom_reg()`. It is
#' to be called once in a session, with parsnip installed.
#'
#' @param parsnip the namespace of package parsnip.
#' @return `NULL`, invisibly.
#' @examples
#' \dontrun{
#' sheaf_parsnip()
#' model <- parsnip::set_engine(parsnip::svm_rbf("classification", cost = 10), "sheaf")
#' parsnip::fit(model, Species ~ ., iris)
#' }
#' @export
sheaf_parsnip <- function(parsnip = asNamespace("parsnip")) {
  for (row in parsnip_models) {
    parsnip$set_model_engine(row$model, row$mode, "sheaf")
    parsnip$set_dependency(row$model, "sheaf", "sheaf")
    for (name in names(row$arguments)) {
      parsnip$set_model_arg(row$model, "sheaf", name, row$arguments[[name]],
                            list(pkg = "dials", fun = name), has_submodel = FALSE)
    }
    parsnip$set_fit(row$model, row$mode, "sheaf",
                    list(interface = "matrix", protect = c("x", "y"), func = c(pkg = "sheaf", fun = row$fit),
                         defaults = row$defaults))
    parsnip$set_encoding(row$model, row$mode, "sheaf",
                         list(predictor_indicators = "traditional", compute_intercept = FALSE, remove_intercept = TRUE,
                              allow_sparse_x = TRUE))
    for (type in names(row$predict)) {
      parsnip$set_pred(row$model, row$mode, "sheaf", type,
                       list(pre = NULL, post = row$post[[type]], func = c(fun = "predict"),
                            args = c(list(object = quote(object$fit), newdata = quote(new_data)), row$predict[[type]])))
    }
  }
  invisible(NULL)
}

named_probabilities <- function(result, object) as.data.frame(result)

parsnip_models <- list(
  list(model = "svm_rbf", mode = "classification", fit = "sheaf_svm",
       arguments = list(cost = "cost", rbf_sigma = "gamma"), defaults = list(fitted = FALSE),
       predict = list(class = list())),
  list(model = "svm_rbf", mode = "regression", fit = "sheaf_svm",
       arguments = list(cost = "cost", rbf_sigma = "gamma", margin = "epsilon"), defaults = list(fitted = FALSE),
       predict = list(numeric = list())),
  list(model = "nearest_neighbor", mode = "classification", fit = "sheaf_knn", arguments = list(neighbors = "k"),
       defaults = list(), predict = list(class = list(), prob = list(type = "prob")),
       post = list(prob = named_probabilities)),
  list(model = "nearest_neighbor", mode = "regression", fit = "sheaf_knn", arguments = list(neighbors = "k"),
       defaults = list(), predict = list(numeric = list())),
  list(model = "multinom_reg", mode = "classification", fit = "sheaf_glm", arguments = list(penalty = "alpha"),
       defaults = list(family = "multinomial"),
       predict = list(class = list(type = "class"), prob = list(type = "response")),
       post = list(prob = named_probabilities))
)

.onLoad <- function(libname, pkgname) register_mlr()

#' Search for the best model
#'
#' Cross-validation of the models that suit the data, of some that are named, or of one over a grid, with all steps
#' before the model (filling in missing values, scaling, selecting features ...) learnt inside the folds; the chosen
#' model is trained again on all rows. All points on all folds are trained together.
#'
#' @details
#' Kinds of models, their options and what a search varies are listed by [sheaf_parameters()]. Names may be written with
#' `_` or `.` in place of `-`.
#'
#' Without `grid` the grid is found from the data, and may go on beyond its ends. Models that are clearly worse than
#' others are dropped before all folds are tried.
#'
#' Missing values are filled with medians and, for models that compare features (SVMs, neighbours, elastic nets),
#' features of dense data are scaled to mean 0 and standard deviation 1, unless `prepare` says otherwise: with
#' `impute = "none"` missing values are refused or, by the formula method, rows with them are left out; with
#' `scale = "none"` features stay as they are. Steps in `prepare` are, in this order:
#' `impute` (`"mean"`, `"median"`, `"most-frequent"`, `"constant"` with `fill`), `transform` (`"log1p"`, `"sqrt"`,
#' `"share"`, `"clr"`, `"norm"`, `"rank"`; of some columns: `c("log1p:income,age", "sqrt:visits")`), `min_prevalence`,
#' `min_variance`, `scale` (`"standard"`, `"maxabs"`, `"01"`, `"-11"`, `"robust"`), `select` (a criterion and numbers of
#' features, as `"jmi:10,20"`; with `bins` and `binning` as in [sheaf_select()]). Factors of a data frame become columns
#' of 0 and 1 inside the folds.
#'
#' @param x a formula, or a matrix, sparse matrix or data frame.
#' @param y a factor, numbers, or a `survival::Surv()`.
#' @param formula,data a response and variables as they are, without functions of them; `.` stands for all others.
#' @param model `"auto"`: the models that suit the data, compared on the same folds, of which the best is taken; several
#'   names: those models; `NULL`: `"auto"` or, if `grid` or options are given, the first kind that has them. Kinds:
#'   `"linear"`, `"svm"`, `"elastic-net"`, `"lasso"`, `"ridge"`, `"elastic-net-logistic"`,
#'   `"elastic-net-multinomial"`, `"elastic-net-poisson"`, `"elastic-net-huber"`, `"elastic-net-quantile"`,
#'   `"elastic-net-cox"`, `"glm"`, `"multinomial"`, `"knn"`, `"hknn"`, `"alh"` or `"cknn"`. For survival: `"glm"`,
#'   `"elastic-net"`, `"lasso"`, `"ridge"` and `"elastic-net-cox"`.
#' @param grid a list of values to try, such as `list(cost = c(1, 10), gamma = c(0.1, 1))`.
#' @param prepare a list of steps before the model.
#' @param folds number of folds.
#' @param foldid the fold of each row, in place of `folds` and `split`.
#' @param groups the group of each row: rows of a group are never parted.
#' @param split `"stratified"`, `"kfold"`, `"group"`, `"shuffle"`, `"loo"`, `"bootstrap"`, `"time"` ...; `NULL`: by the
#'   data. With `"time"` each of `folds` splits tests a window of time and trains on rows before it.
#' @param order when each row was (numbers, dates or times); without it rows stand in the order of time. Implies
#'   `split = "time"`.
#' @param test_size,window,gap for splits by time: how many different times (without `order`: rows) a split tests, the
#'   most before these that it trains on (`NULL`: all) and how many are left out between the two.
#' @param equal_rows rows with the same features: `"together"` keeps them on one side of every split, `"apart"` splits
#'   them like other rows, and `"auto"` keeps them together unless features have few values or folds would be uneven.
#' @param outer outer folds of nested validation, for a score without the optimism of the choice; 0: none.
#' @param score what to choose by, a name of [sheaf_metrics()]; `NULL`: accuracy (elastic nets, and two classes of which
#'   one is frequent: AUC; more classes of which one is frequent: balanced accuracy), R2 for numbers (Huber nets: the
#'   mean absolute error, quantile nets: the pinball loss), of counts and of survival the deviance.
#' @param choose `"best"`, or `"one-standard-error"`: the simplest model within one standard error of the best.
#' @param strategy `"auto"`, `"grid"`, `"random"`, `"refine"`, `"descent"` or `"halving"`.
#' @param trials how many points `"random"` and `"refine"` draw.
#' @param stack of several models: the final model is a stack of so many of the best, whose predictions are averaged
#'   with weights that are learnt on held-out predictions; `NULL`: the best one alone.
#' @param predictions whether to keep what the chosen models predict for held-out rows.
#' @param calibrate `"platt"` or `"isotonic"`: learn probabilities from those predictions.
#' @param weights how much each row counts in training.
#' @param seed of the folds; `NULL`: drawn from R's generator.
#' @param control see [sheaf_control()].
#' @param ... options of the model, such as `kernel = "rbf"`. Those of several models, like `grid`, are set in each
#'   model that has them.
#' @return An object of class `sheaf_search`: `best` (the chosen point: its parameters and, of several models, its
#'   model), `results` (a data frame of points with the mean, standard deviation and standard error of the score, and
#'   the mean size of the models), `scores` (of each metric, points x splits), `outer` (a table of the outer folds),
#'   `predictions`, `models` (a data frame of the models that were compared, best first, with their differences to
#'   the chosen one and corrected 95 % intervals), and `stack` (a data frame of its members and their weights).
#'   `predict()` uses the chosen model.
#' @examples
#' set.seed(1)
#' found <- sheaf_search(iris[, 1:4], iris$Species, model = "svm",
#'                       grid = list(cost = c(1, 10, 100), gamma = c(0.01, 0.1, 1)),
#'                       prepare = list(scale = "standard"))
#' found
#' predict(found, iris[c(1, 51, 101), 1:4])
#' compared <- sheaf_search(iris[, 1:4], iris$Species, model = c("linear", "svm", "knn"))
#' compared$models
#' @export
sheaf_search <- function(x, ...) UseMethod("sheaf_search")

#' @rdname sheaf_search
#' @export
sheaf_search.formula <- function(formula, data, prepare = list(), ...) {
  call <- as_generic(match.call(), quote(sheaf_search))
  parts <- plain_frame(formula, data, fills_missing(prepare))
  found <- sheaf_search.default(parts$x, parts$y, prepare = prepare, ...)
  found$call <- call
  found
}

fills_missing <- function(prepare) !identical(prepare$impute, "none")

# The variables of a formula as they are: levels are encoded inside the folds.
plain_frame <- function(formula, data, keep_missing) {
  terms <- stats::terms(formula, data = data)
  variables <- attr(terms, "term.labels")
  plain <- variables %in% names(data)
  if (!all(plain)) stop_argument("formula", "has the term '", variables[!plain][1], "', which is no column of 'data'")
  y <- eval(attr(terms, "variables")[[2]], data, environment(formula))
  x <- data[variables]
  known <- if (is.matrix(y)) rowSums(is.na(unclass(y))) == 0 else !is.na(y)
  kept <- known & (keep_missing | stats::complete.cases(x))
  list(x = x[kept, , drop = FALSE], y = if (is.matrix(y)) y[kept, , drop = FALSE] else y[kept])
}

#' @rdname sheaf_search
#' @export
sheaf_search.default <- function(x, y, model = NULL, grid = list(), prepare = list(), folds = NULL, foldid = NULL,
                                 groups = NULL, split = NULL, order = NULL, test_size = NULL, window = NULL,
                                 gap = NULL, equal_rows = NULL, outer = NULL, score = NULL, choose = NULL,
                                 strategy = NULL, trials = NULL, stack = NULL, predictions = FALSE, calibrate = NULL,
                                 weights = NULL, seed = NULL, control = list(), ...) {
  call <- as_generic(match.call(), quote(sheaf_search))
  check_split(split, groups)
  settings <- rbind(setting("folds", folds), setting("split", split), setting("test-size", test_size, "test_size"),
                    setting("window", window), setting("gap", gap), setting("equal-rows", equal_rows, "equal_rows"),
                    setting("outer", outer), setting("score", score), setting("stack", stack),
                    setting("choose", choose), setting("strategy", strategy), setting("trials", trials),
                    setting("predictions", one_flag(predictions, "predictions")), setting("calibrate", calibrate))
  found <- run_search(x, y, model, grid, prepare, settings, foldid, groups, weights, seed, control, FALSE, list(...),
                      order)
  found$call <- call
  structure(found, class = "sheaf_search")
}

# Groups that were given are kept together.
check_split <- function(split, groups) {
  if (is.null(groups) || is.null(split) || split %in% c("group", "stratified-group", "group-shuffle", "time")) return()
  stop_argument("split", "\"", split, "\" would put rows of one group on both sides of a split, and 'groups' says ",
                "that they belong together; take \"stratified-group\", \"group\" or \"group-shuffle\", or give no ",
                "groups")
}

# Numbers that order the rows.
check_order <- function(order, rows) {
  if (is.null(order)) return(NULL)
  check_rows(order, rows, "order")
  if (inherits(order, c("Date", "POSIXt", "difftime"))) order <- as.numeric(order)
  if (!is.numeric(order) || any(!is.finite(order))) stop_argument("order", "must be numbers, dates or times")
  as.double(order)
}

run_search <- function(x, y, model, grid, prepare, settings, foldid, groups, weights, seed, control, study, options,
                       order = NULL) {
  x <- as_features(x, nominal = TRUE)
  rows <- nrow(x)
  y <- if (is_survival(y)) read_survival(y, rows) else as_target(y, rows)
  if (is.factor(y)) y <- need_classes(y)
  if (!is.null(model) && (!is.character(model) || length(model) == 0)) {
    stop_argument("model", "must be a name, or several; see sheaf_parameters()")
  }
  if (!is.list(grid)) stop_argument("grid", "must be a list")
  if (!is.list(prepare)) stop_argument("prepare", "must be a list")
  if (!is.null(groups)) check_rows(groups, rows, "groups")
  weighted <- grepl("^class[._-]weights?$", names(options))
  classes <- class_weight_settings(if (any(weighted)) options[[which(weighted)]], levels(y), names(options)[weighted])
  target <- about_features(x, core_target(y), groups, missing = fills_missing(prepare))
  target$times <- check_order(order, rows)
  of_model <- rbind(settings_of(options[!weighted], "..."), classes)
  model <- if (is.null(model)) core_default_model(of_model, settings_of(grid, "grid")) else paste(model, collapse = ",")
  found <- core(core_search(as_control(control, draw_seed(seed)), x, target, model, of_model,
                            settings_of(grid, "grid"), settings,
                            settings_of(prepare, "prepare"), check_folds(foldid, rows),
                            check_weights(weights, rows), TRUE, study))
  found <- with_underscores(found)
  result <- list(title = found$title, levels = levels(y), score = found$score,
                 score_title = found$score_title, larger_is_better = found$larger_is_better, axes = found$axes,
                 axis_titles = found$titles, prepare = prepare, n_features = ncol(x), feature_names = colnames(x),
                 control = control, notes = found$notes, pointer = found$pointer, regression = !is.factor(y))
  if (!is.null(found$points)) result <- c(result, search_results(found))
  if (!is.null(found$models)) result$models <- as.data.frame(found$models)
  if (!is.null(found$stack)) result$stack <- as.data.frame(found$stack)
  if (!is.null(found$outer)) result <- c(result, outer_results(found))
  if (!is.null(found$held_out)) result$predictions <- held_out_frame(found, y)
  if (!is.null(found$model)) {
    result$model <- keep_model(found$model)
    result$coefficients <- model_weights(found$model, !inherits(y, "sheaf_survival"))
  }
  warn_each(found$warnings)
  result
}

# Names of parameters and scores as R users write them: l1_ratio for l1-ratio.
with_underscores <- function(found) {
  r_name <- function(name) gsub("-", "_", name, fixed = TRUE)
  for (part in c("axes", "score")) found[[part]] <- r_name(found[[part]])
  for (part in c("points", "scores", "outer")) {
    if (!is.null(found[[part]])) names(found[[part]]) <- r_name(names(found[[part]]))
  }
  found
}

search_results <- function(found) {
  scores <- found$scores[[found$score]]
  splits <- ncol(scores)
  table <- as.data.frame(found$points, optional = TRUE)
  table$mean <- rowMeans(scores, na.rm = TRUE)
  table$sd <- if (splits > 1) apply(scores, 1, stats::sd, na.rm = TRUE) else 0
  table$se <- table$sd / sqrt(splits)
  table$size <- ifelse(found$sizes < 0, NA, found$sizes)
  point <- as.data.frame(found$points, optional = TRUE)[found$chosen, , drop = FALSE]
  point <- point[!vapply(point, is.na, NA)]  # without the parameters of other models
  rownames(point) <- NULL
  list(results = table, scores = found$scores, chosen = found$chosen, best_place = found$best, best = point,
       best_score = table$mean[found$chosen], splits = splits)
}

outer_results <- function(found) {
  table <- as.data.frame(found$outer, optional = TRUE)
  names(table) <- sub("^score:", "", names(found$outer))
  features <- as.data.frame(found$stability[c("feature", "index", "frequency", "median_rank")])
  features$mean_weight <- found$stability$mean_weight
  features$sign_agreement <- found$stability$sign_agreement
  overall <- stats::setNames(found$stability$overall, c("estimate", "low", "high"))
  list(outer = table, stability = overall, stability_by_chance = found$stability$chance, features = features)
}

held_out_frame <- function(found, y) {
  held <- found$held_out
  table <- data.frame(split = held$split, row = held$row)
  if (inherits(y, "sheaf_survival")) {
    table <- cbind(table, time = y$time[held$row], status = y$event[held$row])
  } else {
    table$truth <- y[held$row]
  }
  if (is.factor(y)) {
    table$predicted <- as_classes(held$class, found$levels, levels(y))
    if (ncol(held$decisions) == 1) table$decision <- held$decisions[, 1]
    shares <- held$probabilities
    if (ncol(shares) > 0) {
      colnames(shares) <- found$levels
      table$probabilities <- shares
    }
  } else {
    table$predicted <- held$decisions[, 1]
  }
  table
}

# Features x decision values, with the intercepts, if there are any, in the first row; NULL where the model has none.
model_weights <- function(model, intercept = TRUE) {
  found <- model$coefficients
  if (is.null(found)) return(NULL)
  columns <- if (ncol(found$weights) > 1) model$levels else model$levels[1]
  table <- rbind(if (intercept) found$intercepts, found$weights)
  dimnames(table) <- list(c(if (intercept) "(Intercept)", found$names), if (length(model$levels) > 0) columns)
  table
}

#' Predictions of the model that a search has chosen
#'
#' @param object a [sheaf_search()].
#' @param newdata new rows, as they were for training: all steps before the model are part of it.
#' @param type `"response"` (classes or numbers), `"prob"` or `"decision"`.
#' @param ... not used.
#' @return A factor, numbers, or a matrix with a column for each class (`"prob"`) or decision value.
#' @examples
#' found <- sheaf_search(iris[, 1:4], iris$Species, model = "knn", seed = 1)
#' head(predict(found, iris[, 1:4], type = "prob"), 3)
#' @export
predict.sheaf_search <- function(object, newdata, type = c("response", "prob", "decision"), ...) {
  type <- one_of(type, c("response", "prob", "decision"), "type")
  if (missing(newdata)) stop_argument("newdata", "is missing")
  if (is.data.frame(newdata) && !is.null(object$feature_names)) {
    lacking <- setdiff(object$feature_names, names(newdata))
    if (length(lacking) > 0) stop_argument("newdata", "has no column '", lacking[1], "'")
    newdata <- newdata[object$feature_names]
  }
  x <- new_features(object, newdata, nominal = TRUE)
  if (type == "prob" && object$regression) stop_argument("type", "\"prob\" is for classes")
  found <- predict_core(object, x, type == "prob", fills_missing(object$prepare))
  if (type == "prob") return(probability_columns(found, object$levels, rownames(x)))
  if (type == "decision") return(found$decisions)
  if (object$regression) return(stats::setNames(found$decisions[, 1], rownames(x)))
  as_classes(found$classes, found$levels, object$levels)
}

#' @export
coef.sheaf_search <- function(object, ...) {
  if (is.null(object$coefficients)) stop_sheaf("the chosen model has no weight for each feature")
  object$coefficients
}

#' @export
print.sheaf_search <- function(x, ...) {
  cat(x$title, "\n\n", counted(nrow(x$results), "point"), " on ", counted(x$splits, "split"), "; ", x$score_title,
      " of the chosen one: ",
      format(x$best_score, digits = 4), " +- ", format(x$results$se[x$chosen], digits = 2),
      " (standard error)\n", sep = "")
  print(x$best, row.names = FALSE)
  if (!is.null(x$models)) print_models(x$models)
  if (!is.null(x$stack)) {
    cat("\nStack, with weights learnt on held-out predictions:\n")
    print(transform(x$stack, weight = format(x$stack$weight, digits = 3)), row.names = FALSE)
  }
  if (!is.null(x$outer)) {
    scores <- x$outer[[x$score]]
    cat("\nNested validation, ", nrow(x$outer), " outer folds: ", format(mean(scores), digits = 4), " +- ",
        format(stats::sd(scores) / sqrt(length(scores)), digits = 2), " (standard error)\n", sep = "")
  }
  for (note in x$notes) cat("Note: ", as_arguments(note), "\n", sep = "")
  invisible(x)
}

# Best first; intervals are those of the differences to the chosen model.
print_models <- function(models) {
  shown <- function(values) ifelse(is.na(values), "", format(values, digits = 3))
  table <- data.frame(model = models$model, mean = format(models$mean, digits = 4), sd = shown(models$sd),
                      difference = format(models$difference, digits = 3), low = shown(models$low),
                      high = shown(models$high), points = models$points,
                      " " = ifelse(models$dropped, "dropped", ""), check.names = FALSE)
  cat("\nModels compared, with 95 % intervals (low, high) of the differences:\n")
  print(table, row.names = FALSE)
}

#' @export
summary.sheaf_search <- function(object, ...) {
  order <- order(object$results$mean, decreasing = object$larger_is_better)
  object$results[order, , drop = FALSE]
}

#' Plot a search
#'
#' The mean score over the first parameter, a curve for each value of the second; of several models the best score of
#' each.
#'
#' @param x a [sheaf_search()].
#' @param ... passed on to [graphics::matplot()]; of several models to [graphics::dotchart()].
#' @return Nothing; called for its plot.
#' @examples
#' plot(sheaf_search(iris[, 1:4], iris$Species, model = "knn", seed = 1))
#' @export
plot.sheaf_search <- function(x, ...) {
  if (!is.null(x$models)) {
    graphics::dotchart(rev(x$models$mean), labels = rev(x$models$model), pch = 19, xlab = x$score_title, ...)
    return(invisible(x))
  }
  first <- x$results[[x$axes[1]]]
  others <- x$results[setdiff(intersect(x$axes, names(x$results)), x$axes[1])]
  key <- if (length(others) > 0) do.call(paste, others) else rep("", nrow(x$results))
  along <- sort(unique(first))
  curves <- vapply(unique(key), function(one) x$results$mean[key == one][match(along, first[key == one])], along * 0)
  numeric <- is.numeric(along) && all(along > 0)
  graphics::matplot(if (is.numeric(along)) along else seq_along(along), as.matrix(curves), type = "b", pch = 20,
                    lty = 1, log = if (numeric) "x" else "", xlab = x$axis_titles[1], ylab = x$score_title, ...)
  invisible(x)
}

#' Write the report of a search or a study
#'
#' One HTML file with its plots inside, which loads nothing from anywhere.
#'
#' @param object a [sheaf_search()] or [sheaf_study()] of this session.
#' @param file where to write it.
#' @return The path of the file, invisibly.
#' @examples
#' found <- sheaf_search(iris[, 1:4], iris$Species, model = "knn", seed = 1)
#' sheaf_report(found, tempfile(fileext = ".html"))
#' @export
sheaf_report <- function(object, file) {
  if (!inherits(object, c("sheaf_search", "sheaf_study"))) stop_argument("object", "must be a search or a study")
  if (!core_is_alive(object$pointer)) stop_argument("object", "comes from another session; search again for a report")
  writeLines(core(core_search_html(object$pointer)), file, useBytes = TRUE)
  invisible(file)
}

#' Models, their options and what a search can vary
#'
#' @param kind a kind of model, or `"read"`, `"search"`, `"pipeline"`, `"select"`, `"binning"`, `"neighbors"`,
#'   `"distance"`, `"percolator"`; `NULL`: the kinds of models there are.
#' @return A data frame: `name`, `help`, `default` and `choices` of each option, and for a kind of model `searched`,
#'   whether it can stand in the `grid` of [sheaf_search()].
#' @examples
#' sheaf_parameters()
#' sheaf_parameters("svm")[, c("name", "default", "searched")]
#' @export
sheaf_parameters <- function(kind = NULL) {
  if (is.null(kind)) return(core_kinds())
  table <- core(core_parameters(kind))
  if (!kind %in% core_kinds()$name) return(table)
  axes <- core_axes(kind)
  new <- setdiff(axes, table$name)
  table$searched <- table$name %in% axes
  if (length(new) == 0) return(table)
  rbind(table, data.frame(name = new, help = "of a search only", default = "", choices = "", searched = TRUE))
}

#' Scores of models
#'
#' @return A data frame: `name`, `title`, `larger_is_better` and `regression`.
#' @examples
#' head(sheaf_metrics())
#' @export
sheaf_metrics <- function() core_metrics()

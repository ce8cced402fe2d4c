# Matrices, targets, weights and model frames, checked and in the form that the compiled part reads.

# A numeric matrix or a dgCMatrix. Only what is neither is converted. With `nominal`, columns of a data frame that are
# factors, texts or logical become numbers of levels from 0, and an attribute holds the levels.
as_features <- function(x, argument = "x", nominal = FALSE) {
  if (isS4(x) && is(x, "sheaf_array")) x <- device_features(x, argument)
  if (is.data.frame(x)) {
    x <- frame_features(x, argument, nominal)
  } else if (isS4(x) && is(x, "sparseMatrix")) {
    if (!is(x, "dgCMatrix")) x <- as(as(as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
  } else if (isS4(x) && is(x, "Matrix")) {
    x <- as.matrix(x)
  }
  if (!isS4(x)) {
    if (!is.matrix(x)) stop_argument(argument, "must be a matrix, a sparse matrix or a data frame, not ", class(x)[1])
    if (!is.numeric(x) && !is.logical(x)) stop_argument(argument, "must hold numbers, not ", typeof(x))
    if (!is.double(x)) storage.mode(x) <- "double"
  }
  if (nrow(x) == 0 || ncol(x) == 0) {
    stop_argument(argument, "has ", counted(nrow(x), "row"), " and ", counted(ncol(x), "column"))
  }
  x
}

# A matrix of a device: the library checks all values on the CPU, so that they come back in any case.
device_features <- function(x, argument) {
  if (!x@matrix) stop_argument(argument, "must be a matrix, and is a vector on ", x@device)
  x <- as.matrix(x)
  if (is.raw(x)) storage.mode(x) <- "integer"
  x
}

frame_features <- function(x, argument, nominal) {
  logical <- vapply(x, is.logical, NA)
  coded <- vapply(x, function(column) is.factor(column) || is.character(column), NA) | (logical & nominal)
  wrong <- which(!coded & !logical & !vapply(x, is.numeric, NA))
  if (length(wrong) > 0) {
    stop_argument(argument, "column '", names(x)[wrong[1]], "' holds ", class(x[[wrong[1]]])[1], ", not numbers")
  }
  if (any(coded) && !nominal) {
    stop_argument(argument, "column '", names(x)[which(coded)[1]],
                  "' is no number; use a formula, which makes columns ",
                  "of 0 and 1 from levels")
  }
  levels <- vector("list", ncol(x))
  for (j in which(coded)) {
    column <- as.factor(x[[j]])
    levels[[j]] <- levels(column)
    x[[j]] <- as.integer(column) - 1L
  }
  result <- as.matrix(x)
  if (any(coded)) attr(result, "sheaf_levels") <- levels
  result
}

# Properties of a matrix for the compiled part, beside its values.
about_features <- function(x, target = list(), groups = NULL, missing = FALSE) {
  about <- target
  names <- colnames(x)
  if (!is.null(names) && !anyNA(names) && all(nzchar(names)) && !anyDuplicated(names)) about$names <- names
  if (!is.null(attr(x, "sheaf_levels"))) about$nominal <- attr(x, "sheaf_levels")
  if (!is.null(groups)) about$groups <- as.integer(as.factor(groups)) - 1L
  if (missing) about$missing <- TRUE
  about
}

feature_names <- function(x) if (is.null(colnames(x))) paste0("V", seq_len(ncol(x))) else colnames(x)

check_rows <- function(value, rows, argument) {
  if (NROW(value) != rows) {
    stop_argument(argument, "has ", counted(NROW(value), "entry"), " for ", counted(rows, "row"), " of 'x'")
  }
  if (anyNA(value)) stop_argument(argument, "entry ", which(is.na(value))[1], " is missing (NA)")
  value
}

check_weights <- function(weights, rows, argument = "weights") {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights)) stop_argument(argument, "must be numbers")
  check_rows(weights, rows, argument)
  if (any(weights < 0) || any(!is.finite(weights))) stop_argument(argument, "must be numbers of 0 or more")
  if (all(weights == 0)) stop_argument(argument, "are all 0")
  as.double(weights)
}

check_offset <- function(offset, rows, argument = "offset") {
  if (is.null(offset)) return(NULL)
  if (!is.numeric(offset)) stop_argument(argument, "must be numbers")
  as.double(check_rows(offset, rows, argument))
}

# Folds from 0, for the compiled part.
check_folds <- function(foldid, rows) {
  if (is.null(foldid)) return(integer())
  check_rows(foldid, rows, "foldid")
  folds <- as.integer(as.factor(foldid)) - 1L
  if (max(folds) < 1) stop_argument("foldid", "must name two folds at least")
  folds
}

# A factor where the target is of classes, else numbers.
as_target <- function(y, rows, argument = "y") {
  if (missing(y) || is.null(y)) stop_argument(argument, "is missing")
  if (is.matrix(y) && ncol(y) == 1) y <- y[, 1]
  if (!is.null(dim(y))) stop_argument(argument, "must be a vector or a factor")
  check_rows(y, rows, argument)
  if (is.character(y) || is.logical(y)) y <- factor(y)
  if (is.factor(y)) return(y)
  if (!is.numeric(y)) stop_argument(argument, "must be a factor or numbers, not ", class(y)[1])
  if (any(!is.finite(y))) stop_argument(argument, "entry ", which(!is.finite(y))[1], " is not finite")
  as.double(y)
}

need_classes <- function(y, argument = "y") {
  if (!is.factor(y)) y <- factor(y)
  if (length(present_levels(y)) < 2) stop_argument(argument, "has fewer than two classes")
  y
}

# Levels that some rows have; levels(droplevels(y)) takes ten times as long.
present_levels <- function(y) levels(y)[tabulate(y, nlevels(y)) > 0]

# Made once in a session: new() takes as long as training a small model.
empty_columns <- local({
  kept <- NULL
  function() {
    if (is.null(kept)) kept <<- new("dgCMatrix")
    kept
  }
})

# A matrix of compressed columns from parts that are known to be right; new() would check them at length.
sparse_columns <- function(i, p, x, dim, dimnames = list(NULL, NULL)) {
  matrix <- empty_columns()
  matrix@i <- i
  matrix@p <- p
  matrix@x <- x
  matrix@Dim <- dim
  matrix@Dimnames <- dimnames
  matrix
}

# The target for the compiled part. Levels without rows take no part. Of two classes the second level comes first:
# decision values above 0 speak for it.
core_target <- function(y, second_first = TRUE) {
  if (inherits(y, "sheaf_survival")) {
    return(c(list(numbers = y$time, events = y$event), list(entries = y$entry)[!is.null(y$entry)],
             list(strata = y$strata)[!is.null(y$strata)]))
  }
  if (!is.factor(y)) return(list(numbers = as.double(y)))
  levels <- present_levels(y)
  if (second_first && length(levels) == 2) levels <- rev(levels)
  list(classes = match(levels(y), levels)[as.integer(y)] - 1L, levels = levels)
}

# Numbers of classes as the compiled part has them, back to a factor with the levels of the training rows.
as_classes <- function(numbers, core_levels, levels) factor(core_levels[numbers], levels = levels)

# The model frame of a call of a formula method, as lm() makes it.
frame_of <- function(call, envir, arguments = c("formula", "data", "subset", "weights", "na.action", "offset")) {
  kept <- match(arguments, names(call), 0L)
  call <- call[c(1L, kept)]
  call$drop.unused.levels <- TRUE
  call[[1L]] <- quote(stats::model.frame)
  eval(call, envir)
}

# The matrix of a model frame: with a column for each contrast and no intercept, which models add themselves.
# strata() and cluster() of Cox models have no columns of their own: `assign` counts the other terms.
design_of <- function(frame, terms, contrasts = NULL) {
  terms <- feature_terms(terms)
  x <- stats::model.matrix(terms, frame, contrasts.arg = contrasts)
  assign <- attr(x, "assign")
  used <- attr(x, "contrasts")
  own <- special_of(terms, "strata")$terms
  left_out <- assign %in% c(0L, own)
  if (any(left_out)) {
    x <- x[, !left_out, drop = FALSE]
    assign <- assign[!left_out]
  }
  if (length(own) > 0) assign <- match(assign, setdiff(seq_along(attr(terms, "term.labels")), own))
  list(x = x, assign = assign, contrasts = used)
}

# Without cluster(), and without strata() unless interactions need their levels.
feature_terms <- function(terms) {
  strata <- special_of(terms, "strata")
  out <- special_of(terms, "cluster")$terms
  if (length(strata$terms) > 0) {
    of_strata <- colSums(attr(terms, "factors")[strata$columns, , drop = FALSE] > 0) > 0
    if (all(attr(terms, "order")[of_strata] == 1)) out <- c(out, strata$terms)
  }
  if (length(out) > 0) terms[-out] else terms
}

# The matrix of new rows for a model of a formula.
new_design <- function(object, newdata, na.action = stats::na.pass) {
  terms <- feature_terms(stats::delete.response(object$terms))
  frame <- stats::model.frame(terms, newdata, na.action = na.action, xlev = object$xlevels)
  classes <- attr(terms, "dataClasses")
  if (!is.null(classes)) stats::.checkMFClasses(classes, frame)
  list(x = design_of(frame, terms, object$contrasts)$x, frame = frame, terms = terms)
}

# The matrix of new rows for any model: of a formula, or with the columns that it was trained on.
new_features <- function(object, newdata, argument = "newdata", nominal = FALSE) {
  if (!is.null(object$terms)) return(new_design(object, newdata)$x)
  x <- as_features(newdata, argument, nominal)
  known <- object$feature_names
  named <- !is.null(colnames(x)) && !is.null(known)
  if (named && !identical(colnames(x), known) && all(known %in% colnames(x)) && !anyDuplicated(colnames(x))) {
    levels <- attr(x, "sheaf_levels")[match(known, colnames(x))]
    x <- x[, known, drop = FALSE]
    if (!all(vapply(levels, is.null, NA))) attr(x, "sheaf_levels") <- levels
  }
  if (ncol(x) != object$n_features) {
    stop_argument(argument, "has ", counted(ncol(x), "column"), ", but the model was trained on ", object$n_features)
  }
  x
}

# The call of a method as the user wrote it, for update() and for printing.
as_generic <- function(call, name) {
  call[[1L]] <- name
  call
}

#' Read a dataset
#'
#' Reads the formats that Sheaf's program reads: LIBSVM, CSV, ARFF, Matrix Market, NumPy, BIOM, AnnData, 10x, Excel and
#' others, compressed (gz, xz, zst) or not, by all cores. Rows are samples, whatever the file's own order.
#'
#' @param file its path.
#' @param control see [sheaf_control()].
#' @param ... options of reading by name, with `_` for `-`; `sheaf_parameters("read")` lists them. `label` is the column
#'   to predict (`"none"`: there is none), `metadata` a table with more columns of the rows, joined by their ids,
#'   `annotations` a table of texts about the features (taxonomy, gene symbol), joined by their names,
#'   `group`, `order`, `weight_column` and `split_column` what columns say of the rows, `layer` and `sheet` parts of the
#'   file. Missing values become `NA`, unless `missing` says otherwise.
#' @return A list of `x`, a matrix or (of sparse files) a `dgCMatrix`, and `y`, a factor, numbers, a matrix of several
#'   targets or of `time` and `status` (with entries `start`, `stop` and `status`), or `NULL`; and, if the file says
#'   so, `groups`, `weights`, `order`, `folds` and `strata`, one entry for each row, and `annotations`, a data frame
#'   with one row for each feature. It is printed as a summary.
#' @examples
#' file <- tempfile(fileext = ".libsvm")
#' writeLines(c("+1 1:0.5 3:2", "-1 2:1", "+1 3:1.5"), file)
#' sheaf_read(file)
#' @export
sheaf_read <- function(file, control = list(), ...) {
  if (!is.character(file) || length(file) != 1 || is.na(file)) stop_argument("file", "must be a path")
  settings <- settings_of(list(...), "...")
  paths <- settings[, 1] %in% c("metadata", "annotations")
  settings[paths, 2] <- path.expand(settings[paths, 2])
  found <- core(core_read(as_control(control), path.expand(file), settings))
  names <- list(found$row_names, if (length(found$names) > 0) found$names)
  x <- found$x
  if (is.list(x)) {
    x <- sparse_columns(x$indices, as.integer(x$offsets), x$values, as.integer(c(found$rows, found$columns)), names)
  } else if (!is.null(unlist(names))) {
    dimnames(x) <- names
  }
  if (!is.null(found$nominal) && !isS4(x)) {
    attr(x, "sheaf_levels") <- lapply(found$nominal, function(one) if (length(one) > 0) one)
  }
  as_levels <- function(places, levels) if (!is.null(places)) factor(levels[places], levels = sorted_levels(levels))
  about_rows <- list(groups = as_levels(found$groups, found$group_names), weights = found$weights, order = found$order,
                     folds = found$folds, strata = found$strata)
  about_features <- if (!is.null(found$annotations)) list(annotations = as.data.frame(found$annotations))
  structure(c(list(x = x, y = response_of(found) %||% as_levels(found$classes, found$levels)),
              about_rows[!vapply(about_rows, is.null, NA)], about_features), class = "sheaf_data")
}

# Numbers: a vector, times and events, or a column for each target.
response_of <- function(found) {
  if (!is.null(found$entries)) return(cbind(start = found$entries, stop = found$numbers, status = found$events))
  if (!is.null(found$events)) return(cbind(time = found$numbers, status = found$events))
  if (is.null(found$further)) return(found$numbers)
  targets <- cbind(found$numbers, as.matrix(found$further))
  colnames(targets)[1] <- found$label %||% "y"
  targets
}

#' @export
print.sheaf_data <- function(x, ...) {
  cells <- as.double(nrow(x$x)) * ncol(x$x)
  cat("A dataset of ", counted(nrow(x$x), "row"), " and ", counted(ncol(x$x), "column"), sep = "")
  if (isS4(x$x)) {
    cat(", sparse: ", format(100 * length(x$x@x) / max(cells, 1), digits = 3), " % of values are kept", sep = "")
  }
  cat("\n  x: ", few_of(feature_names(x$x)), "\n", sep = "")
  if (is.null(x$y)) {
    cat("  y: none\n")
  } else if (is.factor(x$y)) {
    counts <- table(x$y)
    cat("  y: ", nlevels(x$y), " classes: ", few_of(paste0(names(counts), " (", counts, ")")), "\n", sep = "")
  } else {
    cat("  y: numbers from ", format(min(x$y)), " to ", format(max(x$y)), ", mean ", format(mean(x$y)), "\n", sep = "")
  }
  invisible(x)
}

# "1 row", "12 rows".
counted <- function(count, noun) {
  paste(format(count, scientific = FALSE),
        if (count == 1) noun else if (endsWith(noun, "y")) sub("y$", "ies", noun) else paste0(noun, "s"))
}

# The first of many words.
few_of <- function(words, most = 6) {
  paste0(paste(utils::head(words, most), collapse = ", "), if (length(words) > most) ", ...")
}

# Numbers by value, other names by the alphabet.
sorted_levels <- function(levels) {
  numbers <- suppressWarnings(as.numeric(levels))
  if (anyNA(numbers)) sort(levels) else levels[order(numbers)]
}

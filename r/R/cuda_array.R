# Arrays that stay on a device.

#' @rdname as_cuda
#' @export
setClass("sheaf_array", slots = c(pointer = "externalptr", shape = "numeric", matrix = "logical", type = "character",
                                  device = "character"))

#' Arrays that stay on a GPU
#'
#' `as_cuda()` brings a vector or a matrix to a GPU, where it stays: arithmetic, functions such as `exp()`, `sum()`,
#' `rowSums()`, `colMeans()`, `%*%`, `crossprod()`, `t()`, and snippets ([cuda_elementwise()] and others) work there and
#' leave their results there. `as.matrix()`, `as.vector()` and `as.numeric()` bring them back. All functions of this
#' package take such matrices in place of R's.
#'
#' @details
#' Numbers become `double`, or `float` where that is asked for; integers and logical values become `int`, raw values
#' `unsigned char`. A missing integer is the smallest `int` there, as in R's own memory. Arithmetic is done in `float`
#' where all arrays are `float`, and else in `double`; comparisons give 1 and 0. Shorter operands are used again, as
#' everywhere in R, but must fit a whole number of times. An array is freed when R collects it, and at once by
#' `cuda_free()`.
#'
#' `device = "cpu"` keeps the array in the computer's memory, and the same functions work there. Without a GPU that is
#' what there is: nothing falls back to the CPU by itself.
#'
#' @param x a vector or a matrix of numbers, integers, logical or raw values; or such an array, to be converted.
#' @param type `"double"`, `"float"`, `"int"` or `"unsigned char"`; `NULL`: by the type of `x`.
#' @param device `"cuda"`, `"cuda:1"` and so on, or `"cpu"`; the default is the option `sheaf.device`, else `"cuda"`.
#' @return An object of class `sheaf_array`.
#' @examples
#' x <- as_cuda(matrix(1:6 / 2, 2), device = "cpu")
#' x
#' as.matrix(exp(x) * 2 + 1)
#' as.matrix(x %*% t(x))
#' rowSums(x)
#' @export
as_cuda <- function(x, type = NULL, device = cuda_device()) {
  if (is(x, "sheaf_array")) {
    type <- if (is.null(type)) x@type else type
    return(array_from(core(core_array_convert(as_control(list()), x@pointer, type, device)), x@matrix))
  }
  if (is.data.frame(x) || isS4(x)) x <- as.matrix(x)
  if (!is.numeric(x) && !is.logical(x) && !is.raw(x)) stop_argument("x", "must hold numbers, not ", typeof(x))
  if (length(dim(x)) > 2) stop_argument("x", "must be a vector or a matrix")
  if (is.null(type)) type <- c(double = "double", integer = "int", logical = "int", raw = "unsigned char")[[typeof(x)]]
  array_from(core(core_array_make(x, type, NROW(x), NCOL(x), device)), is.matrix(x))
}

cuda_device <- function() getOption("sheaf.device", "cuda")

array_from <- function(core, matrix) {
  new("sheaf_array", pointer = core$pointer, shape = c(core$rows, core$columns), matrix = matrix, type = core$type,
      device = core$device)
}

#' @rdname as_cuda
#' @export
cuda_free <- function(x) {
  need_array(x)
  core_array_free(x@pointer)
  invisible(NULL)
}

need_array <- function(x, argument = "x") {
  if (!is(x, "sheaf_array")) stop_argument(argument, "must be an array that as_cuda() made")
  x
}

#' @rdname as_cuda
#' @param object,... an array; further arguments are not used.
#' @export
setMethod("show", "sheaf_array", function(object) {
  shape <- if (object@matrix) paste(object@shape, collapse = " x ") else paste(object@shape[1], "elements")
  cat("<", object@type, " array on ", object@device, ": ", shape, ">\n", sep = "")
})

#' @export
dim.sheaf_array <- function(x) if (x@matrix) as.integer(x@shape)

#' @export
length.sheaf_array <- function(x) as.integer(prod(x@shape))

array_values <- function(x) core(core_array_values(x@pointer))

#' @export
as.matrix.sheaf_array <- function(x, ...) matrix(array_values(x), x@shape[1], x@shape[2])

#' @export
as.vector.sheaf_array <- function(x, mode = "any") as.vector(array_values(x), mode)

#' @export
as.double.sheaf_array <- function(x, ...) as.double(array_values(x))

#' @export
as.integer.sheaf_array <- function(x, ...) as.integer(array_values(x))

#' @export
t.sheaf_array <- function(x) {
  if (!x@matrix) x@shape <- c(x@shape[1], 1)
  array_from(core(core_array_transpose(as_control(list()), x@pointer)), TRUE)
}

# R's names of operators and the library's.
binary_functions <- c(`+` = "add", `-` = "subtract", `*` = "multiply", `/` = "divide", `^` = "power", `%%` = "modulo",
                      `%/%` = "integer_divide", `==` = "equal", `!=` = "not_equal", `<` = "less", `<=` = "less_equal",
                      `>` = "greater", `>=` = "greater_equal", `&` = "logical_and", `|` = "logical_or")
unary_functions <- c(`-` = "negate", `!` = "logical_not", abs = "abs", sign = "sign", sqrt = "sqrt", floor = "floor",
                     ceiling = "ceiling", trunc = "trunc", round = "round", exp = "exp", expm1 = "expm1", log = "log",
                     log1p = "log1p", log2 = "log2", log10 = "log10", sin = "sin", cos = "cos", tan = "tan",
                     asin = "asin", acos = "acos", atan = "atan", sinh = "sinh", cosh = "cosh", tanh = "tanh",
                     lgamma = "lgamma")

# The other operand of an array, on its device and, of two numbers' types, in the array's own.
beside_array <- function(x, array) {
  if (is(x, "sheaf_array")) return(x)
  as_cuda(x, if (is.numeric(x) && array@type == "float") "float", array@device)
}

apply_function <- function(name, x) {
  if (is.na(name)) stop_sheaf("this function does not work on arrays of a device; bring them back with as.matrix()")
  array_from(core(core_array_apply(as_control(list()), name, x@pointer)), x@matrix)
}

#' @export
Ops.sheaf_array <- function(e1, e2) {
  if (nargs() == 1L) {
    if (.Generic == "+") return(e1)
    return(apply_function(unary_functions[.Generic], e1))
  }
  array <- if (is(e1, "sheaf_array")) e1 else e2
  e1 <- beside_array(e1, array)
  e2 <- beside_array(e2, array)
  if (e1@matrix && e2@matrix && !identical(e1@shape, e2@shape)) stop_sheaf("non-conformable arrays")
  array_from(core(core_array_combine(as_control(list()), binary_functions[[.Generic]], e1@pointer, e2@pointer)),
             e1@matrix || e2@matrix)
}

#' @export
Math.sheaf_array <- function(x, ...) {
  if (...length() > 0) stop_sheaf(.Generic, "() of an array on a device takes no further arguments")
  apply_function(unary_functions[.Generic], x)
}

reduce_array <- function(x, reduction, margin = 0L) {
  found <- core(core_array_reduce(as_control(list()), reduction, margin, x@pointer))
  if (margin == 0L) core(core_array_values(found$pointer)) else array_from(found, FALSE)
}

#' @export
Summary.sheaf_array <- function(..., na.rm = FALSE) {
  if (na.rm) stop_argument("na.rm", "must be FALSE for arrays on a device")
  x <- need_array(..1, "...")
  if (...length() > 1) stop_sheaf(.Generic, "() of arrays on a device takes one of them")
  switch(.Generic,
    sum = reduce_array(x, "sum"),
    min = reduce_array(x, "least"),
    max = reduce_array(x, "largest"),
    range = c(reduce_array(x, "least"), reduce_array(x, "largest")),
    all = reduce_array(x != 0, "least") == 1,
    any = reduce_array(x != 0, "largest") == 1,
    stop_sheaf(.Generic, "() does not work on arrays of a device; bring them back with as.matrix()")
  )
}

#' @export
mean.sheaf_array <- function(x, ...) reduce_array(x, "mean")

need_matrix <- function(x) {
  if (!x@matrix) stop_argument("x", "must be a matrix")
  x
}

#' @rdname as_cuda
#' @param na.rm,dims as in [base::rowSums()]; only their defaults are there.
#' @export
setMethod("rowSums", "sheaf_array", function(x, na.rm = FALSE, dims = 1, ...) reduce_array(need_matrix(x), "sum", 1L))
#' @rdname as_cuda
#' @export
setMethod("colSums", "sheaf_array", function(x, na.rm = FALSE, dims = 1, ...) reduce_array(need_matrix(x), "sum", 2L))
#' @rdname as_cuda
#' @export
setMethod("rowMeans", "sheaf_array", function(x, na.rm = FALSE, dims = 1, ...) reduce_array(need_matrix(x), "mean", 1L))
#' @rdname as_cuda
#' @export
setMethod("colMeans", "sheaf_array", function(x, na.rm = FALSE, dims = 1, ...) reduce_array(need_matrix(x), "mean", 2L))

multiply_arrays <- function(x, y, transpose_x = FALSE, transpose_y = FALSE) {
  array <- if (is(x, "sheaf_array")) x else y
  # A vector on the left is a row where that fits, and else a column, as in base R.
  common <- if (!is_vector(y)) dim(y)[1 + transpose_y] else if (transpose_y) 1 else length(y)
  as_row <- !transpose_x && is_vector(x) && length(x) == common
  x <- beside_array(x, array)
  y <- beside_array(y, array)
  if (!is_vector(x) && is_vector(y) && !transpose_y && x@shape[2 - transpose_x] == 1) transpose_y <- TRUE
  found <- core(core_array_product(as_control(list()), x@pointer, transpose_x || as_row, y@pointer, transpose_y))
  array_from(found, TRUE)
}

is_vector <- function(x) if (is(x, "sheaf_array")) !x@matrix else is.null(dim(x))

#' @rdname as_cuda
#' @param y a second array, vector or matrix.
#' @export
setMethod("%*%", signature("sheaf_array", "sheaf_array"), function(x, y) multiply_arrays(x, y))
#' @rdname as_cuda
#' @export
setMethod("%*%", signature("sheaf_array", "ANY"), function(x, y) multiply_arrays(x, y))
#' @rdname as_cuda
#' @export
setMethod("%*%", signature("ANY", "sheaf_array"), function(x, y) multiply_arrays(x, y))
#' @rdname as_cuda
#' @export
setMethod("crossprod", signature("sheaf_array", "ANY"), function(x, y = NULL) {
  multiply_arrays(x, if (is.null(y)) x else y, transpose_x = TRUE)
})
#' @rdname as_cuda
#' @export
setMethod("crossprod", signature("ANY", "sheaf_array"), function(x, y = NULL) multiply_arrays(x, y, transpose_x = TRUE))
#' @rdname as_cuda
#' @export
setMethod("tcrossprod", signature("sheaf_array", "ANY"), function(x, y = NULL) {
  multiply_arrays(x, if (is.null(y)) x else y, transpose_y = TRUE)
})
#' @rdname as_cuda
#' @export
setMethod("tcrossprod", signature("ANY", "sheaf_array"), function(x, y = NULL) {
  multiply_arrays(x, y, transpose_y = TRUE)
})

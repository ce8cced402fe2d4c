#' Functions of your own on the GPU
#'
#' A line of CUDA C++ becomes a function of R: `cuda_elementwise()` computes each element of its results from the
#' elements of its arguments, `cuda_reduce()` combines all elements, or those of each row or column, and
#' `cuda_kernel()` runs a whole kernel. The text is compiled when the function is first called, in about a tenth of a
#' second, and kept for later sessions.
#'
#' @details
#' Parameters are declared as in C++, by one of the types `double`, `float`, `int` and `unsigned char`, and a name:
#' `"double x, float y"`. The snippet sees them by these names, and `i`, the number of the element from 0, and `n`, that
#' of all. With `raw` before its type, a parameter is the whole array: `"double x, raw double table"` and
#' `"y = x + table[i % 3];"`.
#'
#' The functions take vectors and matrices of R, which are copied to the device, and arrays that are there already
#' ([as_cuda()]); of these the types must be the declared ones. Arguments of one element serve all elements. Results
#' stay on the device where an argument was there, and are R's own else; a reduction of all elements is a number of R.
#' Kernels write into their arrays, so that these must be on the device.
#'
#' With `device = "cpu"` the same text is compiled by the system's C++ compiler (the environment variable `CXX` names
#' another) and runs on all cores, in a second or so for the first call. Kernels may use `__shared__` memory,
#' `__syncthreads()` and atomic functions there, but no functions of warps. Nothing falls back from the GPU to the CPU
#' by itself.
#'
#' A text that does not compile is an error with the compiler's words, the line and a caret below the place. Compiled
#' snippets are kept in the folder `tools::R_user_dir("sheaf", "cache")`; the option `sheaf.cache` names another, or is
#' `FALSE` to keep none.
#'
#' @param inputs,outputs declarations of parameters.
#' @param body statements that set the outputs.
#' @param map an expression of the inputs.
#' @param reduce an expression of `a` and `b`, two results, whose order must not matter.
#' @param identity an expression: what changes nothing when combined.
#' @param type the type of results.
#' @param code the text with the kernel `__global__ void name(...)`.
#' @param name of the kernel.
#' @param preamble text before the snippet: functions of your own, constants.
#' @param device where to work when no argument is on a device yet: `"cuda"`, `"cuda:1"` or `"cpu"`.
#' @param control see [sheaf_control()]; only the number of threads matters here.
#' @return A function of the inputs. That of `cuda_reduce()` has the argument `margin` too: `NULL`, or 1 for rows and 2
#'   for columns, as in [base::apply()]. That of `cuda_kernel()` has `grid` and `block`, of up to three numbers each,
#'   then the kernel's own arguments, and `shared`, the bytes of `extern __shared__` memory; it returns nothing.
#' @seealso [as_cuda()], `vignette("cuda-snippets")`
#' @examplesIf nzchar(Sys.which("c++"))
#' f <- cuda_elementwise("double x, double y", "double z", "z = exp(x) * y;", device = "cpu")
#' f(c(0, 1, 2), 10)
#' squares <- cuda_reduce("double x", map = "x * x", reduce = "a + b", identity = "0", device = "cpu")
#' squares(matrix(1:6, 2), margin = 1)
#' @export
cuda_elementwise <- function(inputs, outputs, body, preamble = "", device = cuda_device(), control = list()) {
  snippet <- core(core_elementwise(one_text(inputs, "inputs"), one_text(outputs, "outputs"), one_text(body, "body"),
                                   one_text(preamble, "preamble"), snippet_cache()))
  run <- function(...) {
    given <- snippet_inputs(list(...), snippet$inputs, device)
    found <- core(core_elementwise_run(as_control(control), snippet$pointer, given$pointers))
    results <- lapply(found, from_device, given)
    if (length(results) == 1) results[[1]] else stats::setNames(results, snippet$outputs$name)
  }
  snippet_function(run, "elementwise", snippet, c(body = body))
}

#' @rdname cuda_elementwise
#' @export
cuda_reduce <- function(inputs, map, reduce, identity, type = "double", preamble = "", device = cuda_device(),
                        control = list()) {
  snippet <- core(core_reduction(one_text(inputs, "inputs"), one_text(map, "map"), one_text(reduce, "reduce"),
                                 as.character(identity), one_text(type, "type"), one_text(preamble, "preamble"),
                                 snippet_cache()))
  run <- function(..., margin = NULL) {
    margin <- if (is.null(margin)) 0L else as.integer(one_number(margin, "margin", 1, 2))
    given <- snippet_inputs(list(...), snippet$inputs, device)
    found <- core(core_reduction_run(as_control(control), snippet$pointer, given$pointers, margin))
    given$dim <- NULL
    if (margin == 0L) given$on_device <- FALSE
    from_device(found, given)
  }
  snippet_function(run, "reduce", snippet, c(map = map, reduce = reduce))
}

#' @rdname cuda_elementwise
#' @export
cuda_kernel <- function(code, name, preamble = "", device = cuda_device(), control = list()) {
  snippet <- core(core_kernel(one_text(code, "code"), one_text(name, "name"), one_text(preamble, "preamble"),
                              snippet_cache()))
  run <- function(grid, block, ..., shared = 0) {
    given <- lapply(match_inputs(list(...), snippet$inputs), kernel_argument)
    core(core_kernel_run(on_device(control, device), snippet$pointer, three_numbers(grid, "grid"),
                         three_numbers(block, "block"), one_number(shared, "shared", 0), given))
    invisible(NULL)
  }
  snippet_function(run, "kernel", snippet, c(code = code))
}

#' Compile a snippet for a GPU that need not be there
#'
#' @param f what [cuda_elementwise()], [cuda_reduce()] or [cuda_kernel()] returned.
#' @param architecture of the GPU, such as `"sm_90"`.
#' @return `f`, invisibly; an error where the text does not compile, or CUDA's run-time compiler is not installed.
#' @examples
#' f <- cuda_elementwise("double x", "double y", "y = 2 * x;")
#' \dontrun{
#' cuda_compile(f, "sm_90")
#' }
#' @export
cuda_compile <- function(f, architecture = "sm_90") {
  if (!inherits(f, "cuda_function")) stop_argument("f", "must be a function that cuda_elementwise() or others returned")
  core(core_snippet_compile(attr(f, "snippet")$pointer, attr(f, "kind"), one_text(architecture, "architecture")))
  invisible(f)
}

snippet_function <- function(run, kind, snippet, texts) {
  structure(run, class = c("cuda_function", "function"), kind = kind, snippet = snippet, texts = texts)
}

#' @export
print.cuda_function <- function(x, ...) {
  inputs <- attr(x, "snippet")$inputs
  cat("<", attr(x, "kind"), " snippet of ", paste(inputs$type, inputs$name, collapse = ", "), ">\n", sep = "")
  cat(paste0("  ", attr(x, "texts"), "\n"), sep = "")
  invisible(x)
}

one_text <- function(value, argument) {
  if (!is.character(value) || length(value) == 0 || anyNA(value)) stop_argument(argument, "must be a text")
  paste(value, collapse = "\n")
}

# A control with this device, unless a list names another one.
on_device <- function(control, device) {
  if (!inherits(control, "sheaf_control")) {
    if (is.null(control$device)) control <- c(control, list(device = device))
    return(as_control(control))
  }
  control$settings[control$settings[, 1] == "device", 2] <- device
  control
}

# Arguments in the order of the declared parameters, by name or by position.
match_inputs <- function(given, declared) {
  if (length(given) != nrow(declared)) {
    stop_sheaf("the snippet takes ", nrow(declared), " arguments (", paste(declared$name, collapse = ", "), "), and ",
               length(given), " were given")
  }
  named <- names(given)
  if (is.null(named) || !any(nzchar(named))) return(given)
  unknown <- setdiff(named[nzchar(named)], declared$name)
  if (length(unknown) > 0) stop_argument(unknown[1], "is no parameter of the snippet")
  places <- match(named, declared$name)
  places[is.na(places)] <- setdiff(seq_along(given), places)
  given[order(places)]
}

# Pointers to arrays of the declared types, on one device; and what the results are like.
snippet_inputs <- function(given, declared, device) {
  given <- match_inputs(given, declared)
  arrays <- vapply(given, is, NA, "sheaf_array")
  if (any(arrays)) device <- given[[which(arrays)[1]]]@device
  leading <- which(!declared$pointer)
  large <- leading[vapply(given[leading], length, 1) != 1]
  shape_from <- c(large, leading)[1]
  shape <- if (!is.na(shape_from)) dim(given[[shape_from]])
  made <- Map(function(x, type) if (is(x, "sheaf_array")) x else as_cuda(x, type, device), given, declared$type)
  list(pointers = unname(lapply(made, function(x) x@pointer)), on_device = any(arrays), dim = shape)
}

from_device <- function(found, given) {
  if (given$on_device) return(array_from(found, !is.null(given$dim)))
  values <- core(core_array_values(found$pointer))
  dim(values) <- given$dim
  values
}

kernel_argument <- function(x) {
  if (is(x, "sheaf_array")) return(x@pointer)
  if (length(x) == 1 && (is.numeric(x) || is.logical(x)) && !is.na(x)) return(as.double(x))
  stop_argument("...", "kernels take single numbers, and arrays that as_cuda() made, for they write into them")
}

three_numbers <- function(value, argument) {
  if (!is.numeric(value) || !length(value) %in% 1:3 || anyNA(value) || any(value < 1) || any(value != round(value))) {
    stop_argument(argument, "must be one to three whole numbers of 1 or more")
  }
  c(value, rep(1, 3 - length(value)))
}

# The folder of compiled snippets; none while a package is checked.
snippet_cache <- function() {
  cache <- getOption("sheaf.cache", !nzchar(Sys.getenv("_R_CHECK_PACKAGE_NAME_")))
  if (isFALSE(cache)) return("")
  if (is.character(cache)) return(path.expand(cache))
  file.path(tools::R_user_dir("sheaf", "cache"), "snippets")
}

#' Simulate responses of a generalised linear model
#'
#' @param object a [sheaf_glm()].
#' @param nsim how many responses to draw for each row.
#' @param seed `NULL`, or a number for `set.seed()`.
#' @param ... not used.
#' @return A data frame with a column for each simulation, as of [stats::simulate()]: factors for models of classes,
#'   shares of successes for other binomial ones, else numbers. The attribute `seed` is the state of R's generator.
#' @examples
#' fit <- sheaf_glm(breaks ~ wool + tension, family = poisson, data = warpbreaks)
#' head(simulate(fit, 3, seed = 1))
#' @importFrom stats simulate
#' @export
simulate.sheaf_glm <- function(object, nsim = 1, seed = NULL, ...) {
  nsim <- one_number(nsim, "nsim", 1)
  state <- begin_simulation(seed)
  drawn <- lapply(seq_len(nsim), function(k) draw_responses(object))
  names(drawn) <- paste0("sim_", seq_len(nsim))
  rows <- if (inherits(object, "sheaf_multinom")) rownames(object$fitted.values) else names(object$fitted.values)
  result <- data.frame(drawn, row.names = if (anyDuplicated(rows)) NULL else rows)
  structure(result, seed = state)
}

# A given seed leaves the generator as it was, as in stats:::simulate.lm.
begin_simulation <- function(seed, envir = parent.frame()) {
  if (!exists(".Random.seed", envir = globalenv(), inherits = FALSE)) stats::runif(1)
  before <- get(".Random.seed", envir = globalenv())
  if (is.null(seed)) return(before)
  restore <- substitute(assign(".Random.seed", state, envir = globalenv()), list(state = before))
  do.call("on.exit", list(restore, add = TRUE), envir = envir)
  set.seed(seed)
  structure(seed, kind = as.list(RNGkind()))
}

draw_responses <- function(object) {
  mu <- object$fitted.values
  if (inherits(object, "sheaf_multinom")) {
    below <- t(apply(mu, 1, cumsum))
    return(factor(object$lev[rowSums(below < stats::runif(nrow(mu))) + 1], levels = object$levels))
  }
  n <- length(mu)
  w <- object$prior.weights
  phi <- object$dispersion
  switch(object$family_name,
    gaussian = stats::rnorm(n, mu, sqrt(phi / w)),
    poisson = stats::rpois(n, mu),
    binomial = draw_binomial(object, mu, w),
    Gamma = stats::rgamma(n, shape = w / phi, scale = mu * phi / w),
    inverse.gaussian = draw_inverse_gaussian(mu, w / phi),
    negative.binomial = stats::rnbinom(n, size = object$theta, mu = mu),
    tweedie = draw_tweedie(mu, phi / w, tweedie_power(object))
  )
}

draw_binomial <- function(object, mu, w) {
  if (is.null(object$levels)) {
    if (any(w != round(w))) stop_sheaf("binomial responses can't be drawn: weights are no whole numbers of trials")
    return(ifelse(w > 0, stats::rbinom(length(mu), w, mu) / pmax(w, 1), 0))
  }
  factor(object$levels[1 + stats::rbinom(length(mu), 1, mu)], levels = object$levels)
}

# Michael, Schucany and Haas (1976).
draw_inverse_gaussian <- function(mu, lambda) {
  y <- stats::rnorm(length(mu))^2
  x <- mu + mu^2 * y / (2 * lambda) - mu / (2 * lambda) * sqrt(4 * mu * lambda * y + mu^2 * y^2)
  ifelse(stats::runif(length(mu)) <= mu / (mu + x), x, mu^2 / x)
}

tweedie_power <- function(object) as.numeric(sub("^tweedie\\((.*)\\)$", "\\1", object$family$family))

# A number of gamma variables that is a Poisson variable.
draw_tweedie <- function(mu, phi, p) {
  count <- stats::rpois(length(mu), mu^(2 - p) / (phi * (2 - p)))
  shape <- count * (2 - p) / (p - 1)
  ifelse(count > 0, stats::rgamma(length(mu), shape = pmax(shape, 1e-300), scale = phi * (p - 1) * mu^(p - 1)), 0)
}

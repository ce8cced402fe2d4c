# Families of generalised linear models: what R's family objects say, and those that R has none for.

family_links <- local({
  classes <- c("logit", "probit", "cloglog", "cauchit", "log")
  counts <- c("log", "identity", "sqrt")
  list(gaussian = c("identity", "log", "inverse"), binomial = classes, multinomial = "logit", poisson = counts,
       Gamma = c("inverse", "log", "identity"), inverse.gaussian = c("1/mu^2", "inverse", "identity", "log"),
       tweedie = "log", negative.binomial = "log", cox = "log", quasibinomial = classes, quasipoisson = counts)
})

# The families that have the variances of quasi().
quasi_families <- c(constant = "gaussian", `mu(1-mu)` = "quasibinomial", mu = "quasipoisson", `mu^2` = "Gamma",
                    `mu^3` = "inverse.gaussian")

# Names of the C++ library. Quasi families are fitted as those whose variance they have; the dispersion is that of the
# rows as they are here, where the library has a row for each outcome.
core_family <- c(gaussian = "gaussian", binomial = "binomial", multinomial = "multinomial", poisson = "poisson",
                 Gamma = "gamma", inverse.gaussian = "inverse-gaussian", tweedie = "tweedie",
                 negative.binomial = "negative-binomial", cox = "cox", quasibinomial = "binomial",
                 quasipoisson = "poisson")
core_link <- c(identity = "identity", logit = "logit", probit = "probit", cloglog = "cloglog", log = "log",
               inverse = "inverse", `1/mu^2` = "inverse-square", cauchit = "cauchit", sqrt = "sqrt")

# The name, the link and the parameters of a family that is given as a name, a function or an object.
read_family <- function(family, y, power, theta) {
  if (is.null(family)) family <- guess_family(y)
  if (is.character(family) && length(family) == 1 && tolower(family) == "gamma") family <- stats::Gamma()
  if (is.function(family)) family <- family()
  if (is.character(family)) {
    name <- one_of(family, names(family_links), "family")
    return(list(name = name, link = family_links[[name]][1], power = power, theta = theta))
  }
  if (!is.list(family) || is.null(family$family)) stop_argument("family", "must be a name or a family object")
  name <- family$family
  quasi <- if (name == "quasi") family
  if (name == "quasi") name <- quasi_families[[family$varfun]]
  if (grepl("^Negative Binomial", name)) {
    theta <- if (is.null(theta)) environment(family$variance)$.Theta else theta
    name <- "negative.binomial"
  }
  if (!name %in% names(family_links)) {
    stop_argument("family", "'", name, "' is not among ", paste(names(family_links), collapse = ", "))
  }
  if (!family$link %in% family_links[[name]]) {
    stop_argument("family", "'", name, "' has the link ", paste(family_links[[name]], collapse = " or "), ", not ",
                  family$link)
  }
  list(name = name, link = family$link, power = power, theta = theta, quasi = quasi)
}

guess_family <- function(y) {
  if (is_survival(y)) return("cox")
  if (!is.factor(y)) return(if (!is.matrix(y)) "gaussian" else if (ncol(y) > 2) "multinomial" else "binomial")
  if (length(present_levels(y)) > 2) "multinomial" else "binomial"
}

# An object with what residuals and tests need: link, variance and deviances.
make_family <- function(name, link, parameter) {
  switch(name,
    gaussian = stats::gaussian(link),
    binomial = stats::binomial(link),
    poisson = stats::poisson(link),
    quasibinomial = stats::quasibinomial(link),
    quasipoisson = stats::quasipoisson(link),
    Gamma = stats::Gamma(link),
    inverse.gaussian = stats::inverse.gaussian(link),
    tweedie = log_family(
      paste0("tweedie(", format(parameter), ")"),
      function(mu) mu^parameter,
      function(y, mu, wt) {
        p <- parameter
        2 * wt * (y^(2 - p) / ((1 - p) * (2 - p)) - y * mu^(1 - p) / (1 - p) + mu^(2 - p) / (2 - p))
      },
      function(y, n, mu, wt, dev) NA_real_
    ),
    negative.binomial = log_family(
      paste0("Negative Binomial(", format(round(parameter, 4)), ")"),
      function(mu) mu + mu^2 / parameter,
      function(y, mu, wt) {
        2 * wt * (y * log(pmax(1, y) / mu) - (y + parameter) * log((y + parameter) / (mu + parameter)))
      },
      function(y, n, mu, wt, dev) -2 * sum(wt * stats::dnbinom(y, parameter, mu = mu, log = TRUE))
    )
  )
}

log_family <- function(name, variance, dev.resids, aic) {
  link <- stats::make.link("log")
  structure(class = "family", list(family = name, link = "log", linkfun = link$linkfun, linkinv = link$linkinv,
                                   mu.eta = link$mu.eta, variance = variance, dev.resids = dev.resids, aic = aic))
}

estimates_dispersion <- function(name) {
  is_quasi(name) || name %in% c("gaussian", "Gamma", "inverse.gaussian", "tweedie")
}
is_quasi <- function(name) name %in% c("quasibinomial", "quasipoisson")

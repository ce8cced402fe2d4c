# Handwritten digits by multinomial regression, with every solver on every device that is there.
#
# The small digits of this package serve unless the option sheaf.mnist (or the environment variable SHEAF_MNIST) names a
# folder with the MNIST database;
# see vignette("mnist", package = "sheaf").

library(sheaf)

path <- getOption("sheaf.mnist", Sys.getenv("SHEAF_MNIST"))
if (nzchar(path)) {
  mnist <- read_mnist(path)
  train <- list(x = mnist$train$x / 255, y = mnist$train$y)
  test <- list(x = mnist$test$x / 255, y = mnist$test$y)
} else {
  first <- seq_len(1200)
  train <- list(x = digits$x[first, ] / 16, y = digits$y[first])
  test <- list(x = digits$x[-first, ] / 16, y = digits$y[-first])
}
alpha <- 1 / nrow(train$x)

# Every solver, on the CPU and on each GPU: the same optimum, in different times.
devices <- subset(sheaf_devices(), usable)$device
runs <- expand.grid(solver = c("newton", "newton-cg", "lbfgs", "saga"), device = devices, stringsAsFactors = FALSE)
if (ncol(train$x) > 100) runs <- subset(runs, solver != "newton")  # its matrix of all classes' features is too large
fits <- Map(function(solver, device) {
  time <- system.time(fit <- sheaf_glm(train$x, train$y, family = "multinomial", alpha = alpha, solver = solver,
                                       tolerance = 1e-6, model = FALSE, control = list(device = device)))
  list(fit = fit, seconds = time[["elapsed"]], error = mean(predict(fit, test$x, type = "class") != test$y))
}, runs$solver, runs$device)
runs$seconds <- vapply(fits, `[[`, 0, "seconds")
runs$deviance <- vapply(fits, function(one) deviance(one$fit), 0)
runs$test_error <- vapply(fits, `[[`, 0, "error")
print(runs, row.names = FALSE)

fit <- fits[[1]]$fit
predicted <- predict(fit, test$x, type = "class")
print(table(predicted, truth = test$y))

# 10 x 10 pictures titled with predictions.
plot_digits(test$x[1:100, ], predicted[1:100])

# The weights of each class as a picture: blue speaks for the digit, red against it.
weights <- t(fit$class_coefficients[-1, ])
plot_digits(weights - rep(colMeans(weights), each = nrow(weights)), rownames(weights), columns = 5)

# The worst mistakes: wrong, and most sure of it.
probabilities <- predict(fit, test$x, type = "response")
sure <- apply(probabilities, 1, max)
wrong <- which(predicted != test$y)
worst <- wrong[order(-sure[wrong])][seq_len(min(25, length(wrong)))]
plot_digits(test$x[worst, , drop = FALSE], paste(predicted[worst], "not", test$y[worst]))

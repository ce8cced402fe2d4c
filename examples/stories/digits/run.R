# Handwritten digits: which are which, which are mistaken, and what a model looks at.
library(sheaf)

# The MNIST database if its folder is named, else the pictures of the package.
folder <- Sys.getenv("SHEAF_MNIST")
if (nzchar(folder)) {
  mnist <- read_mnist(folder)
  train <- list(x = mnist$train$x / 255, y = mnist$train$y)
  test <- list(x = mnist$test$x / 255, y = mnist$test$y)
} else {
  first <- seq_len(1200)
  train <- list(x = digits$x[first, ] / 16, y = digits$y[first])
  test <- list(x = digits$x[-first, ] / 16, y = digits$y[-first])
}

# sheaf_devices() lists what can compute here.
devices <- sheaf_devices()
device <- if (any(devices$usable & grepl("^cuda", devices$device))) "cuda" else "cpu"

# 45 pairs of digits, 45 SVMs, one piece of work.
wide <- ncol(train$x) > 100
seconds <- system.time(
  svm <- sheaf_svm(train$x, train$y, scale = FALSE, cost = 10, gamma = if (wide) 0.02 else 0.05, fitted = FALSE,
                   control = list(device = device))
)[["elapsed"]]
predicted <- predict(svm, test$x)
wrong <- which(predicted != test$y)
cat(sprintf("%d SVMs on %s: %.2f s, %d of %d test pictures wrong (%.2f %%)\n", choose(nlevels(train$y), 2), device,
            seconds, length(wrong), nrow(test$x), 100 * length(wrong) / nrow(test$x)))
print(table(predicted, truth = test$y))

pdf("pictures.pdf", width = 6, height = 6)
plot_digits(test$x[1:100, ], predicted[1:100])

# The mistakes: many of them are hard for people too.
some <- head(wrong, 25)
plot_digits(test$x[some, , drop = FALSE], paste(predicted[some], "not", test$y[some]))

# The weights of a linear model as pictures: blue pixels speak for a digit, red ones against it.
linear <- sheaf_glm(train$x, train$y, family = "multinomial", alpha = 0.01, solver = "lbfgs", model = FALSE,
                    control = list(device = device))
cat(sprintf("linear model: %.2f %% wrong\n", 100 * mean(predict(linear, test$x, type = "class") != test$y)))
weights <- t(linear$class_coefficients[-1, ])
plot_digits(weights - rep(colMeans(weights), each = nrow(weights)), rownames(weights), columns = 5)
invisible(dev.off())

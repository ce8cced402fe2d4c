# The same from R: a function as a line of CUDA, on a GPU if there is one, else on the CPU.
library(sheaf)

# sheaf_devices() lists what can compute here.
devices <- sheaf_devices()
print(devices)
device <- if (any(devices$usable & grepl("^cuda", devices$device))) "cuda" else "cpu"

# One line for each element: a smooth loss of a margin, with its slope.
loss <- cuda_elementwise("double margin", "double loss, double slope",
  "double e = exp(-margin); loss = log(1 + e); slope = -e / (1 + e);", device = device)
margin <- seq(-3, 3, length.out = 7)
found <- loss(margin)
print(found)

# It is what R computes, to the last digits.
stopifnot(all.equal(as.numeric(found$loss), log1p(exp(-margin))))

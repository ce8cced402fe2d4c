"""What is added: pieces of text for the places that CONTRIBUTING.md names. ANCHOR stands for the text at the place."""

import pathlib
from dataclasses import dataclass, field

root = pathlib.Path(__file__).resolve().parent.parent.parent


@dataclass
class Toy:
    kind: str
    name: str
    pieces: list  # (file, text of the place or None for a new file, what it becomes)
    sources: list = field(default_factory=list)  # that read it
    commands: list = field(default_factory=list)  # (of the program with the toy, a pattern in what it prints)


LOSS = """/// log cosh(y - z): squares near 0, sizes beyond.
struct LogCosh : NetLoss {
  static constexpr Loss loss = Loss::log_cosh;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = false;
  static constexpr bool quadratic = false;
  static constexpr double largest_curvature = 1;
  static constexpr TargetRange targets = TargetRange::any;
  static constexpr LossInfo row{
      .name = "log-cosh",
      .net = {.kind = "elastic-net-log-cosh",
              .about = "regression by log cosh, with the penalty of the elastic net",
              .solver = "ELASTIC_NET_LOG_COSH",
              .title = "elastic-net log-cosh regression",
              .score = Metric::mean_absolute_error},
      .linear = {.name = "log-cosh", .about = "regression by log cosh", .solver = "L2R_LOG_COSH", .title = "log-cosh"}};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    const T size = std::abs(z - y);
    const T e = exp_nonpositive(-2 * size);
    const T slope = (1 - e) / (1 + e);
    return {size + log1p_unit(e) - T(0.69314718055994530942), z > y ? slope : -slope, 1 - slope * slope};
  }
  SHEAF_HOST_DEVICE static double dual_value(double u, double y) {
    const double a = std::abs(u) < 1 ? std::abs(u) : 1;
    return u * y - ((1 + a) * std::log1p(a) + (a < 1 ? (1 - a) * std::log1p(-a) : 0)) / 2;
  }
  static double least(double /*y*/) { return 0; }
};

"""

DISTRIBUTION = """/// Geometric, mean exp(z): failures before a success.
struct Geometric {
  static constexpr Loss loss = Loss::geometric;
  static constexpr bool regression = true;
  static constexpr bool strictly_convex = true;
  static constexpr TargetRange targets = TargetRange::counts;
  static constexpr GlmLink glm_link = GlmLink::log;
  static constexpr LossInfo row{.name = "geometric"};

  template <class T>
  SHEAF_HOST_DEVICE static LossTerms<T> terms(T z, T y, T /*unused*/) {
    const T mean = bounded_exp(z);
    const T both = mean + 1;
    return {(y + 1) * std::log(both) - y * z, (mean - y) / both, (y + 1) / both * (mean / both)};
  }
  template <class T>
  SHEAF_HOST_DEVICE static T prediction(T z, T /*unused*/) {
    return bounded_exp(z);
  }
  static double link(double mean, double /*unused*/) { return std::log(mean); }
};

struct GeometricCounts {
  static constexpr DistributionInfo row{
      .family = GlmFamily::geometric, .name = "geometric", .score = Metric::mean_poisson_deviance};
  using Losses = LossList<Geometric>;

  static double deviance(double y, double mean, double /*unused*/) {
    return 2 * (relative_entropy(y, mean) - (y + 1) * std::log((y + 1) / (mean + 1)));
  }
  static double variance(double mean, double /*unused*/) { return mean + mean * mean; }
  static double log_likelihood(double y, double mean, double /*unused*/) {
    return (y > 0 ? y * std::log(mean) : 0.0) - (y + 1) * std::log(1 + mean);
  }
};

"""

KERNEL = """template <class A>
struct Rational {
  static constexpr KernelFunction function{.type = KernelType::rational,
                                           .name = "rational",
                                           .title = "rational kernel",
                                           .formula = "1 / (1 + gamma |x-y|^2)",
                                           .has_gamma = true};
  A gamma;

  explicit Rational(const KernelParams& params) : gamma(static_cast<A>(params.gamma)) {}
  SHEAF_HOST_DEVICE static float of(float t) { return 1 / (1 + t); }
  SHEAF_HOST_DEVICE float operator()(A dot, A norm, A other_norm) const {
    return of(scaled_distance(gamma, dot, norm, other_norm));
  }
};

"""

FORMAT = """// A toy: comma-separated values under another name.
#include "data/read/reading.hpp"
#include "data/write/writing.hpp"

namespace sheaf {

template <class T>
Dataset<T> read_csv(const Reading& reading);
template <class T>
void write_csv(const Writing<T>& writing);

template <class T>
Dataset<T> read_toy(const Reading& reading) {
  return read_csv<T>(reading);
}
template <class T>
void write_toy(const Writing<T>& writing) {
  write_csv<T>(writing);
}

template Dataset<float> read_toy(const Reading&);
template Dataset<double> read_toy(const Reading&);
template void write_toy(const Writing<float>&);
template void write_toy(const Writing<double>&);

}  // namespace sheaf
"""

FAMILY = (root / "tests/family/toy_family.hpp").read_text().replace("#pragma once\n", "") + """
namespace sheaf {

const Family& mean_family() { return toy::toy_family(); }

}  // namespace sheaf
"""

NUMBERS = "sheaf generate regression t.csv --rows 60 --features 5 --seed 3 --quiet; "
CLASSES = "sheaf generate classification c.csv --rows 60 --features 5 --seed 3 --quiet; "

TOYS = [
    Toy(
        "loss",
        "log-cosh",
        [
            ("include/sheaf/solvers/linear.hpp", "  huber,\n", "ANCHOR  log_cosh,\n"),
            ("src/linear/losses/robust.hpp", "using RobustLosses = LossList<Huber, ",
             LOSS + "using RobustLosses = LossList<LogCosh, Huber, "),
        ],
        ["src/linear/losses/table.cpp", "src/linear/model/model.cpp", "src/linear/net/problem.cpp",
         "src/linear/net/ops_cpu.cpp", "src/linear/products/ops_cpu.cpp"],
        [
            (NUMBERS + "sheaf fit t.csv --model elastic-net-log-cosh --alpha 0.01 --output net.model; "
             "sheaf predict t.csv --model-file net.model", "R2|squared"),
            (NUMBERS + "sheaf fit t.csv --model linear --loss log-cosh --output l.model; "
             "sheaf predict t.csv --model-file l.model", "R2|squared"),
            (NUMBERS + "sheaf search t.csv --model elastic-net-log-cosh --output found", "mean absolute error"),
        ],
    ),
    Toy(
        "distribution",
        "geometric",
        [
            ("include/sheaf/solvers/linear.hpp", "  quasi_poisson,      ///< as poisson, likewise\n", "ANCHOR  geometric,\n"),
            ("include/sheaf/solvers/linear.hpp", "  crammer_singer,\n", "ANCHOR  geometric,\n"),
            ("src/linear/losses/positive.hpp", "using PositiveLosses =\n    LossList<",
             DISTRIBUTION + "ANCHORGeometric, "),
            ("src/linear/losses/positive.hpp", "LossList<PoissonCounts, ", "ANCHORGeometricCounts, "),
        ],
        ["src/linear/model/glm_problem.cpp", "src/linear/model/glm_statistics.cpp", "src/linear/glm/objective.cpp"],
        [("printf 'x,y\\n1,0\\n2,1\\n3,1\\n4,3\\n5,2\\n6,6\\n7,5\\n' > g.csv; "
          "sheaf fit g.csv --task regression --model glm --family geometric --output g.model; "
          "sheaf info g.csv; sheaf predict g.csv --task regression --model-file g.model", "geometric|R2")],
    ),
    Toy(
        "kernel",
        "rational",
        [
            ("include/sheaf/solvers/svm.hpp", "rbf, sigmoid, precomputed }", "rbf, sigmoid, rational, precomputed }"),
            ("src/kernel/values/kernels.hpp", "template <class... Kernels>\nstruct KernelList {};", KERNEL + "ANCHOR"),
            ("src/kernel/values/kernels.hpp", "Rbf<A>, Sigmoid<A>>;", "Rbf<A>, Sigmoid<A>, Rational<A>>;"),
        ],
        ["src/kernel/values/kernels.cpp", "src/kernel/values/table.cpp", "src/kernel/model/model.cpp"],
        [(CLASSES + "sheaf fit c.csv --model svm --kernel rational --output k.model; "
          "sheaf predict c.csv --model-file k.model", "accuracy")],
    ),
    Toy(
        "metric",
        "error-share",
        [
            ("src/score/metrics.cpp", "\n};\n\nconstexpr auto infos",
             '\n    row(unnamed, "error-share", "share of errors", "absolute by squared errors",\n'
             "        small_is_good, Need::errors, [](const Statistics& s) { return s.errors.absolute / s.errors.squares; },\n"
             "        {.summary = false}),ANCHOR"),
        ],
        ["src/score/metrics.cpp"],
        [(NUMBERS + "sheaf search t.csv --model elastic-net --score error-share --output share",
          "share of errors")],
    ),
    Toy(
        "criterion",
        "half-mifs",
        [("src/information/greedy/criteria.cpp", '      weighted({"mifs", ',
          '      weighted({"toy", "toy criterion", "I(X;Y) - beta * sum of I(Xs;X)", true}, between),\nANCHOR')],
        ["src/information/greedy/criteria.cpp"],
        [(CLASSES + "sheaf select c.csv --criterion toy --count 2", "toy criterion")],
    ),
    Toy(
        "format",
        "toy",
        [
            ("src/data/read/toy.cpp", None, FORMAT),
            ("src/data/formats/formats.cpp", "template <class T>\nDataset<T> read_arff(const Reading& reading);",
             "template <class T>\nDataset<T> read_toy(const Reading& reading);\n"
             "template <class T>\nvoid write_toy(const Writing<T>& writing);\nANCHOR"),
            ("src/data/formats/formats.cpp", '    Row{{"arff", "arff", ',
             '    Row{{"toy", "toy", "a toy"},\n        Content::text,\n        nullptr,\n'
             "        {read_toy<float>, read_toy<double>},\n        {write_toy<float>, write_toy<double>}},\nANCHOR"),
        ],
        ["src/data/read/toy.cpp", "src/data/formats/formats.cpp"],
        [(NUMBERS + "sheaf convert t.csv t.toy; sheaf info t.toy --format toy", "60 rows")],
    ),
    Toy(
        "family",
        "mean",
        [
            ("src/mean/mean.cpp", None, FAMILY),
            ("src/family/table.cpp", "const Family& stack_family();\n", "ANCHORconst Family& mean_family();\n"),
            ("src/family/table.cpp", "&stack_family()})", "&stack_family(), &mean_family()})"),
        ],
        ["src/mean/mean.cpp", "src/family/table.cpp"],
        [
            (NUMBERS + "sheaf fit t.csv --model mean --shrink 0 --output m.model; sheaf predict t.csv --model-file m.model; "
             "sheaf info m.model", "60 rows x 5 features\n *the mean"),
            (NUMBERS + "sheaf search t.csv --model mean --output means", "shrink"),
        ],
    ),
    Toy(
        "parameter",
        "patience",
        [
            ("include/sheaf/solvers/glm.hpp", "  double alpha = 0;                   ///< 0: no penalty\n",
             "ANCHOR  double patience = 1;  ///< a toy\n"),
            ("src/linear/model/glm_parameters.cpp", '      number_row("power", &O::power',
             '      number_row("patience", &O::patience, {0, most}, "a toy"),\nANCHOR'),
        ],
        ["src/linear/model/glm_parameters.cpp"],
        [("sheaf fit --help all", "--patience")],
    ),
]

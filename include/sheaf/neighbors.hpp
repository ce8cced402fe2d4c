// Distances between rows, and the nearest rows: exact, whatever the precision of the data. What is returned is computed
// from the differences of values, in double, in one fixed order: the same bits on every device and for any number of
// threads, for dense data and for sparse.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/parameters.hpp>

namespace sheaf {

/// distance_functions() describes each.
enum class DistanceType : std::uint8_t {
  euclidean,
  squared_euclidean,
  manhattan,
  cosine,
  correlation,
  chebyshev,
  minkowski,
  hamming,
  jaccard,
};

/// What is known of a distance but its values.
struct DistanceFunction {
  DistanceType type;
  std::string_view name;
  std::string_view formula;
  bool has_weights = false;  ///< features may have weights
};
std::span<const DistanceFunction> distance_functions();
const DistanceFunction& distance_function(DistanceType type);
std::string_view to_string(DistanceType type);

struct DistanceOptions {
  DistanceType metric = DistanceType::euclidean;
  double power = 3;             ///< of Minkowski's distance, 1 or more
  std::vector<double> weights;  ///< one of 0 or more a feature, multiplying its term; empty: 1
};

struct NeighborOptions {
  DistanceOptions distance;
  std::int64_t k = 5;
  double radius = 0;          ///< of find_within()
  bool include_self = false;  ///< of rows among themselves: each row is a neighbour of itself
};

/// The k nearest rows of each query, the nearest first, of equals that of the lower index. Indices count from 0.
struct NeighborLists {
  std::int64_t queries = 0;
  std::int64_t k = 0;
  std::vector<std::int32_t> indices;  ///< queries x k
  std::vector<double> distances;      ///< likewise
};

/// All rows within a radius: those of query i stand at offsets[i] .. offsets[i + 1], ordered as above.
struct RadiusLists {
  std::vector<std::int64_t> offsets{0};  ///< queries + 1
  std::vector<std::int32_t> indices;
  std::vector<double> distances;

  std::int64_t queries() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
};

// `queries`: other rows, of as many features (those that either lacks are 0); nullptr: the rows of the dataset
// themselves. Values that are not finite, weights that do not suit the features or are all 0, and a k beyond the number
// of rows are Errors. A row of zeros has cosine distance 1 to every other row and 0 to rows of zeros; the same holds
// for constant rows and correlation. Two rows of zeros have Jaccard distance 0.
template <class T>
NeighborLists find_neighbors(const Context& context, const Dataset<T>& dataset, const NeighborOptions& options,
                             const Dataset<T>* queries = nullptr);
/// Rows at a distance of at most options.radius.
template <class T>
RadiusLists find_within(const Context& context, const Dataset<T>& dataset, const NeighborOptions& options,
                        const Dataset<T>* queries = nullptr);

/// What comparing all queries with all rows takes, roughly; the functions above choose an automatic device by it.
template <class T>
WorkEstimate neighbors_work(const Dataset<T>& dataset, const Dataset<T>* queries = nullptr);

/// Weights of features from a file: one number of 0 or more to a line. Anything else is a ParseError with its place.
std::vector<double> read_feature_weights(const std::string& path, std::int64_t features);

/// Computes blocks of a distance matrix. Dataset and queries must outlive it.
class DistanceMatrix {
 public:
  template <class T>
  DistanceMatrix(const Context& context, const Dataset<T>& dataset, const DistanceOptions& options,
                 const Dataset<T>* queries = nullptr);
  DistanceMatrix(DistanceMatrix&&) noexcept;
  DistanceMatrix& operator=(DistanceMatrix&&) noexcept;
  ~DistanceMatrix();

  std::int64_t rows() const;     ///< queries
  std::int64_t columns() const;  ///< rows of the dataset
  /// out[(i - first_row) * columns + (j - first_column)]: from query i to row j.
  void compute(std::int64_t first_row, std::int64_t rows, std::int64_t first_column, std::int64_t columns,
               double* out) const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

struct MatrixFileOptions {
  bool upper = false;   ///< of rows among themselves: the part above the diagonal alone, row after row, as SciPy's pdist
  bool resume = false;  ///< go on with a file that an earlier call began
};
/// Writes a distance matrix of any size as a NumPy file (.npy) of doubles: rows x columns or, of the upper part, one
/// column. Blocks of rows are written as they are computed, to PATH.partial, which gets its name at the end and is kept
/// when the work is ended early. To go on with one of other rows or another distance is an Error.
template <class T>
void write_distances(const Context& context, const Dataset<T>& dataset, const DistanceOptions& distance,
                     const std::string& path, const MatrixFileOptions& options = {},
                     const Dataset<T>* queries = nullptr);

/// How lists of neighbours are written.
enum class NeighborFile : std::uint8_t {
  csv,     ///< query,rank,index,distance
  npy,     ///< NumPy: records of query, index and distance
  json,    ///< one object for each query
  binary,  ///< "SHEAFNN1"; 64-bit numbers of queries and entries; offsets; 32-bit indices; distances; little-endian
};
std::string format_neighbors(const NeighborLists& lists, NeighborFile format);
std::string format_neighbors(const RadiusLists& lists, NeighborFile format);

template <>
const std::vector<Parameter<DistanceOptions>>& parameters();
template <>
const std::vector<Parameter<NeighborOptions>>& parameters();

}  // namespace sheaf

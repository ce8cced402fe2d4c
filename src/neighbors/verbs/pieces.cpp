#include "neighbors/verbs/pieces.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "data/row_subset.hpp"
#include "neighbors/verbs/found.hpp"

namespace sheaf::neighbors {
namespace {

constexpr std::int64_t rows_share = 4;  // of the bytes
constexpr std::int64_t queries_share = 8;

/// Rows of one fold, ascending.
struct Piece {
  std::int32_t fold = 0;
  std::vector<std::int32_t> places;  // rows: in the data; queries: among the requested ones
};

template <class S>
std::int64_t bytes_of(const Rows<S>& rows) {
  return matrix_bytes(rows.x) + std::ssize(rows.terms) * std::int64_t{sizeof(RowTerms)};
}

template <class S>
Rows<S> gather(const Rows<S>& rows, std::span<const std::int32_t> places) {
  Rows<S> result;
  result.x = some_rows<S>(rows.x, places);
  if (!rows.terms.empty())
    for (const auto place : places) result.terms.push_back(rows.terms[static_cast<std::size_t>(place)]);
  return result;
}

template <class S>
class PieceOps final : public NeighborOps {
 public:
  PieceOps(const Context& context, const RowPair<S>& pair, std::int64_t bytes, MakeOps<S> make)
      : context_(context), pair_(pair), bytes_(bytes), make_(std::move(make)) {}

  void nearest(const Eligible& eligible, std::int64_t k, std::span<std::int32_t> indices,
               std::span<double> distances) override {
    std::fill(distances.begin(), distances.end(), std::numeric_limits<double>::infinity());
    std::fill(indices.begin(), indices.end(), std::numeric_limits<std::int32_t>::max());
    each_pair(eligible, [&](const Piece& rows, const Piece& queries, NeighborOps& ops) {
      // One more if a row may find itself.
      const bool drops_itself = pair_.self && !eligible.itself;
      NeighborLists some;
      some.k = std::min<std::int64_t>(k + (drops_itself ? 1 : 0), std::ssize(rows.places));
      some.indices.resize(queries.places.size() * static_cast<std::size_t>(some.k));
      some.distances.resize(some.indices.size());
      ops.nearest({}, some.k, some.indices, some.distances);
      parallel_ranges(context_.threads(), std::ssize(queries.places), 16, [&](Range range) {
        std::vector<Found> all;
        for (auto q = range.begin; q < range.end; ++q) {
          const auto place = queries.places[static_cast<std::size_t>(q)];
          const auto to = static_cast<std::size_t>(place * k);
          all.clear();
          for (std::size_t n = to; n < to + static_cast<std::size_t>(k); ++n) all.push_back({distances[n], indices[n]});
          for (auto n = static_cast<std::size_t>(q * some.k); n < static_cast<std::size_t>((q + 1) * some.k); ++n) {
            const auto row = rows.places[static_cast<std::size_t>(some.indices[n])];
            if (drops_itself && row == row_of(eligible, place)) continue;
            all.push_back({some.distances[n], row});
          }
          std::inplace_merge(all.begin(), all.begin() + k, all.end());
          for (std::size_t n = 0; n < static_cast<std::size_t>(k); ++n) {
            indices[to + n] = all[n].row;
            distances[to + n] = all[n].distance;
          }
        }
      });
    });
  }

  RadiusLists within(const Eligible& eligible, double radius) override {
    std::vector<std::vector<Found>> found(static_cast<std::size_t>(query_count(eligible)));
    each_pair(eligible, [&](const Piece& rows, const Piece& queries, NeighborOps& ops) {
      const auto some = ops.within({}, radius);
      for (std::size_t q = 0; q < queries.places.size(); ++q) {
        const auto place = queries.places[q];
        auto& mine = found[static_cast<std::size_t>(place)];
        for (auto n = some.offsets[q]; n < some.offsets[q + 1]; ++n) {
          const auto at = static_cast<std::size_t>(n);
          const auto row = rows.places[static_cast<std::size_t>(some.indices[at])];
          if (pair_.self && !eligible.itself && row == row_of(eligible, place)) continue;
          mine.push_back({some.distances[at], row});
        }
      }
    });
    for (auto& list : found) std::sort(list.begin(), list.end());
    return lists_of(found);
  }

  void distances(Range queries, Range rows, std::span<double> out) override {
    const auto columns = rows.end - rows.begin;
    std::vector<double> block;
    for (const auto& of_rows : cut(range_places(rows), step(pair_.data, rows_share)))
      for (const auto& of_queries : cut(range_places(queries), step(pair_.from(), queries_share))) {
        context_.check_stop();
        const auto sub = sub_pair(of_rows.places, of_queries.places);
        const auto count = std::ssize(of_rows.places);
        block.resize(of_queries.places.size() * of_rows.places.size());
        make_(sub)->distances({0, std::ssize(of_queries.places)}, {0, count}, block);
        for (std::size_t q = 0; q < of_queries.places.size(); ++q)
          std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(q) * count, count,
                      out.begin() + (of_queries.places[q] - queries.begin) * columns + of_rows.places[0] - rows.begin);
      }
  }

 private:
  static std::vector<std::int32_t> range_places(Range range) {
    std::vector<std::int32_t> places(static_cast<std::size_t>(range.end - range.begin));
    std::iota(places.begin(), places.end(), static_cast<std::int32_t>(range.begin));
    return places;
  }
  std::int64_t query_count(const Eligible& eligible) const {
    return eligible.queries.empty() ? sheaf::rows(pair_.from().x) : std::ssize(eligible.queries);
  }
  /// The row, or query of the pair, at a place among the requested ones.
  static std::int32_t row_of(const Eligible& eligible, std::int32_t place) {
    return eligible.queries.empty() ? place : eligible.queries[static_cast<std::size_t>(place)];
  }

  /// Rows of a piece.
  std::int64_t step(const Rows<S>& rows, std::int64_t share) const {
    const auto count = std::max<std::int64_t>(sheaf::rows(rows.x), 1);
    const auto each = std::max<std::int64_t>(bytes_of(rows) / count, 1);
    return std::max<std::int64_t>(bytes_ / share / each, 1);
  }
  static std::vector<Piece> cut(const std::vector<std::int32_t>& places, std::int64_t step, std::int32_t fold = 0) {
    std::vector<Piece> pieces;
    for (std::int64_t first = 0; first < std::ssize(places); first += step) {
      const auto last = std::min(first + step, std::ssize(places));
      pieces.push_back({fold, {places.begin() + first, places.begin() + last}});
    }
    return pieces;
  }
  /// Pieces of one fold each, so that all of a piece's rows are neighbours of all of a piece's queries, or none.
  template <class FoldOf>
  static std::vector<Piece> cut_folds(const std::vector<std::int32_t>& places, std::int64_t step,
                                      const FoldOf& fold_of) {
    std::map<std::int32_t, std::vector<std::int32_t>> members;
    for (const auto place : places) members[fold_of(place)].push_back(place);
    std::vector<Piece> pieces;
    for (const auto& [fold, own] : members)
      for (auto& piece : cut(own, step, fold)) pieces.push_back(std::move(piece));
    return pieces;
  }

  RowPair<S> sub_pair(std::span<const std::int32_t> rows, std::span<const std::int32_t> queries) const {
    RowPair<S> sub;
    sub.self = false;
    sub.distance = pair_.distance;
    sub.data = gather(pair_.data, rows);
    sub.queries = gather(pair_.from(), queries);
    return sub;
  }

  /// Calls work(rows, queries, ops) for all pieces that may be neighbours.
  template <class Work>
  void each_pair(const Eligible& eligible, const Work& work) const {
    std::vector<std::int32_t> usable;
    for (std::int32_t i = 0; i < pair_.rows(); ++i)
      if (eligible.data.empty() || eligible.data[static_cast<std::size_t>(i)] != 0) usable.push_back(i);
    const auto fold_of = [&](std::int32_t row) {
      return eligible.folds.empty() ? 0 : eligible.folds[static_cast<std::size_t>(row)];
    };
    const auto all_rows = cut_folds(usable, step(pair_.data, rows_share), fold_of);
    const auto all_queries = cut_folds(range_places({0, query_count(eligible)}), step(pair_.from(), queries_share),
                                       [&](std::int32_t place) { return fold_of(row_of(eligible, place)); });
    for (const auto& rows : all_rows)
      for (const auto& queries : all_queries) {
        if (!eligible.folds.empty() && rows.fold == queries.fold) continue;
        context_.check_stop();
        std::vector<std::int32_t> asked;
        for (const auto place : queries.places) asked.push_back(row_of(eligible, place));
        const auto sub = sub_pair(rows.places, asked);
        work(rows, queries, *make_(sub));
      }
  }

  Context context_;
  const RowPair<S>& pair_;
  std::int64_t bytes_;
  MakeOps<S> make_;
};

}  // namespace

template <class S>
bool needs_pieces(const RowPair<S>& pair, std::int64_t bytes) {
  return bytes_of(pair.data) + bytes_of(pair.queries) > bytes / 5 * 2;
}

template <class S>
std::unique_ptr<NeighborOps> make_piece_ops(const Context& context, const RowPair<S>& pair, std::int64_t bytes,
                                            MakeOps<S> make) {
  return std::make_unique<PieceOps<S>>(context, pair, bytes, std::move(make));
}

#define SHEAF_PIECES(S)                                        \
  template bool needs_pieces(const RowPair<S>&, std::int64_t); \
  template std::unique_ptr<NeighborOps> make_piece_ops(const Context&, const RowPair<S>&, std::int64_t, MakeOps<S>);
SHEAF_PIECES(float)
SHEAF_PIECES(double)
#undef SHEAF_PIECES

}  // namespace sheaf::neighbors

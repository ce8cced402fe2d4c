// Selection of features by a criterion, and lists of nearest rows.
#include <sheaf/bindings/selection.hpp>

#include "core.hpp"

namespace sheaf::python {
namespace {

py::object select_by(const Surroundings& surroundings, const AnyDataset& dataset, const Texts& settings,
                     const Texts& binning) {
  SelectRequest request;
  bindings::set_options(request.options, settings_of(settings));
  bindings::set_options(request.binning, settings_of(binning));
  bindings::List result;
  run(surroundings, [&](const Context& context) { result = bindings::select(context, dataset.any, request); });
  return to_python(std::move(result));
}

NeighborOptions neighbor_options(const Texts& settings, const Texts& distance) {
  NeighborOptions options;
  bindings::set_options(options, settings_of(settings));
  bindings::set_options(options.distance, settings_of(distance));
  return options;
}

/// Distances and indices of the k nearest rows; `queries` None: of the rows among themselves, without themselves.
py::tuple neighbors_of(const Surroundings& surroundings, const AnyDataset& dataset, const Texts& settings,
                       const Texts& distance, const AnyDataset* queries) {
  const auto options = neighbor_options(settings, distance);
  NeighborLists lists;
  run(surroundings, [&](const Context& context) {
    lists = bindings::find_neighbors(context, dataset.any, options, queries == nullptr ? nullptr : &queries->any);
  });
  return py::make_tuple(array_of(lists.distances, lists.queries, lists.k),
                        array_of(lists.indices, lists.queries, lists.k));
}

/// All rows within a radius, likewise.
py::object within(const Surroundings& surroundings, const AnyDataset& dataset, const Texts& settings,
                  const Texts& distance, const AnyDataset* queries) {
  const auto options = neighbor_options(settings, distance);
  bindings::List lists;
  run(surroundings, [&](const Context& context) {
    lists = bindings::find_within(context, dataset.any, options, queries == nullptr ? nullptr : &queries->any);
  });
  return to_python(std::move(lists));
}

}  // namespace

void add_selection(py::module_& module) {
  module.def("select", &select_by);
  module.def("neighbors", &neighbors_of);
  module.def("neighbors_within", &within);
}

}  // namespace sheaf::python

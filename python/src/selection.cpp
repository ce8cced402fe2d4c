// Selection of features by a criterion, and lists of nearest rows.
#include "core.hpp"

namespace sheaf::python {
namespace {

py::dict select_by(const Surroundings& surroundings, const AnyDataset& dataset, const Settings& settings,
                   const Settings& binning) {
  SelectRequest request;
  set_options(request.options, settings);
  set_options(request.binning, binning);
  SelectionResult result;
  run(surroundings, [&](const Context& context) {
    std::visit([&](const auto& one) { result = select(context, one, request); }, dataset.any);
  });
  std::vector<double> scores, relevance, redundancy;
  for (const auto& row : result.selected) {
    scores.push_back(row.feature.score);
    relevance.push_back(row.feature.relevance);
    redundancy.push_back(row.feature.redundancy);
  }
  py::dict answer;
  answer["features"] = array_of(result.indices());
  answer["scores"] = array_of(scores);
  answer["relevance"] = array_of(relevance);
  answer["redundancy"] = array_of(redundancy);
  answer["bins"] = result.binning.bins > 0 ? py::object(py::int_(result.binning.bins)) : py::none();
  answer["notes"] = result.notes;
  return answer;
}

py::dict criterion_table() {
  py::dict table;
  for (const auto& row : criteria()) table[py::str(std::string(row.name))] = std::string(row.title);
  return table;
}

/// Distances and indices of the k nearest rows; `queries` None: of the rows among themselves, without themselves.
py::tuple neighbors_of(const Surroundings& surroundings, const AnyDataset& dataset, const Settings& settings,
                       const Settings& distance, const AnyDataset* queries) {
  NeighborOptions options;
  set_options(options, settings);
  set_options(options.distance, distance);
  NeighborLists lists;
  run(surroundings, [&](const Context& context) {
    std::visit(
        [&](const auto& one) {
          using Same = std::decay_t<decltype(one)>;
          lists = find_neighbors(context, one, options, queries == nullptr ? nullptr : &std::get<Same>(queries->any));
        },
        dataset.any);
  });
  return py::make_tuple(array_of(lists.distances, lists.queries, lists.k),
                        array_of(lists.indices, lists.queries, lists.k));
}

}  // namespace

void add_selection(py::module_& module) {
  module.def("select", &select_by);
  module.def("criteria", &criterion_table);
  module.def("neighbors", &neighbors_of);
}

}  // namespace sheaf::python

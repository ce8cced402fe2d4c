// The results folder of a search: which files there are.
#include <sheaf/report.hpp>

namespace sheaf {

void write_results(const SearchDirectory& folder, const SearchResult& result) {
  const auto write = [&](const std::string& name, const std::string& text) { folder.write(name, text); };
  if (result.model) {
    folder.write("model.txt", *result.model);
    if (const auto text = result.model->peer_text())
      write(result.model->trained().peer_format() == ModelFile::libsvm ? "model.libsvm" : "model.liblinear", *text);
    write("scores.csv", search_csv(result));
  }
  if (result.model && result.model->coefficients())
    write("coefficients.csv", coefficients_csv(*result.model, result.standard_deviations));
  if (!result.path.empty()) write("path.csv", path_csv(result));
  if (result.held_out) write("predictions.csv", predictions_csv(result));
  if (const auto text = stack_csv(result); !text.empty()) write("stack.csv", text);
  if (result.learning_curve) write("learning_curve.csv", learning_curve_csv(result));
  if (!result.importance.empty()) write("importance.csv", importance_csv(result));
  if (const auto text = curves_csv(result); !text.empty()) write("curves.csv", text);
  if (const auto text = confusion_csv(result); !text.empty()) write("confusion.csv", text);
  if (const auto text = reliability_csv(result); !text.empty()) write("reliability.csv", text);
  if (!result.outer.empty()) write("outer.csv", outer_csv(result));
  if (!result.stability.empty()) write("features.csv", features_csv(result));
  write("report.html", search_html(result));
  write("results.json", search_json(result));
  folder.finish();
}

}  // namespace sheaf

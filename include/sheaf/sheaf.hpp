// Everything a program names of Sheaf: datasets from memory or files, training, prediction, searches, selection.
#pragma once

#include <sheaf/compare.hpp>
#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/error.hpp>
#include <sheaf/generate.hpp>
#include <sheaf/io.hpp>
#include <sheaf/memory.hpp>
#include <sheaf/model.hpp>
#include <sheaf/neighbors.hpp>
#include <sheaf/pipeline.hpp>
#include <sheaf/report.hpp>
#include <sheaf/rescore.hpp>
#include <sheaf/scores.hpp>
#include <sheaf/search.hpp>
#include <sheaf/selection.hpp>
#include <sheaf/version.hpp>

// Below them: options and solvers of each family, arrays and parameters.
#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/binning.hpp>
#include <sheaf/solvers/calibration.hpp>
#include <sheaf/solvers/device.hpp>
#include <sheaf/solvers/device_array.hpp>
#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/kernel_counts.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/matrix.hpp>
#include <sheaf/solvers/model_options.hpp>
#include <sheaf/solvers/net_path.hpp>
#include <sheaf/solvers/parameters.hpp>
#include <sheaf/solvers/predictions.hpp>
#include <sheaf/solvers/profile.hpp>
#include <sheaf/solvers/progress.hpp>
#include <sheaf/solvers/ridge.hpp>
#include <sheaf/solvers/scaling.hpp>
#include <sheaf/solvers/search_space.hpp>
#include <sheaf/solvers/snippets.hpp>
#include <sheaf/solvers/splits.hpp>
#include <sheaf/solvers/stack.hpp>
#include <sheaf/solvers/survival.hpp>
#include <sheaf/solvers/svm.hpp>
#include <sheaf/solvers/task_fit.hpp>
#include <sheaf/solvers/threshold.hpp>
#include <sheaf/solvers/trained_model.hpp>

// Everything a program names of Sheaf: datasets from memory or files, training, prediction, searches, selection.
#pragma once

#include <sheaf/array.hpp>
#include <sheaf/binning.hpp>
#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/device.hpp>
#include <sheaf/elastic_net.hpp>
#include <sheaf/error.hpp>
#include <sheaf/generate.hpp>
#include <sheaf/io.hpp>
#include <sheaf/linear.hpp>
#include <sheaf/matrix.hpp>
#include <sheaf/memory.hpp>
#include <sheaf/model.hpp>
#include <sheaf/parameters.hpp>
#include <sheaf/predictions.hpp>
#include <sheaf/profile.hpp>
#include <sheaf/progress.hpp>
#include <sheaf/report.hpp>
#include <sheaf/scaling.hpp>
#include <sheaf/scores.hpp>
#include <sheaf/search.hpp>
#include <sheaf/selection.hpp>
#include <sheaf/splits.hpp>
#include <sheaf/svm.hpp>
#include <sheaf/version.hpp>

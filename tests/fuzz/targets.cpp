#include "fuzz/targets.hpp"

#include <array>

namespace sheaf::fuzz {
namespace {

constexpr std::array table{
    Target{"libsvm", check_libsvm},
    Target{"csv", check_csv},
    Target{"arff", check_arff},
    Target{"sheaf", check_sheaf},
    Target{"npy", check_npy},
    Target{"npz", check_npz},
    Target{"market", check_market},
    Target{"biom", check_biom},
    Target{"hdf5", check_hdf5},
    Target{"hdf5_file", check_hdf5_file},
    Target{"xlsx", check_xlsx},
    Target{"compressed", check_compressed},
    Target{"cuts", check_cuts_file},
    Target{"rows", check_rows_file},
    Target{"scaling", check_scaling_file},
    Target{"model", check_model},
    Target{"journal", check_journal},
    Target{"settings", check_settings},
    Target{"checkpoint", check_checkpoint},
    Target{"pin", check_pin},
    Target{"psm_xml", check_psm_xml},
    Target{"weights", check_weights},
    Target{"parameters", check_parameters},
    Target{"snippet", check_snippet},
    Target{"app", check_app},
    Target{"operations", check_operations},
};

}  // namespace

std::span<const Target> targets() { return table; }

const Target* find_target(std::string_view name) {
  for (const Target& target : table)
    if (target.name == name) return &target;
  return nullptr;
}

}  // namespace sheaf::fuzz

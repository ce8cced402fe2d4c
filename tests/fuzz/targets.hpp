// The table of fuzz targets: what reads bytes that others may have written. A target takes any bytes at all; what they
// lead to is a result that keeps its promises, or an Error. Anything else aborts.
#pragma once

#include <span>
#include <string_view>

namespace sheaf::fuzz {

struct Target {
  std::string_view name;  ///< that of its folder in corpus/, and of its dictionary
  void (*check)(std::string_view input);
};
std::span<const Target> targets();
/// nullptr: there is none of that name.
const Target* find_target(std::string_view name);

void check_libsvm(std::string_view input);
void check_csv(std::string_view input);
void check_arff(std::string_view input);
void check_sheaf(std::string_view input);
void check_npy(std::string_view input);
void check_npz(std::string_view input);
void check_market(std::string_view input);
void check_biom(std::string_view input);
void check_hdf5(std::string_view input);
void check_hdf5_file(std::string_view input);
void check_xlsx(std::string_view input);
void check_compressed(std::string_view input);
void check_cuts_file(std::string_view input);
void check_rows_file(std::string_view input);
void check_scaling_file(std::string_view input);
void check_model(std::string_view input);
void check_journal(std::string_view input);
void check_settings(std::string_view input);
void check_checkpoint(std::string_view input);
void check_pin(std::string_view input);
void check_psm_xml(std::string_view input);
void check_weights(std::string_view input);
void check_parameters(std::string_view input);
void check_snippet(std::string_view input);
void check_app(std::string_view input);
void check_operations(std::string_view input);

}  // namespace sheaf::fuzz

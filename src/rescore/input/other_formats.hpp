// Files that are no PIN files, as the text of one: comma-separated tables, pepXML, mzIdentML.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/read/reading.hpp"
#include "data/xml/xml.hpp"
#include "rescore/input/psms.hpp"

namespace sheaf::rescore {

/// None if the file is a PIN file, or is in no known format. The first defect is a ParseError.
std::optional<std::string> as_pin(const Reading& reading, const PinOptions& options);

/// Commas become tabs; fields in quotes may hold commas, and "" for a quote.
std::string csv_as_pin(const Reading& reading, const PinOptions& options);
std::string pepxml_as_pin(const Reading& reading, const PinOptions& options);
std::string mzidentml_as_pin(const Reading& reading, const PinOptions& options);

/// Whether a protein's name says that it is a decoy.
bool is_decoy_name(std::string_view protein, const std::string& prefix);

/// None if the text is no finite number.
std::optional<double> optional_number(std::string_view text);

/// The number in an attribute; anything else is a ParseError.
double number_of(const Reading& reading, const Attributes& attributes, std::string_view name, const char* at);

/// PSMs whose features become known one after the other. A feature that a PSM does not have is 0 in the end, and values
/// that are no finite numbers are left out.
class PinText {
 public:
  struct Psm {
    std::string id, file, peptide;
    std::int64_t scan = 0;
    double mass = 0;
    std::optional<double> calculated_mass;
    std::optional<double> seconds;  ///< retention time
    bool target = true;
    std::vector<std::string> proteins;
    std::vector<std::pair<std::size_t, double>> features;  ///< places among the names, and values
  };

  void add_feature(Psm& psm, std::string_view name, std::string_view value);
  void add_feature(Psm& psm, std::string_view name, double value);
  /// `reading`, `at`: where it ends, for messages. PSMs that refer to the same long text again and again are an Error
  /// once they take more memory than there is to use.
  void add(const Reading& reading, const char* at, Psm psm);
  std::size_t size() const { return psms_.size(); }
  /// The retention time of all PSMs from the `first` on.
  void set_seconds(std::size_t first, double seconds);
  /// At least one decoy must be among them.
  std::string text(const Reading& reading) const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> places_;  // of the names
  std::vector<Psm> psms_;
  std::int64_t text_bytes_ = 0;  // of the PSMs' texts
  bool has_decoys_ = false;
};

}  // namespace sheaf::rescore

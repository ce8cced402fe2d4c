#include "data/xml/xml.hpp"

#if SHEAF_XML
#include <expat.h>
#endif

#include <algorithm>
#include <exception>
#include <memory>

#include <fmt/format.h>

#include "core/fail.hpp"

namespace sheaf {
#if SHEAF_XML
namespace {

std::string_view local_name(std::string_view name) { return name.substr(name.find(':') + 1); }

/// One file. Exceptions of handlers wait until expat, which is C, has returned.
class XmlReader {
 public:
  XmlReader(const Reading& reading, const XmlHandlers& handlers)
      : reading_(reading), handlers_(handlers), parser_(XML_ParserCreate(nullptr), XML_ParserFree) {
    if (!parser_) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), on_begin, on_end);
    XML_SetEntityDeclHandler(parser_.get(), on_entity);
    if (handlers.text) XML_SetCharacterDataHandler(parser_.get(), on_text);
  }

  void read() {
    constexpr std::size_t piece = 1 << 24;  // expat counts in int
    for (std::size_t at = 0; at < reading_.text.size(); at += piece) {
      const auto size = std::min(piece, reading_.text.size() - at);
      const bool last = at + size == reading_.text.size();
      const auto status = XML_Parse(parser_.get(), reading_.text.data() + at, static_cast<int>(size), last ? 1 : 0);
      if (failure_) std::rethrow_exception(failure_);
      if (status != XML_STATUS_OK)
        fail_at(reading_, here(), fmt::format("XML: {}", XML_ErrorString(XML_GetErrorCode(parser_.get()))));
      reading_.context.check_stop();
    }
  }

 private:
  const char* here() const {
    const auto byte = std::max<XML_Index>(XML_GetCurrentByteIndex(parser_.get()), 0);
    return std::min(reading_.text.data() + byte, reading_.limit());
  }

  template <class Call>
  void guarded(const Call& call) {
    if (failure_) return;
    try {
      call();
    } catch (...) {
      failure_ = std::current_exception();
      XML_StopParser(parser_.get(), XML_FALSE);
    }
  }

  static void XMLCALL on_begin(void* self, const XML_Char* name, const XML_Char** attributes) {
    auto& reader = *static_cast<XmlReader*>(self);
    reader.guarded([&] {
      std::vector<std::pair<std::string_view, std::string_view>> all;
      for (; *attributes != nullptr; attributes += 2) all.emplace_back(local_name(attributes[0]), attributes[1]);
      reader.handlers_.begin(local_name(name), Attributes(std::move(all)), reader.here());
    });
  }
  static void XMLCALL on_end(void* self, const XML_Char* name) {
    auto& reader = *static_cast<XmlReader*>(self);
    reader.guarded([&] { reader.handlers_.end(local_name(name), reader.here()); });
  }
  static void XMLCALL on_text(void* self, const XML_Char* text, int size) {
    auto& reader = *static_cast<XmlReader*>(self);
    reader.guarded([&] { reader.handlers_.text({text, static_cast<std::size_t>(size)}); });
  }
  /// No format here needs entities of its own; a few lines of them can stand for more text than any memory holds.
  static void XMLCALL on_entity(void* self, const XML_Char* name, int, const XML_Char*, int, const XML_Char*,
                                const XML_Char*, const XML_Char*, const XML_Char*) {
    auto& reader = *static_cast<XmlReader*>(self);
    reader.guarded([&] {
      fail_at(
          reader.reading_, reader.here(),
          fmt::format("XML: the entity {} is declared; entities are not read, write their text instead", shown(name)));
    });
  }

  const Reading& reading_;
  const XmlHandlers& handlers_;
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_;
  std::exception_ptr failure_;
};

}  // namespace

void read_xml(const Reading& reading, const XmlHandlers& handlers) { XmlReader(reading, handlers).read(); }
#else
void read_xml(const Reading& reading, const XmlHandlers&) {
  fail("{}: is XML, and this build has no expat to read it; install libexpat1-dev and build again", reading.name);
}
#endif

}  // namespace sheaf

// The site of the server: the page, and below api/v1 the interface that the page uses.
#pragma once

#include <string>
#include <vector>

#include "app/access/access.hpp"
#include "app/http/message.hpp"
#include "app/routes/services.hpp"

namespace sheaf::app {

class AppSite : public Site {
 public:
  AppSite(Services& services, const Access::Options& access)
      : services_(services), prefix_(access.prefix), token_(access.token), access_(access) {}

  const std::string& token() const { return token_; }

  std::optional<Response> refuse(Request& request) override;
  BodyPlan take_body(const Request& request) override;
  Response answer(Request& request) override;
  Response describe(const Refusal& refusal) override;

 private:
  Response secured(Response response) const;
  void take_prefix(Request& request) const;
  Response page(const Request& request) const;
  Response enter() const;

  Services& services_;
  std::string prefix_, token_;
  Access access_;
};

}  // namespace sheaf::app

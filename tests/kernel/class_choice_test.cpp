// The choice of classes by binary SVMs on every device, against a plain count of votes and sums, and decision values of
// some rows of a dataset.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.hpp"
#include "devices.hpp"
#include "kernel/model/plan.hpp"
#include "kernel/smo/train.hpp"
#include "kernel/verbs/ops.hpp"
#include "svm_tables.hpp"

namespace sheaf::test {
namespace class_choice_test {

using kernel::ClassChoice;
using kernel::Sides;

struct Plain {
  std::vector<double> votes, sums;
};

/// Votes and sums over the SVMs whose sides are both present.
Plain count(std::span<const double> z, std::span<const Sides> sides, std::span<const std::uint8_t> present) {
  Plain plain{std::vector<double>(present.size()), std::vector<double>(present.size())};
  for (std::size_t m = 0; m < sides.size(); ++m) {
    const auto first = static_cast<std::size_t>(sides[m].positive);
    const bool rest = sides[m].negative == SvmTask::rest;
    const auto second = rest ? first : static_cast<std::size_t>(sides[m].negative);
    if (present[first] == 0 || present[second] == 0) continue;
    plain.sums[first] += z[m];
    if (!rest) plain.sums[second] -= z[m];
    for (std::size_t c = 0; c < present.size(); ++c)
      plain.votes[c] += rest ? ((c == first) == (z[m] > 0) ? 1 : 0) : c == (z[m] > 0 ? first : second) ? 1 : 0;
  }
  return plain;
}

std::int32_t largest(std::span<const double> values, std::span<const std::uint8_t> present) {
  std::int32_t best = -1;
  for (std::size_t c = 0; c < values.size(); ++c)
    if (present[c] != 0 && (best < 0 || values[c] > values[static_cast<std::size_t>(best)]))
      best = static_cast<std::int32_t>(c);
  return std::max(best, 0);
}

void check(Device device, std::int64_t rows, std::size_t classes, MultiClass multi_class, ClassRule rule) {
  SCOPED_TRACE(to_string(device) + " rows " + std::to_string(rows) + " classes " + std::to_string(classes));
  constexpr std::int32_t models = 3;
  const auto choice = ClassChoice::of(SvmKind::c_svc, classes, multi_class, rule);
  const auto sides = kernel::sides_of(SvmKind::c_svc, classes, multi_class);
  ASSERT_EQ(static_cast<std::size_t>(choice.svms()), sides.size());
  Random random(3, static_cast<std::uint64_t>(rows) * 100 + classes);
  Block<double> z(rows, models * choice.svms());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int32_t m = 0; m < z.tasks(); ++m) z(i, m) = random.uniform() < 0.2 ? 0 : random.normal();
  std::vector<std::uint8_t> present;
  for (std::size_t k = 0; k < models * classes; ++k) present.push_back(k == 1 ? 0 : 1);
  std::vector<std::int32_t> some;
  for (std::int32_t i = 0; i < rows; i += 2) some.push_back(i);
  const auto on_device = z.to(device);
  Block<double> values(rows, models * choice.columns(), device);
  Block<std::int32_t> predicted(rows, models, device);
  kernel::choose_classes(context_on(device), choice,
                         {some, present, on_device.view(), values.view(), predicted.view()});
  const auto found = values.to(Device::cpu());
  const auto chosen = predicted.to(Device::cpu());
  for (const auto i : some)
    for (std::int32_t m = 0; m < models; ++m) {
      const auto svms = static_cast<std::size_t>(choice.svms());
      std::vector<double> own;
      for (std::size_t k = 0; k < svms; ++k) own.push_back(z(i, m * choice.svms() + static_cast<std::int32_t>(k)));
      const auto there = std::span(present).subspan(static_cast<std::size_t>(m) * classes, classes);
      const auto plain = count(own, sides, there);
      EXPECT_EQ(chosen(i, m), largest(choice.votes ? plain.votes : plain.sums, there));
      for (std::size_t c = 0; c < classes && classes > 2; ++c) {
        const double sum = plain.sums[c];
        const double expected = choice.rest ? sum : plain.votes[c] + sum / (3 * (std::abs(sum) + 1));
        EXPECT_NEAR(found(i, m * choice.columns() + static_cast<std::int32_t>(c)), expected, 1e-12);
      }
      if (classes == 2) {
        EXPECT_EQ(found(i, m), own[0]);
      }
    }
}

TEST(ClassChoice, IsThatOfAPlainCount) {
  for (const Device device : devices())
    for (const std::int64_t rows : {0, 1, 31, 32, 33, 1000})
      for (const std::size_t classes : {2, 3, 7})
        for (const auto multi_class : {MultiClass::one_vs_one, MultiClass::one_vs_rest})
          for (const auto rule : {ClassRule::automatic, ClassRule::votes, ClassRule::winner})
            check(device, rows, classes, multi_class, rule);
}

/// Decision values of some rows are those of all rows, and the other rows of the block stay as they are.
TEST(ClassChoice, SomeRowsAreDecidedAsAll) {
  const std::vector<BinarySvm> svms{{{3, 77, 150}, {0.5, -2, 1.25}, 0.3}, {{}, {}, -1}};
  for (const Device device : devices())
    for (const bool sparse : {false, true})
      for (const auto type : {KernelType::linear, KernelType::rbf}) {
        const KernelParams kernel{.type = type, .gamma = 0.1};
        Table<double> table(200, 12, sparse, SvmKind::c_svc);
        const auto all = decision_values(context_on(device), kernel, table.dataset, svms, table.dataset);
        const std::vector<std::int32_t> some{0, 5, 6, 31, 150, 199};
        Block<double> block(200, 2, device);
        kernel::decide_rows(context_on(device), kernel, table.dataset, svms,
                            kernel::Queries<double>{table.dataset, some}, block.view());
        const auto found = block.to(Device::cpu());
        for (std::int32_t i = 0; i < 200; ++i)
          for (std::int32_t m = 0; m < 2; ++m) {
            const bool asked = std::find(some.begin(), some.end(), i) != some.end();
            EXPECT_NEAR(found(i, m), asked ? all(i, m) : 0.0, 1e-6) << i << " " << m;
          }
      }
}

/// Trainings that keep their rows laid out find the same SVMs.
TEST(ClassChoice, KeptRowsGiveTheSameSvms) {
  for (const Device device : devices())
    for (const bool sparse : {false, true}) {
      Table<double> table(300, 12, sparse, SvmKind::c_svc);
      table.sheaf.tasks = {{0, 0, SvmTask::rest, 1, 1}, {1, 1, SvmTask::rest, 2, 2}};
      kernel::KeptRows kept;
      for (const double gamma : {0.05, 0.1, 8.0, 0.1}) {
        SvmParams params;
        params.kernel.gamma = gamma;
        const auto fresh = train_sheaf(context_on(device), table.dataset, table.sheaf, params);
        const auto again = kernel::train_tasks(context_on(device), table.dataset, table.sheaf, params, {}, &kept);
        for (std::size_t t = 0; t < 2; ++t) {
          EXPECT_EQ(fresh.tasks[t].svm.rows, again.tasks[t].svm.rows);
          EXPECT_EQ(fresh.tasks[t].svm.coefficients, again.tasks[t].svm.coefficients);
          EXPECT_EQ(fresh.tasks[t].svm.rho, again.tasks[t].svm.rho);
        }
      }
    }
}

}  // namespace class_choice_test
}  // namespace sheaf::test

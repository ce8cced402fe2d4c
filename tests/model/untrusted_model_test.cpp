// Model files from strangers: thousands of mutants of a small file of each family and format. Each is refused with a
// ParseError or Error, or predicts; none crashes, hangs or takes more memory than the limit of its process.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/error.hpp>
#include <sheaf/io.hpp>
#include <sheaf/model.hpp>

#include "core/random.hpp"
#include "model_text.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace untrusted_model_test {

constexpr int mutants_of_each = 400;
constexpr rlim_t memory_limit = rlim_t{6} << 30U;  // addresses, of which libraries reserve much
constexpr unsigned seconds = 120;                  // for all mutants of a file

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find('\n', begin), text.size() - 1);
    lines.push_back(text.substr(begin, end + 1 - begin));
    begin = end + 1;
  }
  return lines;
}

std::size_t draw(Random& random, std::size_t count) {
  return std::min(static_cast<std::size_t>(random.uniform() * static_cast<double>(count)), count - 1);
}

/// Puts another number in the place of one.
void change_number(Random& random, std::string& text) {
  static const std::vector<std::string> numbers{
      "0",         "-1",  "1",    "2",     "3",           "1000000", "2147483647",          "2147483648",
      "1e308",     "nan", "-inf", "1e400", "-2147483649", "0.5",     "9223372036854775807", "4e-320",
      "134217728", ""};
  const auto from = text.find_first_of("0123456789", draw(random, text.size()));
  if (from == std::string::npos) return;
  const auto end = std::min(text.find_first_not_of("0123456789.e+-", from), text.size());
  text.replace(from, end - from, numbers[draw(random, numbers.size())]);
}

std::string mutant_of(const std::string& text, Random& random) {
  auto result = text;
  const auto times = 1 + draw(random, 3);
  for (std::size_t k = 0; k < times && !result.empty(); ++k) {
    const auto kind = draw(random, 10);
    if (kind < 6) {
      change_number(random, result);
    } else if (kind == 6) {
      result[draw(random, result.size())] = static_cast<char>(draw(random, 256));
    } else if (kind == 7) {
      result.resize(draw(random, result.size()));
    } else {
      auto lines = lines_of(result);
      const auto at = lines.begin() + static_cast<std::ptrdiff_t>(draw(random, lines.size()));
      const auto line = *at;
      if (kind == 8)
        lines.erase(at);
      else
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(draw(random, lines.size())), line);
      result.clear();
      for (const auto& one : lines) result += one;
    }
  }
  return result;
}

class UntrustedModel : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    Random random(5);
    std::string classes = "a,colour,b,y\n";
    std::string numbers = "a,b,y\n";
    for (int i = 0; i < 24; ++i) {
      const double a = random.normal();
      const double b = random.normal();
      const auto colour = std::string(i % 3 == 0 ? "red" : i % 3 == 1 ? "green" : "blue");
      classes += std::to_string(a) + ',' + colour + ',' + std::to_string(b) + ',' + (a + b > 0 ? "1" : "2") + '\n';
      numbers += std::to_string(a) + ',' + std::to_string(b) + ',' + std::to_string(2 * a - b) + '\n';
    }
    write("classes.csv", classes);
    write("numbers.csv", numbers);
  }

  std::string folder() const {
    auto here = shell("pwd").out;
    here.pop_back();
    return here;
  }

  /// Mutants are read and used in a child of limited memory; returns its status.
  int run_mutants(const std::string& text, const Dataset<double>& rows, std::uint64_t seed, std::string& last) const {
    const auto child = fork();
    if (child == 0) {
      const rlimit memory{memory_limit, memory_limit};
      setrlimit(RLIMIT_AS, &memory);
      alarm(seconds);
      Random random(seed);
      const Context context({.threads = 1});
      for (int k = 0; k < mutants_of_each; ++k) {
        const auto mutant = mutant_of(text, random);
        write("last_mutant", mutant);
        try {
          const auto model = Model::parse(mutant, "mutant");
          model.predict(context, rows);
        } catch (const InternalError&) {
          _exit(3);
        } catch (const Error&) {
        } catch (...) {
          _exit(4);  // out of memory among others
        }
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    last = file("last_mutant");
    return status;
  }

  void expect_safe(const std::string& command, const std::string& table) {
    const auto fitted = shell("sheaf " + command + " --output model.txt --threads 1 --quiet");
    ASSERT_EQ(fitted.code, 0) << command << ": " << fitted.err;
    const auto rows = read_dataset<double>(Context({.threads = 1}), folder() + "/" + table);
    std::string last;
    auto text = file("model.txt");
    if (text.starts_with("sheaf-model")) text = without_checksum(text);  // which would refuse all mutants
    const auto status = run_mutants(text, rows, 11, last);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << ": status " << status << " at\n" << last;
  }
};

TEST_F(UntrustedModel, MutantsOfEveryFamilyAreRefusedOrPredict) {
  for (const std::string kind :
       {"linear --scale standard", "svm --kernel rbf", "svm --kernel polynomial --probability yes", "glm", "knn",
        "hknn", "falk-svm", "elastic-net --alpha 0.05", "multinomial"})
    expect_safe("fit classes.csv --label y --model " + kind, "classes.csv");
  for (const std::string kind : {"linear", "svm", "glm", "knn", "elastic-net --alpha 0.05"})
    expect_safe("fit numbers.csv --label y --model " + kind, "numbers.csv");
}

TEST_F(UntrustedModel, MutantsOfOtherProgramsFormatsAreRefusedOrPredict) {
  expect_safe("fit numbers.csv --label y --model linear --model-format liblinear", "numbers.csv");
  expect_safe("fit numbers.csv --label y --model svm --model-format libsvm", "numbers.csv");
  ASSERT_EQ(shell("cut -d, -f1,3,4 classes.csv >plain.csv").code, 0);
  expect_safe("fit plain.csv --label y --model linear --model-format liblinear", "plain.csv");
  expect_safe("fit plain.csv --label y --model svm --model-format libsvm", "plain.csv");
}

}  // namespace untrusted_model_test
}  // namespace sheaf::test

// Datasets from arrays in memory: every layout gives what the readers give of the same numbers, to the last bit;
// what can be borrowed is; and every defect is refused by the name of its argument.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <sheaf/sheaf.hpp>

#include "core/random.hpp"
#include "devices.hpp"
#include "same_dataset.hpp"

namespace sheaf {
namespace memory_test {

/// Numbers that float and double hold alike, two thirds of them 0, row by row; labels that follow some of them.
struct Numbers {
  std::int64_t rows, columns;
  std::vector<double> values;
  std::vector<std::int32_t> labels;

  double at(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i * columns + j)]; }
};

Numbers make_numbers(std::int64_t rows, std::int64_t columns) {
  Numbers numbers{rows, columns, {}, {}};
  Random random(7);
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      const double value = random.below(3) == 0 ? static_cast<double>(random.below(64)) / 8 - 4 : 0;
      numbers.values.push_back(value);
      sum += j < 3 ? value : 0;
    }
    numbers.labels.push_back(i < 3 ? static_cast<std::int32_t>(2 - i) : sum > 1 ? 2 : sum < -1 ? 0 : 1);
  }
  return numbers;
}

std::string csv_of(const Numbers& numbers) {
  std::string text;
  for (std::int64_t i = 0; i < numbers.rows; ++i) {
    for (std::int64_t j = 0; j < numbers.columns; ++j) text += fmt::format("{},", numbers.at(i, j));
    text += fmt::format("{}\n", numbers.labels[static_cast<std::size_t>(i)]);
  }
  return text;
}

std::string libsvm_of(const Numbers& numbers) {
  std::string text;
  for (std::int64_t i = 0; i < numbers.rows; ++i) {
    text += fmt::format("{}", numbers.labels[static_cast<std::size_t>(i)]);
    for (std::int64_t j = 0; j < numbers.columns; ++j)
      if (numbers.at(i, j) != 0) text += fmt::format(" {}:{}", j + 1, numbers.at(i, j));
    text += '\n';
  }
  return text;
}

template <class T>
Dataset<T> read_text(const Context& context, const std::string& text, const std::string& format, Storage storage,
                     std::int64_t features) {
  ReadOptions options;
  options.format = format;
  options.storage = storage;
  options.header = Header::no;
  options.features = format == "libsvm" ? features : 0;
  return parse_dataset<T>(context, text, "text", options);
}

Context on(Device device) { return Context({.device = device, .threads = 3}); }

/// Columns (or rows) of one vector, `padding` elements between them.
template <class V>
std::vector<V> dense_memory(const Numbers& numbers, bool by_rows, std::int64_t padding) {
  const std::int64_t outer = by_rows ? numbers.rows : numbers.columns;
  const std::int64_t inner = by_rows ? numbers.columns : numbers.rows;
  std::vector<V> memory;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t k = 0; k < inner; ++k)
      memory.push_back(static_cast<V>(by_rows ? numbers.at(o, k) : numbers.at(k, o)));
    for (std::int64_t p = 0; p < padding; ++p) memory.push_back(std::numeric_limits<V>::quiet_NaN());
  }
  return memory;
}

template <class Offset, class Index, class V>
struct Compressed {
  std::vector<Offset> offsets{0};
  std::vector<Index> indices;
  std::vector<V> values;

  SparseInput input(const Numbers& numbers, SparseLayout layout) const {
    return {layout, numbers.rows, numbers.columns, offsets, indices, values};
  }
};

/// `backwards`: each row or column from its end, which is to be put in order.
template <class Offset, class Index, class V>
Compressed<Offset, Index, V> compress(const Numbers& numbers, SparseLayout layout, bool backwards = false) {
  Compressed<Offset, Index, V> result;
  const bool csr = layout == SparseLayout::csr;
  const std::int64_t outer = csr ? numbers.rows : numbers.columns;
  const std::int64_t inner = csr ? numbers.columns : numbers.rows;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t k = 0; k < inner; ++k) {
      const std::int64_t at = backwards ? inner - 1 - k : k;
      const double value = csr ? numbers.at(o, at) : numbers.at(at, o);
      if (value == 0) continue;
      result.indices.push_back(static_cast<Index>(at));
      result.values.push_back(static_cast<V>(value));
    }
    result.offsets.push_back(static_cast<Offset>(result.values.size()));
  }
  return result;
}

template <class T>
void expect_same_training(const Context& context, const Dataset<T>& made, const Dataset<T>& read) {
  test::expect_same_dataset(made, read);
  const auto ours = train_linear(context, made, {});
  const auto theirs = train_linear(context, read, {});
  EXPECT_EQ(ours.class_names, theirs.class_names);
  EXPECT_EQ(ours.weights, theirs.weights);
  EXPECT_EQ(predict_linear(context, ours, made).decisions, predict_linear(context, theirs, read).decisions);
}

template <class T>
class MemoryOf : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(MemoryOf, Precisions);

template <class T, class V>
void expect_dense_layouts(const Context& context, const Numbers& numbers) {
  const auto read = read_text<T>(context, csv_of(numbers), "csv", Storage::dense, numbers.columns);
  for (const std::int64_t padding : {0, 5}) {
    const auto rows = dense_memory<V>(numbers, true, padding);
    const auto columns = dense_memory<V>(numbers, false, padding);
    SCOPED_TRACE(padding);
    expect_same_training(
        context,
        make_dataset<T>(context, DenseInput::row_major(rows, numbers.rows, numbers.columns, numbers.columns + padding),
                        numbers.labels),
        read);
    expect_same_training(
        context,
        make_dataset<T>(context,
                        DenseInput::column_major(columns, numbers.rows, numbers.columns, numbers.rows + padding),
                        numbers.labels),
        read);
  }
}

TYPED_TEST(MemoryOf, DenseLayoutsAreWhatTheReadersGive) {
  for (const Device device : test::devices())
    for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{{37, 11}, {200, 70}}) {
      const auto numbers = make_numbers(rows, columns);
      expect_dense_layouts<TypeParam, float>(on(device), numbers);
      expect_dense_layouts<TypeParam, double>(on(device), numbers);
    }
}

template <class T, class Offset, class Index, class V>
void expect_sparse_layouts(const Context& context, const Numbers& numbers, const Dataset<T>& read) {
  for (const auto layout : {SparseLayout::csr, SparseLayout::csc})
    for (const bool backwards : {false, true}) {
      SCOPED_TRACE(fmt::format("{}, backwards {}", layout == SparseLayout::csr ? "csr" : "csc", backwards));
      const auto memory = compress<Offset, Index, V>(numbers, layout, backwards);
      expect_same_training(context, make_dataset<T>(context, memory.input(numbers, layout), numbers.labels), read);
    }
}

TYPED_TEST(MemoryOf, SparseLayoutsAreWhatTheReadersGive) {
  using T = TypeParam;
  for (const Device device : test::devices()) {
    const auto context = on(device);
    const auto numbers = make_numbers(200, 70);
    const auto read = read_text<T>(context, libsvm_of(numbers), "libsvm", Storage::sparse, numbers.columns);
    expect_sparse_layouts<T, std::int32_t, std::int32_t, float>(context, numbers, read);
    expect_sparse_layouts<T, std::int32_t, std::int64_t, float>(context, numbers, read);
    expect_sparse_layouts<T, std::int64_t, std::int32_t, float>(context, numbers, read);
    expect_sparse_layouts<T, std::int64_t, std::int64_t, float>(context, numbers, read);
    expect_sparse_layouts<T, std::int32_t, std::int32_t, double>(context, numbers, read);
    expect_sparse_layouts<T, std::int32_t, std::int64_t, double>(context, numbers, read);
    expect_sparse_layouts<T, std::int64_t, std::int32_t, double>(context, numbers, read);
    expect_sparse_layouts<T, std::int64_t, std::int64_t, double>(context, numbers, read);
  }
}

TYPED_TEST(MemoryOf, ColumnsOfAnyShapeBecomeRows) {
  using T = TypeParam;
  for (const std::int64_t rows : {1, 2, 31, 63, 64, 65, 300})
    for (const std::int64_t columns : {1, 2, 31, 32, 33, 129}) {
      std::vector<T> memory(static_cast<std::size_t>(rows * columns));
      for (std::size_t k = 0; k < memory.size(); ++k) memory[k] = static_cast<T>(k);
      const auto dataset = make_dataset<T>(on(Device::cpu()), DenseInput::column_major(memory, rows, columns));
      const auto& x = std::get<DenseMatrix<T>>(dataset.x);
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          ASSERT_EQ(x.values[i * columns + j], memory[static_cast<std::size_t>(j * rows + i)])
              << rows << " x " << columns << " at " << i << ", " << j;
    }
}

TYPED_TEST(MemoryOf, MatchingLayoutsAreBorrowed) {
  using T = TypeParam;
  const auto numbers = make_numbers(37, 11);
  const auto dense = dense_memory<T>(numbers, true, 0);
  const auto made = make_dataset<T>(Context(), DenseInput::row_major(dense, 37, 11), numbers.labels);
  EXPECT_EQ(std::get<DenseMatrix<T>>(made.x).values.data(), dense.data());
  EXPECT_FALSE(std::get<DenseMatrix<T>>(made.x).values.is_owned());

  const auto csr = compress<std::int64_t, std::int32_t, T>(numbers, SparseLayout::csr);
  const auto borrowed = make_dataset<T>(Context(), csr.input(numbers, SparseLayout::csr), numbers.labels);
  const auto& x = std::get<SparseMatrix<T>>(borrowed.x);
  EXPECT_EQ(x.offsets.data(), csr.offsets.data());
  EXPECT_EQ(x.indices.data(), csr.indices.data());
  EXPECT_EQ(x.values.data(), csr.values.data());

  const auto mixed = compress<std::int32_t, std::int32_t, T>(numbers, SparseLayout::csr);
  const auto in_part = make_dataset<T>(Context(), mixed.input(numbers, SparseLayout::csr), numbers.labels);
  EXPECT_TRUE(std::get<SparseMatrix<T>>(in_part.x).offsets.is_owned());
  EXPECT_EQ(std::get<SparseMatrix<T>>(in_part.x).values.data(), mixed.values.data());
}

TYPED_TEST(MemoryOf, ScalingCopiesWhatIsBorrowed) {
  using T = TypeParam;
  const auto numbers = make_numbers(37, 11);
  const auto memory = dense_memory<T>(numbers, true, 0);
  const auto before = memory;
  auto dataset = make_dataset<T>(Context(), DenseInput::row_major(memory, 37, 11));
  apply_scaling(Context(), learn_scaling(Context(), dataset, ScaleMethod::standard), dataset);
  EXPECT_EQ(memory, before);
  EXPECT_TRUE(std::get<DenseMatrix<T>>(dataset.x).values.is_owned());
  EXPECT_NE(std::get<DenseMatrix<T>>(dataset.x).values[0], memory[0]);
}

TYPED_TEST(MemoryOf, MemoryOnADeviceStaysWhereItIs) {
  using T = TypeParam;
  for (const Device device : test::devices()) {
    const auto context = on(device);
    const auto numbers = make_numbers(200, 70);
    const auto on_device = [&](const auto& host) {
      using V = typename std::remove_cvref_t<decltype(host)>::value_type;
      return Array<V>::copy_of(std::span<const V>(host), device);
    };
    const auto view = [](const auto& array) { return array.span(); };  // of addresses: never read from here
    const auto dense = on_device(dense_memory<T>(numbers, true, 0));
    const auto made = make_dataset<T>(context, DenseInput::row_major(view(dense), 200, 70, 0, device), numbers.labels);
    EXPECT_EQ(std::get<DenseMatrix<T>>(made.by_rows(device)).values.data(), dense.data());
    expect_same_training(context, made, read_text<T>(context, csv_of(numbers), "csv", Storage::dense, 70));

    const auto shifted = on_device([&] {
      auto values = dense_memory<T>(numbers, true, 0);
      values.insert(values.begin(), T(0));
      return values;
    }());
    const auto unaligned =
        make_dataset<T>(context, DenseInput::row_major(view(shifted).subspan(1), 200, 70, 0, device), numbers.labels);
    expect_same_training(context, unaligned, read_text<T>(context, csv_of(numbers), "csv", Storage::dense, 70));

    const auto columns = on_device(dense_memory<float>(numbers, false, 2));
    expect_same_training(
        context,
        make_dataset<T>(context, DenseInput::column_major(view(columns), 200, 70, 202, device), numbers.labels),
        read_text<T>(context, csv_of(numbers), "csv", Storage::dense, 70));

    const auto csr = compress<std::int64_t, std::int32_t, T>(numbers, SparseLayout::csr);
    const auto offsets = on_device(csr.offsets);
    const auto indices = on_device(csr.indices);
    const auto values = on_device(csr.values);
    const auto sparse = make_dataset<T>(
        context, SparseInput::csr(200, 70, view(offsets), view(indices), view(values), device), numbers.labels);
    EXPECT_EQ(std::get<SparseMatrix<T>>(sparse.by_rows(device)).values.data(), values.data());
    expect_same_training(context, sparse, read_text<T>(context, libsvm_of(numbers), "libsvm", Storage::sparse, 70));
  }
}

TEST(Memory, IsKeptByItsOwner) {
  auto owned = std::make_shared<std::vector<double>>(12, 1.5);
  const std::weak_ptr<std::vector<double>> watched = owned;
  auto input = DenseInput::row_major(*owned, 3, 4);
  input.owner = std::move(owned);
  {
    const auto dataset = make_dataset<double>(Context(), input);
    input.owner = {};
    EXPECT_FALSE(watched.expired());
    EXPECT_EQ(std::get<DenseMatrix<double>>(dataset.x).values[11], 1.5);
  }
  EXPECT_TRUE(watched.expired());
}

TEST(Memory, MayHoldNothing) {
  const std::vector<double> none;
  const auto no_rows = make_dataset<double>(Context(), DenseInput::row_major(none, 0, 4));
  EXPECT_EQ(no_rows.rows(), 0);
  EXPECT_EQ(no_rows.features(), 4);
  const std::vector<std::int64_t> offsets(4, 0);
  const std::vector<std::int32_t> indices;
  const auto no_entries = make_dataset<float>(Context(), SparseInput::csr(3, 5, offsets, indices, none));
  EXPECT_EQ(no_entries.rows(), 3);
  EXPECT_EQ(stored(no_entries.x), 0);
}

// Labels, groups, names.

template <class V>
void expect_number_labels() {
  const std::vector<V> labels{3, 1, 3, 2};
  const auto target = make_target(labels);
  EXPECT_EQ(target.values, (std::vector<double>{3, 1, 3, 2}));
  EXPECT_EQ(target.classes, (std::vector<std::int32_t>{2, 0, 2, 1}));
  EXPECT_EQ(target.class_names, (std::vector<std::string>{"1", "2", "3"}));
}

TEST(MemoryLabels, OfEveryNumberTypeAreTheSame) {
  expect_number_labels<double>();
  expect_number_labels<float>();
  expect_number_labels<std::int8_t>();
  expect_number_labels<std::uint8_t>();
  expect_number_labels<std::int16_t>();
  expect_number_labels<std::uint16_t>();
  expect_number_labels<std::int32_t>();
  expect_number_labels<std::uint32_t>();
  expect_number_labels<std::int64_t>();
  expect_number_labels<std::uint64_t>();
}

TEST(MemoryLabels, AreWhatTheReadersMakeOfTheSameTexts) {
  for (const std::vector<std::string>& labels :
       {std::vector<std::string>{"red", "blue", "red", "green"}, std::vector<std::string>{"1", "+1", "-1", "1.0"},
        std::vector<std::string>{"-0", "0", "2.5", "a"}}) {
    std::string text;
    std::vector<std::string_view> views;
    for (const auto& label : labels) {
      text += label + " 1:1\n";
      views.emplace_back(label);
    }
    const auto read = read_text<double>(Context(), text, "libsvm", Storage::sparse, 0);
    test::expect_same_target(make_target(labels), read.target);
    test::expect_same_target(make_target(views), read.target);
  }
}

TEST(MemoryLabels, OfManyDistinctNumbersAreNoClasses) {
  std::vector<double> labels;
  for (int i = 0; i <= Target::max_classes; ++i) labels.push_back(i + 0.5);
  EXPECT_TRUE(make_target(labels).classes.empty());
  EXPECT_EQ(make_target(labels).values, labels);
  labels.pop_back();
  EXPECT_EQ(std::ssize(make_target(labels).class_names), Target::max_classes);
}

TEST(MemoryLabels, StandInTheCallersOrder) {
  const auto numbers = make_numbers(60, 5);
  std::vector<std::int32_t> labels;
  for (const auto label : numbers.labels) labels.push_back(label > 0 ? 1 : -1);
  const auto dense = dense_memory<double>(numbers, true, 0);
  const auto train = [&](const std::vector<std::string>& order) {
    DatasetOptions options;
    options.class_names = order;
    return train_linear(Context(),
                        make_dataset<double>(Context(), DenseInput::row_major(dense, 60, 5), labels, options), {});
  };
  const auto up = train({"-1", "1"});
  const auto down = train({"1", "-1"});
  EXPECT_EQ(up.class_names, (std::vector<std::string>{"-1", "1"}));
  EXPECT_EQ(down.class_names, (std::vector<std::string>{"1", "-1"}));
  for (std::size_t k = 0; k < up.weights.size(); ++k) EXPECT_NEAR(up.weights[k], -down.weights[k], 1e-3);
}

TEST(Memory, HasGroupsAndNamesAsFilesHave) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  const std::vector<std::string> labels{"a", "b", "a"};
  DatasetOptions options;
  options.feature_names = {"width", "height"};
  options.groups = std::vector<std::int64_t>{};
  const std::vector<std::int64_t> groups{7, 9, 7};
  options.groups = groups;
  options.target_name = "kind";
  const auto made = make_dataset<double>(Context(), DenseInput::row_major(values, 3, 2), labels, options);
  ReadOptions reading;
  reading.format = "csv";
  reading.group = "subject";
  reading.label = "kind";
  test::expect_same_dataset(
      made,
      parse_dataset<double>(Context(), "width,height,subject,kind\n1,2,7,a\n3,4,9,b\n5,6,7,a\n", "text", reading));
}

TEST(Memory, MissingValuesAreFilledInAsInFiles) {
  const double gap = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values{1, 2, gap, 4, 5, gap, 3, 6};
  const auto before = values;
  for (const auto missing : {Missing::mean, Missing::median, Missing::most_frequent, Missing::zero}) {
    DatasetOptions options;
    options.missing = missing;
    const auto made = make_dataset<double>(Context(), DenseInput::row_major(values, 4, 2), {}, options);
    ReadOptions reading;
    reading.format = "csv";
    reading.label = "none";
    reading.header = Header::no;
    reading.missing = missing;
    test::expect_same_dataset(made, parse_dataset<double>(Context(), "1,2\n,4\n5,\n3,6\n", "text", reading));
  }
  EXPECT_TRUE(std::isnan(values[2]) && values[0] == before[0]);
  DatasetOptions keep;
  keep.missing = Missing::keep;
  const auto kept = make_dataset<double>(Context(), DenseInput::row_major(values, 4, 2), {}, keep);
  EXPECT_EQ(std::get<DenseMatrix<double>>(kept.x).values.data(), values.data());
}

TEST(Memory, RowWeightsBecomeFloats) {
  const std::vector<double> weights{0.5, 0, 2};
  EXPECT_EQ(make_row_weights(weights, 3), (std::vector<float>{0.5F, 0, 2}));
}

// Defects.

template <class Work>
void expect_refused(Work&& work, const std::string& message) {
  try {
    work();
    ADD_FAILURE() << "accepted, though: " << message;
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()), message);
  }
}

/// Three rows, four columns; a member at a time is made wrong.
struct DenseCase {
  std::vector<double> values = std::vector<double>(12, 1.0);
  std::int64_t rows = 3, columns = 4, row_stride = 4, column_stride = 1;

  template <class T = double>
  void make() const {
    make_dataset<T>(on(Device::cpu()), DenseInput{values, rows, columns, row_stride, column_stride});
  }
};

TEST(MemoryDefects, OfDenseMatricesNameTheArgument) {
  const auto refused = [](auto&& spoil, const std::string& message) {
    DenseCase wrong;
    spoil(wrong);
    expect_refused([&] { wrong.make(); }, message);
  };
  refused([](auto& c) { c.rows = -1; }, "argument 'rows': is -1, but 0 to 2147483647 is expected");
  refused([](auto& c) { c.columns = 1L << 40; },
          "argument 'columns': is 1099511627776, but 0 to 2147483647 is expected");
  refused([](auto& c) { c.row_stride = 0; }, "argument 'row_stride': is 0, but 1 or more is expected");
  refused([](auto& c) { c.column_stride = -4; }, "argument 'column_stride': is -4, but 1 or more is expected");
  refused([](auto& c) { c.values.pop_back(); },
          "argument 'values': has 11 elements, too few for 3 x 4 with strides 4 and 1");
  refused([](auto& c) { c.row_stride = std::numeric_limits<std::int64_t>::max(); },
          "argument 'values': has 12 elements, too few for 3 x 4 with strides 9223372036854775807 and 1");
  refused([](auto& c) { c.values.clear(); },
          "argument 'values': has 0 elements, too few for 3 x 4 with strides 4 and 1");
  refused(
      [](auto& c) {
        c.values.clear();
        c.rows = c.columns = 1;
      },
      "argument 'values': has 0 elements, too few for 1 x 1 with strides 4 and 1");
  refused([](auto& c) { c.values[6] = std::nan(""); },
          "argument 'values': row 1, column 2 is NaN; set 'missing' to say what stands for a missing value");
  refused([](auto& c) { c.values[11] = -std::numeric_limits<double>::infinity(); },
          "argument 'values': row 2, column 3 is -inf, but a finite number is expected");
  refused(
      [](auto& c) {
        c.row_stride = 1;
        c.column_stride = 3;
        c.values[7] = std::numeric_limits<double>::infinity();
      },
      "argument 'values': row 1, column 2 is inf, but a finite number is expected");
  DenseCase large;
  large.values[4] = 1e300;
  expect_refused([&] { large.make<float>(); },
                 "argument 'values': row 1, column 0 is infinite, or too large for single precision, but a finite "
                 "number is expected");
}

/// | 1 2 . |
/// | . . 3 |   as CSR; as CSC it is 3 rows of 2.
struct SparseCase {
  SparseLayout layout = SparseLayout::csr;
  std::int64_t rows = 2, columns = 3;
  std::vector<std::int64_t> offsets{0, 2, 3};
  std::vector<std::int64_t> indices{0, 1, 2};
  std::vector<float> values{1, 2, 3};

  void make() const {
    make_dataset<float>(on(Device::cpu()), SparseInput{layout, rows, columns, offsets, indices, values});
  }
};

TEST(MemoryDefects, OfSparseMatricesNameTheArgument) {
  const auto refused = [](auto&& spoil, const std::string& message) {
    SparseCase wrong;
    spoil(wrong);
    expect_refused([&] { wrong.make(); }, message);
  };
  SparseCase().make();
  refused([](auto& c) { c.rows = -2; }, "argument 'rows': is -2, but 0 to 2147483647 is expected");
  refused([](auto& c) { c.columns = -2; }, "argument 'columns': is -2, but 0 to 2147483647 is expected");
  refused([](auto& c) { c.offsets.pop_back(); }, "argument 'offsets': has 2 entries, but 2 rows need 3");
  refused([](auto& c) { c.layout = SparseLayout::csc; }, "argument 'offsets': has 3 entries, but 3 columns need 4");
  refused([](auto& c) { c.values.pop_back(); }, "argument 'indices': has 3 entries, but 'values' has 2");
  refused([](auto& c) { c.offsets[0] = 1; }, "argument 'offsets': entry 0 is 1, but 0 is expected");
  refused([](auto& c) { c.offsets = {0, 4, 3}; }, "argument 'offsets': entry 2 is 3, less than the entry before it, 4");
  refused(
      [](auto& c) {
        c.offsets = {0, 2, 4};
      },
      "argument 'offsets': the last entry is 4, but there are 3 indices and values");
  refused([](auto& c) { c.indices[2] = 40; }, "argument 'indices': entry 2 is 40, but the matrix has 3 columns");
  refused([](auto& c) { c.indices[1] = -1; }, "argument 'indices': entry 1 is -1, but the matrix has 3 columns");
  refused([](auto& c) { c.indices[1] = (1LL << 32) + 1; },
          "argument 'indices': entry 1 is 4294967297, but the matrix has 3 columns");
  refused(
      [](auto& c) {
        c.layout = SparseLayout::csc;
        c.rows = 3;
        c.columns = 2;
        c.indices[2] = 3;
      },
      "argument 'indices': entry 2 is 3, but the matrix has 3 rows");
  refused([](auto& c) { c.indices[1] = 0; },
          "argument 'indices': row 0 has column 0 twice; add the values up, so that each place stands once");
  refused(
      [](auto& c) {
        c.layout = SparseLayout::csc;
        c.rows = 3;
        c.columns = 2;
        c.indices = {2, 2, 0};
      },
      "argument 'indices': row 2 has column 0 twice; add the values up, so that each place stands once");
  refused([](auto& c) { c.values[2] = std::numeric_limits<float>::quiet_NaN(); },
          "argument 'values': row 1, column 2 is NaN; set 'missing' to say what stands for a missing value");
  refused([](auto& c) { c.values[1] = std::numeric_limits<float>::infinity(); },
          "argument 'values': row 0, column 1 is inf, but a finite number is expected");
}

TEST(MemoryDefects, OfAddressesNameTheArgument) {
  const std::vector<char> bytes(100);
  const void* odd = bytes.data() + 1;  // vectors begin at even addresses
  const std::span<const double> values(static_cast<const double*>(odd), 6);
  expect_refused([&] { make_dataset<double>(Context(), DenseInput::row_major(values, 3, 2)); },
                 "argument 'values': the memory begins at no multiple of 8 bytes; copy it to memory of its own");
}

TEST(MemoryDefects, AreFoundWhereverTheyStand) {
  constexpr std::int64_t rows = 3000;
  constexpr std::int64_t columns = 100;
  std::vector<double> values(rows * columns, 1.0);
  for (const std::int64_t at : {0L, 65535L, 65536L, 123456L, rows * columns - 1}) {
    auto wrong = values;
    wrong[static_cast<std::size_t>(at)] = std::nan("");
    wrong.back() = std::nan("");  // the first is named, whichever thread meets which
    expect_refused([&] { make_dataset<double>(on(Device::cpu()), DenseInput::row_major(wrong, rows, columns)); },
                   fmt::format("argument 'values': row {}, column {} is NaN; set 'missing' to say what stands for a "
                               "missing value",
                               at / columns, at % columns));
  }
}

TEST(MemoryDefects, OfLabelsAndNamesNameTheArgument) {
  const std::vector<double> values(6, 1.0);
  const auto make = [&](const LabelSpan& labels, const DatasetOptions& options) {
    return [&values, labels, options] {
      make_dataset<double>(Context(), DenseInput::row_major(values, 3, 2), labels, options);
    };
  };
  const std::vector<std::int32_t> two{1, 2};
  const std::vector<std::int32_t> three{1, 2, 1};
  const std::vector<double> with_nan{1, std::nan(""), 2};
  const std::vector<std::uint64_t> large{1, 2, (1ULL << 60) + 1};
  const std::vector<std::string> with_empty{"a", "", "b"};
  const std::vector<std::string> not_text{"a", "\xff", "b"};
  const std::vector<std::string> words{"a", "b", "c"};
  expect_refused(make(two, {}), "argument 'labels': has 2 entries, but the matrix has 3 rows");
  expect_refused(make(with_nan, {}), "argument 'labels': entry 1 is nan, but a finite number is expected");
  expect_refused(make(large, {}),
                 "argument 'labels': entry 2 is 1152921504606846977, but integers below 2^53 are expected; give "
                 "larger ones as texts");
  expect_refused(make(with_empty, {}), "argument 'labels': entry 1 is empty");
  expect_refused(make(not_text, {}), "argument 'labels': entry 1 is no UTF-8 text: '\\xff'");
  const auto with = [](auto&& change) {
    DatasetOptions options;
    change(options);
    return options;
  };
  expect_refused(make(words, with([](auto& o) {
                        o.class_names = {"a", "b"};
                      })),
                 "argument 'labels': entry 2 is 'c', which is not one of 'class_names': a and b");
  expect_refused(make(words, with([](auto& o) {
                        o.class_names = {"a", "b", "c", "d"};
                      })),
                 "argument 'class_names': no row has the class 'd'; leave it out");
  expect_refused(make(three, with([](auto& o) {
                        o.class_names = {"1", "2", "+1"};
                      })),
                 "argument 'class_names': '+1' stands twice");
  expect_refused(make({}, with([&](auto& o) { o.groups = two; })),
                 "argument 'groups': has 2 entries, but the matrix has 3 rows");
  expect_refused(make({}, with([&](auto& o) { o.groups = with_empty; })), "argument 'groups': entry 1 is empty");
  expect_refused(make({}, with([](auto& o) { o.feature_names = {"x"}; })),
                 "argument 'feature_names': has 1 name, but the matrix has 2 columns");
  expect_refused(make({}, with([](auto& o) {
                        o.feature_names = {"x", "x"};
                      })),
                 "argument 'feature_names': entry 1 is 'x', a name that an earlier column has");
  expect_refused(make({}, with([](auto& o) {
                        o.feature_names = {"x", "\xff"};
                      })),
                 "argument 'feature_names': entry 1 is no UTF-8 text: '\\xff'");
}

TEST(MemoryDefects, OfRowWeightsNameTheArgument) {
  const auto refused = [](const std::vector<double>& weights, const std::string& message) {
    expect_refused([&] { make_row_weights(weights, 3); }, message);
  };
  refused({1, 2}, "argument 'row_weights': has 2 entries, but the dataset has 3 rows");
  refused({1, -2, 1}, "argument 'row_weights': entry 1 is -2, but a finite number of 0 or more is expected");
  refused({1, 2, std::nan("")}, "argument 'row_weights': entry 2 is nan, but a finite number of 0 or more is expected");
  refused({1e300, 2, 1}, "argument 'row_weights': entry 0 is 1e+300, but a finite number of 0 or more is expected");
  refused({0, 0, 0}, "argument 'row_weights': all 3 weights are 0, which leaves no row to train on");
}

}  // namespace memory_test
}  // namespace sheaf

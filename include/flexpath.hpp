/* Flexpath for C++17: flexpath.h with handles that close themselves, views of elements, and exceptions. Header only. */
#ifndef FLEXPATH_HPP
#define FLEXPATH_HPP

#include "flexpath.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace flexpath {

/* What a call that failed throws. */
class error : public std::runtime_error {
public:
    error(flexpath_status status, const std::string &text) : std::runtime_error(text), status_(status) {}
    flexpath_status status() const noexcept { return status_; }

private:
    flexpath_status status_;
};

/* Throws if the call failed. */
inline flexpath_status check(flexpath_status status) {
    if (status < 0) throw error(status, flexpath_last_error());
    return status;
}

static_assert(sizeof(bool) == 1, "truth values are bytes");

/* A text as C takes it. One with a zero byte inside would be cut there. */
inline const char *pointer(const std::string &text) {
    const std::size_t end = text.find('\0');
    if (end == std::string::npos) return text.c_str();
    throw error(FLEXPATH_STATUS_MISUSE, "text \"" + text.substr(0, end) + "\" has " + std::to_string(text.size()) +
                                            " bytes, of which byte " + std::to_string(end) +
                                            " is zero: texts have none, so put it as bytes");
}

/* Texts as C takes them. */
inline std::vector<const char *> pointers(const std::vector<std::string> &texts) {
    std::vector<const char *> all;
    for (const std::string &text : texts) all.push_back(pointer(text));
    return all;
}

/* How long C is told to wait. */
inline std::uint64_t wait_ms(std::chrono::milliseconds timeout) {
    return timeout.count() < 0 ? 0 : static_cast<std::uint64_t>(timeout.count());
}

/* The element type of a C++ type; other types do not compile. */
template <class T> struct dtype_of;
#define FLEXPATH_DTYPE_OF(type, code) \
    template <> struct dtype_of<type> { static constexpr std::int32_t value = code; };
FLEXPATH_DTYPE_OF(std::int8_t, FLEXPATH_DTYPE_I8)
FLEXPATH_DTYPE_OF(std::int16_t, FLEXPATH_DTYPE_I16)
FLEXPATH_DTYPE_OF(std::int32_t, FLEXPATH_DTYPE_I32)
FLEXPATH_DTYPE_OF(std::int64_t, FLEXPATH_DTYPE_I64)
FLEXPATH_DTYPE_OF(std::uint8_t, FLEXPATH_DTYPE_U8)
FLEXPATH_DTYPE_OF(std::uint16_t, FLEXPATH_DTYPE_U16)
FLEXPATH_DTYPE_OF(std::uint32_t, FLEXPATH_DTYPE_U32)
FLEXPATH_DTYPE_OF(std::uint64_t, FLEXPATH_DTYPE_U64)
FLEXPATH_DTYPE_OF(float, FLEXPATH_DTYPE_F32)
FLEXPATH_DTYPE_OF(double, FLEXPATH_DTYPE_F64)
FLEXPATH_DTYPE_OF(std::complex<float>, FLEXPATH_DTYPE_C32)
FLEXPATH_DTYPE_OF(std::complex<double>, FLEXPATH_DTYPE_C64)
FLEXPATH_DTYPE_OF(bool, FLEXPATH_DTYPE_BOOL)
#undef FLEXPATH_DTYPE_OF

/* Elements that belong to somebody else. */
template <class T> class span {
public:
    span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    T *begin() const noexcept { return data_; }
    T *end() const noexcept { return data_ + size_; }
    T &operator[](std::size_t index) const noexcept { return data_[index]; }

private:
    T *data_;
    std::size_t size_;
};

/* A handle that is given back when it goes. */
template <class H, flexpath_status (*Release)(H *)> class handle {
public:
    handle() = default;
    explicit handle(H *raw) noexcept : raw_(raw) {}
    handle(handle &&other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    handle &operator=(handle &&other) noexcept {
        handle before(std::exchange(raw_, other.take()));
        return *this;
    }
    ~handle() {
        if (raw_) Release(raw_);
    }
    H *raw() const noexcept { return raw_; }
    H *take() noexcept { return std::exchange(raw_, nullptr); }

private:
    H *raw_ = nullptr;
};

/* Start and count of a region. */
struct region {
    std::vector<std::uint64_t> start, count;
};

namespace detail {

inline std::string shown(const std::vector<std::uint64_t> &numbers) {
    std::string text = "[";
    for (std::size_t index = 0; index < numbers.size(); index++)
        text += (index ? ", " : "") + std::to_string(numbers[index]);
    return text + "]";
}

/* How many elements extents make; the largest number where they make more than can be counted. */
inline std::size_t product(const std::vector<std::uint64_t> &extents) {
    std::size_t made = 1;
    bool is_too_many = false;
    for (const std::uint64_t extent : extents) {
        if (extent == 0) return 0;
        is_too_many = is_too_many || made > SIZE_MAX / extent;
        made *= static_cast<std::size_t>(extent);
    }
    return is_too_many ? SIZE_MAX : made;
}

/* Throws unless structs of that size stand for the records. */
inline void check_struct(const std::string &what, std::size_t given_bytes, std::size_t expected_bytes) {
    if (given_bytes == expected_bytes) return;
    throw error(FLEXPATH_STATUS_WRONG_LEN,
                what + ": structs of " + std::to_string(given_bytes) + " bytes are given, but those of the records have " +
                    std::to_string(expected_bytes) +
                    ": say how yours lie by schema.of_struct; records with lists or texts have no structs");
}

/* What a variable was made with: what a put of it must be, so that C reads nothing that was not given. */
class form {
public:
    form() = default;
    /* Extents: of a global array all, of a joined one those of a row, of others none. */
    form(std::string name, std::int32_t kind, std::uint32_t ndims, std::vector<std::uint64_t> extents = {})
        : name_(std::move(name)), kind_(kind), ndims_(ndims), extents_(std::move(extents)) {}
    /* Throws unless there is a number for each dimension. Where C does not read the start it may be left out. */
    void check_region(const char *what, const region &at) const {
        const bool is_placed = kind_ == FLEXPATH_KIND_GLOBAL_ARRAY;
        const bool is_rows = kind_ == FLEXPATH_KIND_JOINED_ARRAY && at.count.size() == 1;
        const std::size_t ndims = is_rows ? 1 : ndims_;
        if (at.count.size() != ndims || (at.start.size() != ndims && (is_placed || !at.start.empty())))
            refuse(FLEXPATH_STATUS_MISUSE, what,
                   "start has " + std::to_string(at.start.size()) + " and count " + std::to_string(at.count.size()) +
                       " numbers, but the variable has " + std::to_string(ndims_) +
                       " dimensions: give one of each for each dimension");
        if (kind_ == FLEXPATH_KIND_JOINED_ARRAY && !is_rows &&
            !std::equal(extents_.begin(), extents_.end(), at.count.begin() + 1))
            refuse(FLEXPATH_STATUS_MISUSE, what,
                   "count " + shown(at.count) + " does not go with rows of " + shown(extents_) +
                       ": give the number of rows, and the extents of a row after it or not at all");
    }
    /* How many elements a region has that was checked. */
    std::size_t len(const region &at) const {
        if (kind_ != FLEXPATH_KIND_JOINED_ARRAY || at.count.size() != 1) return product(at.count);
        std::vector<std::uint64_t> all = extents_;
        all.push_back(at.count[0]);
        return product(all);
    }
    /* Throws unless as many elements are given as the region has. */
    void check_len(const char *what, const region &at, std::size_t given) const {
        check_region(what, at);
        if (len(at) == given) return;
        refuse(FLEXPATH_STATUS_WRONG_LEN, what,
               "the block at " + shown(at.start) + " of extent " + shown(at.count) + " has " + std::to_string(len(at)) +
                   " elements, but " + std::to_string(given) + " are given: give as many as it has");
    }
    const std::string &name() const noexcept { return name_; }
    /* Throws unless it is one value. */
    void check_single(const char *what) const {
        if (ndims_ == 0) return;
        refuse(FLEXPATH_STATUS_MISUSE, what,
               "one value is given, but the variable has " + std::to_string(ndims_) +
                   " dimensions: give a region and its elements");
    }
private:
    [[noreturn]] void refuse(flexpath_status status, const char *what, const std::string &why) const {
        throw error(status, std::string(what) + " of variable \"" + name_ + "\": " + why);
    }
    std::string name_;
    std::int32_t kind_ = FLEXPATH_KIND_SCALAR;
    std::uint32_t ndims_ = 0;
    std::vector<std::uint64_t> extents_;
};

} // namespace detail

/* What one rank put of one variable. */
struct block {
    std::uint32_t rank, index;
    region where;
};

/* Something that happened on a stream: one of flexpath_event_kind, and in words. */
struct event {
    std::int32_t kind;
    std::optional<std::uint64_t> step;
    std::optional<std::uint32_t> rank;
    std::string text;
};

inline event event_of(const flexpath_event &told) {
    event made{told.kind, std::nullopt, std::nullopt, told.text};
    if (told.step != UINT64_MAX) made.step = told.step;
    if (told.rank != UINT32_MAX) made.rank = told.rank;
    return made;
}

/* What to take of a variable: everything, a region, or what words say, such as "[0:10, ::2]". Regions and texts must
 * outlive it. */
class selection {
public:
    selection() = default;
    selection(const region &at) : is_exact_(true), region_(&at) {
        exact_.kind = FLEXPATH_SELECTED_REGION;
        exact_.ndims = static_cast<std::uint32_t>(at.count.size());
        exact_.start = at.start.data();
        exact_.count = at.count.data();
    }
    selection(const flexpath_selection &exact) : is_exact_(true), exact_(exact) {}
    selection(const char *words) : words_(words) {}
    selection(const std::string &words) : words_(words.c_str()) {}
    static selection block(std::uint32_t rank, std::uint32_t index) {
        flexpath_selection exact{};
        exact.kind = FLEXPATH_SELECTED_BLOCK;
        exact.rank = rank;
        exact.block = index;
        return exact;
    }
    static selection rank(std::uint32_t rank) {
        flexpath_selection exact{};
        exact.kind = FLEXPATH_SELECTED_RANK;
        exact.rank = rank;
        return exact;
    }
    /* The same with elements that arrive column-major, whatever the publisher's order. Not of words. */
    selection column_major() const {
        selection turned = without_words();
        turned.is_exact_ = true;
        turned.exact_.order = FLEXPATH_ORDER_COLUMN_MAJOR;
        return turned;
    }
    /* The same with elements that may become another number type: get<float> takes what is published as double. */
    selection converted(flexpath_conversion how = FLEXPATH_CONVERSION_ANY) const {
        selection made = *this;
        made.is_exact_ = !words_;
        made.exact_.conversion = how;
        return made;
    }
    std::int32_t conversion() const noexcept { return exact_.conversion; }
    /* Throws if it is in words. */
    const selection &without_words() const {
        if (words_) throw error(FLEXPATH_STATUS_MISUSE, "a selection in words has no order and no gaps that are filled");
        return *this;
    }
    const char *words() const noexcept { return words_; }
    /* Throws if it is of a region that has not one start for each count. */
    const flexpath_selection *exact(const std::string &variable = {}) const {
        if (region_ && region_->start.size() != region_->count.size())
            throw error(FLEXPATH_STATUS_MISUSE,
                        "selection of variable \"" + variable + "\": start " + detail::shown(region_->start) + " has " +
                            std::to_string(region_->start.size()) + " numbers and count " +
                            detail::shown(region_->count) + " has " + std::to_string(region_->count.size()) +
                            ": give one of each for each dimension");
        return is_exact_ ? &exact_ : nullptr;
    }

private:
    const char *words_ = nullptr;
    bool is_exact_ = false;
    const region *region_ = nullptr;
    flexpath_selection exact_{};
};

class schema;
class transforms;

/* A set of options: see docs/c.md for the names. */
class options : public handle<flexpath_options, flexpath_options_free> {
public:
    options() : handle(make()) {}
    options &set(const std::string &name, const std::string &value) {
        check(flexpath_options_set(raw(), name.c_str(), value.c_str()));
        return *this;
    }
    options &cohort(std::uint32_t rank, std::uint32_t size) {
        check(flexpath_options_set_cohort(raw(), rank, size));
        return *this;
    }
    options &cohort_from_environment() {
        check(flexpath_options_set_cohort_from_environment(raw()));
        return *this;
    }
    /* What of a variable a subscriber will read in every step. Not in words: they need the shape, which is not known yet. */
    options &add_selection(const std::string &variable, const selection &selected) {
        if (selected.words())
            throw error(FLEXPATH_STATUS_MISUSE,
                        "standing selection of variable \"" + variable + "\": \"" + selected.words() +
                            "\" is in words, which need the shape of a step: give a region, a block or a rank");
        check(flexpath_options_add_selection(raw(), variable.c_str(), selected.exact(variable)));
        return *this;
    }
    /* What a subscriber has derived, as "vx, vy | magnitude", and on which side: one of flexpath_placement. */
    options &add_derivation(const std::string &name, const std::string &derivation,
                            std::int32_t placement = FLEXPATH_PLACEMENT_PUBLISHER) {
        check(flexpath_options_add_derivation(raw(), name.c_str(), derivation.c_str(), placement));
        return *this;
    }
    /* Lets subscribers ask for values of a parameter; `kind` is one of flexpath_parameter_kind. */
    options &add_parameter(const std::string &name, std::int32_t kind, double least = 0, double greatest = 0) {
        check(flexpath_options_add_parameter(raw(), name.c_str(), kind, least, greatest));
        return *this;
    }
    /* What a parameter is that was added before: its unit, and what it changes. */
    options &describe_parameter(const std::string &name, const std::string &description) {
        check(flexpath_options_describe_parameter(raw(), name.c_str(), description.c_str()));
        return *this;
    }
    /* Records that go through a transform of that name before a subscriber reads them, and on which side. */
    options &add_transformed(const std::string &name, const std::string &variable, const std::string &transform,
                             std::int32_t placement = FLEXPATH_PLACEMENT_PUBLISHER) {
        check(flexpath_options_add_transformed(raw(), name.c_str(), variable.c_str(), transform.c_str(), placement));
        return *this;
    }
    /* A WebAssembly module, for derivations that are added after it: "vx | module(name)". */
    options &add_module(const std::string &name, const std::vector<std::uint8_t> &module) {
        check(flexpath_options_add_module(raw(), name.c_str(), module.data(), module.size()));
        return *this;
    }
    /* A type that the stream must provide, by any variable unless one is named: opening fails otherwise. */
    options &add_type(const schema &wanted);
    options &add_type(const schema &wanted, const std::string &variable);
    /* By which a subscriber has records become other types, or which a publisher offers by name. */
    options &set_transforms(const transforms &by);

private:
    static flexpath_options *make() {
        flexpath_options *made = nullptr;
        check(flexpath_options_create(&made));
        return made;
    }
};

class publisher;

/* A variable of elements of type T. */
template <class T> class variable : public handle<flexpath_variable, flexpath_variable_free> {
public:
    static variable global(const std::string &name, const std::vector<std::uint64_t> &shape) {
        variable made;
        const auto ndims = static_cast<std::uint32_t>(shape.size());
        made.define(flexpath_variable_global, name, ndims, shape.data());
        made.form_ = {name, FLEXPATH_KIND_GLOBAL_ARRAY, ndims, shape};
        return made;
    }
    static variable joined(const std::string &name, const std::vector<std::uint64_t> &row = {}) {
        variable made;
        const auto ndims = static_cast<std::uint32_t>(row.size());
        made.define(flexpath_variable_joined, name, ndims, row.data());
        made.form_ = {name, FLEXPATH_KIND_JOINED_ARRAY, ndims + 1, row};
        return made;
    }
    static variable local(const std::string &name, std::uint32_t ndims) {
        variable made;
        made.define(flexpath_variable_local, name, ndims);
        made.form_ = {name, FLEXPATH_KIND_LOCAL_ARRAY, ndims};
        return made;
    }
    static variable scalar(const std::string &name) {
        variable made;
        made.define(flexpath_variable_scalar, name);
        made.form_ = {name, FLEXPATH_KIND_SCALAR, 0};
        return made;
    }
    variable &unit(const std::string &text) {
        check(flexpath_variable_set_unit(this->raw(), text.c_str()));
        return *this;
    }
    static variable local_scalar(const std::string &name) {
        variable made;
        made.define(flexpath_variable_local_scalar, name);
        made.form_ = {name, FLEXPATH_KIND_LOCAL_SCALAR, 0};
        return made;
    }
    variable &description(const std::string &text) {
        check(flexpath_variable_set_description(this->raw(), text.c_str()));
        return *this;
    }
    variable &dimensions(const std::vector<std::string> &names) {
        check(flexpath_variable_set_dimensions(this->raw(), pointers(names).data(), names.size()));
        return *this;
    }
    variable &attribute(const std::string &name, const char *value) {
        check(flexpath_variable_set_attribute_text(this->raw(), name.c_str(), value));
        return *this;
    }
    variable &attribute(const std::string &name, const std::string &value) {
        return attribute(name, pointer(value));
    }
    variable &attribute(const std::string &name, bool value) {
        check(flexpath_variable_set_attribute_bool(this->raw(), name.c_str(), value));
        return *this;
    }
    variable &attribute(const std::string &name, double value) {
        check(flexpath_variable_set_attribute_real(this->raw(), name.c_str(), value));
        return *this;
    }
    variable &attribute(const std::string &name, std::int64_t value) {
        check(flexpath_variable_set_attribute_integer(this->raw(), name.c_str(), value));
        return *this;
    }
    variable &attribute(const std::string &name, int value) { return attribute(name, std::int64_t{value}); }
    variable &attribute(const std::string &name, std::uint64_t value) {
        check(flexpath_variable_set_attribute_unsigned(this->raw(), name.c_str(), value));
        return *this;
    }
    variable &attribute(const std::string &name, const std::vector<double> &values) {
        check(flexpath_variable_set_attribute_reals(this->raw(), name.c_str(), values.data(), values.size()));
        return *this;
    }
    variable &attribute(const std::string &name, const std::vector<std::int64_t> &values) {
        check(flexpath_variable_set_attribute_integers(this->raw(), name.c_str(), values.data(), values.size()));
        return *this;
    }
    variable &attribute(const std::string &name, const std::vector<std::uint8_t> &bytes) {
        check(flexpath_variable_set_attribute_bytes(this->raw(), name.c_str(), bytes.data(), bytes.size()));
        return *this;
    }
    variable &attribute(const std::string &name, const std::vector<std::string> &texts) {
        check(flexpath_variable_set_attribute_texts(this->raw(), name.c_str(), pointers(texts).data(), texts.size()));
        return *this;
    }
    variable &column_major() {
        check(flexpath_variable_set_order(this->raw(), FLEXPATH_ORDER_COLUMN_MAJOR));
        return *this;
    }

private:
    friend class publisher;
    detail::form form_;
    template <class Make, class... Rest> void define(Make make, const std::string &name, Rest... rest) {
        flexpath_variable *made = nullptr;
        check(make(name.c_str(), dtype_of<T>::value, rest..., &made));
        static_cast<handle &>(*this) = handle(made);
    }
};

/* A scalar that is a text. */
class text_variable : public handle<flexpath_variable, flexpath_variable_free> {
public:
    explicit text_variable(const std::string &name) : handle(make(name)) {}

private:
    static flexpath_variable *make(const std::string &name) {
        flexpath_variable *made = nullptr;
        check(flexpath_variable_scalar(name.c_str(), FLEXPATH_DTYPE_STRING, &made));
        return made;
    }
};

/* A record type: fields in their order in memory. What is said of a field is of the one that was added last. */
class schema : public handle<flexpath_schema, flexpath_schema_free> {
public:
    explicit schema(const std::string &name) : handle(make(name)) {}
    explicit schema(flexpath_schema *raw) noexcept : handle(raw) {}
    /* A number or truth value. */
    template <class T> schema &field(const std::string &name) { return field(name, dtype_of<T>::value); }
    schema &field(const std::string &name, std::int32_t dtype) {
        check(flexpath_schema_add_field(raw(), name.c_str(), dtype));
        return added(name);
    }
    schema &text(const std::string &name) { return field(name, FLEXPATH_DTYPE_STRING); }
    schema &bytes(const std::string &name) { return field(name, FLEXPATH_DTYPE_BYTES); }
    schema &record(const std::string &name, const schema &nested) {
        check(flexpath_schema_add_record(raw(), name.c_str(), nested.raw()));
        return added(name);
    }
    /* One of several names, which travels as an integer of type T. */
    template <class T>
    schema &names(const std::string &name, const std::string &type,
                  const std::vector<std::pair<std::string, std::int64_t>> &all) {
        std::vector<const char *> texts;
        std::vector<std::int64_t> numbers;
        for (const auto &one : all) {
            texts.push_back(one.first.c_str());
            numbers.push_back(one.second);
        }
        check(flexpath_schema_add_enum(raw(), name.c_str(), dtype_of<T>::value, type.c_str(), texts.data(), numbers.data(),
                                       texts.size()));
        return added(name);
    }
    /* An array within the record. */
    schema &fixed(const std::vector<std::uint64_t> &shape, std::int32_t order = FLEXPATH_ORDER_ROW_MAJOR) {
        check(flexpath_schema_set_fixed(raw(), last_.c_str(), static_cast<std::uint32_t>(shape.size()), shape.data(), order));
        return *this;
    }
    /* A list, of as many elements as the earlier field `length` says, if one is named. */
    schema &list() {
        check(flexpath_schema_set_list(raw(), last_.c_str(), nullptr));
        return *this;
    }
    schema &sized_by(const std::string &length) {
        check(flexpath_schema_set_list(raw(), last_.c_str(), length.c_str()));
        return *this;
    }
    schema &optional() {
        check(flexpath_schema_set_optional(raw(), last_.c_str()));
        return *this;
    }
    /* What stands for it where there is none. */
    template <class T> schema &otherwise(const T &value) {
        static_assert(std::is_arithmetic<T>::value, "a number, a truth value or a text");
        if constexpr (std::is_same<T, bool>::value) check(flexpath_schema_set_default_bool(raw(), last_.c_str(), value));
        else if constexpr (std::is_integral<T>::value)
            check(flexpath_schema_set_default_integer(raw(), last_.c_str(), static_cast<std::int64_t>(value)));
        else check(flexpath_schema_set_default_real(raw(), last_.c_str(), static_cast<double>(value)));
        return *this;
    }
    schema &otherwise(const std::string &value) { return otherwise(pointer(value)); }
    schema &otherwise(const char *value) {
        check(flexpath_schema_set_default_text(raw(), last_.c_str(), value));
        return *this;
    }
    schema &unit(const std::string &text) {
        check(flexpath_schema_set_unit(raw(), last_.c_str(), text.c_str()));
        return *this;
    }
    /* Of the record, before there is a field. */
    schema &description(const std::string &text) {
        check(flexpath_schema_set_description(raw(), last_.empty() ? nullptr : last_.c_str(), text.c_str()));
        return *this;
    }
    schema &indexes(const std::string &target) {
        check(flexpath_schema_set_indexes(raw(), last_.c_str(), target.c_str()));
        return *this;
    }
    /* The struct that stands for it: where each field starts (offsetof). Unless said it lies as the record does. */
    template <class S> schema &of_struct(const std::vector<std::size_t> &offsets) {
        static_assert(std::is_trivially_copyable<S>::value && std::is_standard_layout<S>::value, "a plain struct");
        check(flexpath_schema_set_struct(raw(), offsets.data(), offsets.size(), sizeof(S)));
        struct_bytes_ = sizeof(S);
        return *this;
    }
    /* The size of the struct that stands for it. */
    std::size_t struct_bytes() const { return struct_bytes_ ? struct_bytes_ : size_bytes(); }
    std::string fingerprint() const { return told(flexpath_schema_fingerprint); }
    std::string to_string() const { return told(flexpath_schema_text); }
    /* What this, which there is, differs in from what is wanted: a line for each. */
    std::string differences(const schema &wanted) const {
        const char *text = nullptr;
        check(flexpath_schema_differences(raw(), wanted.raw(), &text));
        return text;
    }
    std::size_t size_bytes() const {
        std::uint64_t size = 0;
        check(flexpath_schema_size(raw(), &size));
        return size;
    }
    /* Its fields; their texts are the schema's. */
    std::vector<flexpath_field> fields() const {
        std::uint64_t count = 0;
        check(flexpath_schema_field_count(raw(), &count));
        std::vector<flexpath_field> all(count);
        for (std::uint64_t index = 0; index < count; index++) check(flexpath_schema_field_at(raw(), index, &all[index]));
        return all;
    }
    /* The type of a field that is a record. */
    schema record_of(const std::string &field) const {
        flexpath_schema *made = nullptr;
        check(flexpath_schema_record_of(raw(), field.c_str(), &made));
        return schema(made);
    }

private:
    schema &added(const std::string &name) {
        last_ = name;
        return *this;
    }
    std::string told(flexpath_status (*tell)(const flexpath_schema *, const char **)) const {
        const char *text = nullptr;
        check(tell(raw(), &text));
        return text;
    }
    static flexpath_schema *make(const std::string &name) {
        flexpath_schema *made = nullptr;
        check(flexpath_schema_create(name.c_str(), &made));
        return made;
    }
    std::string last_;
    std::size_t struct_bytes_ = 0;
};

/* A variable of records. */
class record_variable : public handle<flexpath_variable, flexpath_variable_free> {
public:
    static record_variable global(const std::string &name, const schema &of, const std::vector<std::uint64_t> &shape) {
        const auto ndims = static_cast<std::uint32_t>(shape.size());
        return define(flexpath_variable_global_records, {name, FLEXPATH_KIND_GLOBAL_ARRAY, ndims, shape}, name, of, ndims,
                      shape.data());
    }
    static record_variable joined(const std::string &name, const schema &of, const std::vector<std::uint64_t> &row = {}) {
        const auto ndims = static_cast<std::uint32_t>(row.size());
        return define(flexpath_variable_joined_records, {name, FLEXPATH_KIND_JOINED_ARRAY, ndims + 1, row}, name, of, ndims,
                      row.data());
    }
    static record_variable local(const std::string &name, const schema &of, std::uint32_t ndims) {
        return define(flexpath_variable_local_records, {name, FLEXPATH_KIND_LOCAL_ARRAY, ndims}, name, of, ndims);
    }
    static record_variable scalar(const std::string &name, const schema &of) {
        return define(flexpath_variable_record, {name, FLEXPATH_KIND_SCALAR, 0}, name, of);
    }
    static record_variable local_scalar(const std::string &name, const schema &of) {
        return define(flexpath_variable_local_record, {name, FLEXPATH_KIND_LOCAL_SCALAR, 0}, name, of);
    }

private:
    using handle::handle;
    template <class Make, class... Rest>
    static record_variable define(Make make, detail::form form, const std::string &name, const schema &of, Rest... rest) {
        flexpath_variable *made = nullptr;
        check(make(name.c_str(), of.raw(), rest..., &made));
        record_variable defined(made);
        defined.form_ = std::move(form);
        defined.struct_bytes_ = of.struct_bytes();
        return defined;
    }
    friend class publisher;
    detail::form form_;
    std::size_t struct_bytes_ = 0;
};

/* Records with lists, texts or absent fields, made field by field: what is not set is 0, empty or absent. Paths are names
 * of fields, as "cell.corner[3].x". */
class builder : public handle<flexpath_builder, flexpath_builder_free> {
public:
    builder(const schema &of, std::uint64_t count) : handle(make(of, count)), struct_bytes_(of.struct_bytes()) {}
    /* Takes a handle over. The size of its structs is not checked unless it is told. */
    explicit builder(flexpath_builder *raw, std::size_t struct_bytes = 0) noexcept
        : handle(raw), struct_bytes_(struct_bytes) {}
    /* So many records, of which nothing is set. */
    builder &resize(std::uint64_t count) {
        check(flexpath_builder_resize(raw(), count));
        return *this;
    }
    /* Structs, as the schema says that they lie, in place of what was set. */
    template <class S> builder &set_structs(const std::vector<S> &structs) {
        static_assert(std::is_trivially_copyable<S>::value, "a plain struct");
        if (struct_bytes_) detail::check_struct("set_structs of a builder", sizeof(S), struct_bytes_);
        check(flexpath_builder_set_structs(raw(), structs.data(), structs.size()));
        return *this;
    }
    template <class T> builder &set(std::uint64_t index, const std::string &path, const T &value) {
        check(flexpath_builder_set(raw(), index, path.c_str(), dtype_of<T>::value, &value, 1));
        return *this;
    }
    template <class T> builder &set(std::uint64_t index, const std::string &path, const std::vector<T> &values) {
        static_assert(!std::is_same<T, bool>::value, "a vector of bool is no array");
        check(flexpath_builder_set(raw(), index, path.c_str(), dtype_of<T>::value, values.data(), values.size()));
        return *this;
    }
    builder &set(std::uint64_t index, const std::string &path, const std::string &text) {
        return set(index, path, pointer(text));
    }
    builder &set(std::uint64_t index, const std::string &path, const char *text) {
        check(flexpath_builder_set_text(raw(), index, path.c_str(), text));
        return *this;
    }
    builder &set(std::uint64_t index, const std::string &path, const std::vector<std::string> &texts) {
        check(flexpath_builder_set_texts(raw(), index, path.c_str(), pointers(texts).data(), texts.size()));
        return *this;
    }
    /* How many records a list of records has. */
    builder &set_len(std::uint64_t index, const std::string &path, std::uint64_t len) {
        check(flexpath_builder_set_len(raw(), index, path.c_str(), len));
        return *this;
    }

private:
    static flexpath_builder *make(const schema &of, std::uint64_t count) {
        flexpath_builder *made = nullptr;
        check(flexpath_builder_create(of.raw(), count, &made));
        return made;
    }
    std::size_t struct_bytes_;
};

/* Records of a step, of whatever type, held until they go. */
class records : public handle<flexpath_records, flexpath_records_release> {
public:
    using handle::handle;
    std::uint64_t size() const {
        std::uint64_t count = 0;
        check(flexpath_records_count(raw(), &count));
        return count;
    }
    schema type() const {
        flexpath_schema *made = nullptr;
        check(flexpath_records_schema(raw(), &made));
        return schema(made);
    }
    flexpath_value describe(std::uint64_t index, const std::string &path) const {
        flexpath_value value;
        check(flexpath_records_describe(raw(), index, path.c_str(), &value));
        return value;
    }
    /* Whether there is a value, or a default for it. */
    bool has(std::uint64_t index, const std::string &path) const {
        return describe(index, path).kind != FLEXPATH_VALUE_KIND_ABSENT;
    }
    template <class T> T get(std::uint64_t index, const std::string &path) const {
        T value{};
        check(flexpath_records_get(raw(), index, 1, path.c_str(), dtype_of<T>::value, &value, 1));
        return value;
    }
    /* All elements of an array or list. */
    template <class T> std::vector<T> get_all(std::uint64_t index, const std::string &path) const {
        static_assert(!std::is_same<T, bool>::value, "a vector of bool is no array");
        std::vector<T> values(describe(index, path).count);
        check(flexpath_records_get(raw(), index, 1, path.c_str(), dtype_of<T>::value, values.data(), values.size()));
        return values;
    }
    /* What a field is in all records, one after another. */
    template <class T> std::vector<T> column(const std::string &path) const {
        static_assert(!std::is_same<T, bool>::value, "a vector of bool is no array");
        const std::uint64_t count = size();
        std::uint64_t len = 0;
        for (std::uint64_t index = 0; index < count; index++) len += describe(index, path).count;
        std::vector<T> values(len);
        check(flexpath_records_get(raw(), 0, count, path.c_str(), dtype_of<T>::value, values.data(), len));
        return values;
    }
    std::string text(std::uint64_t index, const std::string &path) const {
        const char *value = nullptr;
        check(flexpath_records_text(raw(), index, path.c_str(), &value));
        return value;
    }
    /* The structs that they were asked for as, where they lie. */
    template <class S> span<const S> elements() const {
        static_assert(std::is_trivially_copyable<S>::value, "a plain struct");
        if (type().size_bytes() != sizeof(S)) throw error(FLEXPATH_STATUS_WRONG_LEN, "a struct of another size");
        const void *first = nullptr;
        check(flexpath_records_elements(raw(), &first, nullptr));
        return span<const S>(static_cast<const S *>(first), size());
    }
};

/* Transforms of this process, from records of one type to records of another. */
class transforms : public handle<flexpath_transforms, flexpath_transforms_free> {
public:
    /* No call of one may take longer. */
    explicit transforms(std::chrono::milliseconds timeout = std::chrono::seconds(10)) : handle(make(timeout)) {}
    /* Calls function(const records &given, builder &made) on threads of Flexpath, on several at one time; it resizes what is
     * made, or sets structs. What it throws fails the get. One by one: each record is made of the one in its place. */
    template <class F>
    transforms &add(const std::string &name, const schema &from, const schema &to, F function, bool is_one_by_one = false) {
        auto release = [](void *context) { delete static_cast<called<F> *>(context); };
        const auto how = is_one_by_one ? flexpath_transforms_add_each : flexpath_transforms_add;
        auto *kept = new called<F>{std::move(function), to.struct_bytes()};
        check(how(raw(), name.c_str(), from.raw(), to.raw(), run<F>, release, kept));
        return *this;
    }
    /* Adds a function over plain arrays, for derivations that call it: "x, y | call(name)". It is called with the arrays
     * of type A, as std::vector<span<const A>>, and a span<B> that it fills: as long as they are, or made_count. */
    template <class A, class B, class F>
    transforms &add_function(const std::string &name, F function, std::uint64_t made_count = 0) {
        auto release = [](void *context) { delete static_cast<F *>(context); };
        check(flexpath_transforms_add_function(raw(), name.c_str(), dtype_of<A>::value, dtype_of<B>::value, made_count,
                                               call<A, B, F>, release, new F(std::move(function))));
        return *this;
    }
    /* What one that was added gives of blocks, one after the other, is what it gives of all: it can be asked for by name. */
    transforms &per_block(const std::string &name) {
        check(flexpath_transforms_set_per_block(raw(), name.c_str()));
        return *this;
    }
    /* It is asked for by name alone: several may lead from one type to another. */
    transforms &by_name_only(const std::string &name) {
        check(flexpath_transforms_set_by_name_only(raw(), name.c_str()));
        return *this;
    }
    /* On which side it runs, one of flexpath_placement: a publisher runs none of FLEXPATH_PLACEMENT_SUBSCRIBER. */
    transforms &placement(const std::string &name, std::int32_t placement) {
        check(flexpath_transforms_set_placement(raw(), name.c_str(), placement));
        return *this;
    }
    /* What it is expected to cost, until it was measured. */
    transforms &cost(const std::string &name, double nanos_per_byte, double output_ratio) {
        check(flexpath_transforms_set_cost(raw(), name.c_str(), nanos_per_byte, output_ratio));
        return *this;
    }
    /* How long each of its calls may take. */
    transforms &timeout(const std::string &name, std::chrono::milliseconds timeout) {
        check(flexpath_transforms_set_timeout(raw(), name.c_str(), wait_ms(timeout)));
        return *this;
    }

private:
    template <class A, class B, class F>
    static std::int32_t call(void *context, const void *const *inputs, std::uint64_t input_count, std::uint64_t count,
                             void *made, std::uint64_t made_count) noexcept {
        try {
            std::vector<span<const A>> given;
            for (std::uint64_t index = 0; index < input_count; index++)
                given.emplace_back(static_cast<const A *>(inputs[index]), count);
            (*static_cast<F *>(context))(given, span<B>(static_cast<B *>(made), made_count));
            return 0;
        } catch (...) {
            return 1;
        }
    }
    /* A function, and the size of the structs that it makes. */
    template <class F> struct called {
        F function;
        std::size_t struct_bytes;
    };
    template <class F>
    static std::int32_t run(void *context, const flexpath_records *given, flexpath_builder *made) noexcept {
        called<F> &kept = *static_cast<called<F> *>(context);
        records taken(const_cast<flexpath_records *>(given));
        builder filled(made, kept.struct_bytes);
        std::int32_t failed = 0;
        try {
            kept.function(static_cast<const records &>(taken), filled);
        } catch (...) {
            failed = 1;
        }
        taken.take();
        filled.take();
        return failed;
    }
    static flexpath_transforms *make(std::chrono::milliseconds timeout) {
        flexpath_transforms *made = nullptr;
        check(flexpath_transforms_create(wait_ms(timeout), &made));
        return made;
    }
};

inline options &options::set_transforms(const transforms &by) {
    check(flexpath_options_set_transforms(raw(), by.raw()));
    return *this;
}

inline options &options::add_type(const schema &wanted) {
    check(flexpath_options_add_type(raw(), nullptr, wanted.raw()));
    return *this;
}

inline options &options::add_type(const schema &wanted, const std::string &variable) {
    check(flexpath_options_add_type(raw(), variable.c_str(), wanted.raw()));
    return *this;
}

/* A stream that was asked for a type: the variable that provides it best, and what that differs in. Where none provides
 * it `variable` is empty, and `differences` says why. */
struct found_stream {
    std::string stream, contact, variable, differences;
    std::uint32_t variable_count;
    bool is_converted;
};

/* The streams that provide records of a type, the best first; the rest follow, with the reason. Looks at all streams of
 * the rendezvous for at most `timeout`. */
inline std::vector<found_stream> find(const schema &wanted, std::chrono::milliseconds timeout, const options &chosen = {}) {
    std::uint64_t count = 0;
    std::vector<flexpath_found> told(4096);
    check(flexpath_subscriber_find(chosen.raw(), wanted.raw(), wait_ms(timeout), told.data(), told.size(), &count));
    std::vector<found_stream> all;
    for (std::uint64_t index = 0; index < count && index < told.size(); index++) {
        const flexpath_found &one = told[index];
        all.push_back({one.stream, one.contact, one.variable, one.differences, one.variable_count, one.is_converted != 0});
    }
    return all;
}

/* Bounds the live steps of all streams that this process publishes together. */
inline void limit_process_bytes(std::uint64_t limit_bytes) { check(flexpath_limit_process_bytes(limit_bytes)); }

/* A variable that provides a type, and what its own differs in, or the transforms that lead there. */
struct provided {
    std::string variable, differences;
    bool is_converted;
};

/* Memory that Flexpath lends, to be filled and put without a copy; given back if it is not put. */
template <class T> class loan : public handle<flexpath_loan, flexpath_loan_free> {
public:
    loan(flexpath_loan *raw, T *elements, std::size_t size) noexcept : handle(raw), elements_(elements, size) {}
    span<T> elements() const noexcept { return elements_; }

private:
    span<T> elements_;
};

/* The sending side. */
class publisher : public handle<flexpath_publisher, flexpath_publisher_close> {
public:
    explicit publisher(const std::string &stream) : publisher(stream, nullptr) {}
    publisher(const std::string &stream, const options &chosen) : publisher(stream, chosen.raw()) {}

    std::uint64_t begin_step() {
        std::uint64_t step = 0;
        check(flexpath_publisher_begin_step(raw(), &step));
        return step;
    }
    /* Copies. `elements` are as many as the region has: that many are read. */
    template <class T> void put(const variable<T> &of, const region &at, const T *elements) {
        check_region("put", of, at);
        check(flexpath_publisher_put(raw(), of.raw(), at.start.data(), at.count.data(), elements));
    }
    /* Copies, and throws unless the vector has as many elements as the region. */
    template <class T> void put(const variable<T> &of, const region &at, const std::vector<T> &elements) {
        static_assert(!std::is_same<T, bool>::value, "a vector of bool is no array");
        check_len("put", of, at, elements.size());
        put(of, at, elements.data());
    }
    template <class T> void put(const variable<T> &of, const T &value) {
        if (of.raw()) of.form_.check_single("put");
        check(flexpath_publisher_put(raw(), of.raw(), nullptr, nullptr, &value));
    }
    void put(const text_variable &of, const std::string &text) {
        check(flexpath_publisher_put_text(raw(), of.raw(), pointer(text)));
    }
    /* Copies structs, as many as the region has; they lie as the variable's schema says. */
    template <class S> void put(const record_variable &of, const region &at, const S *structs) {
        static_assert(std::is_trivially_copyable<S>::value, "a plain struct");
        check_region("put", of, at);
        check_struct<S>(of);
        check(flexpath_publisher_put(raw(), of.raw(), at.start.data(), at.count.data(), structs));
    }
    /* Copies structs, and throws unless there are as many as the region has. */
    template <class S> void put(const record_variable &of, const region &at, const std::vector<S> &structs) {
        static_assert(!std::is_same<S, bool>::value, "a vector of bool is no array");
        check_len("put", of, at, structs.size());
        put(of, at, structs.data());
    }
    template <class S> void put(const record_variable &of, const S &record) {
        static_assert(std::is_trivially_copyable<S>::value, "a plain struct");
        if (of.raw()) of.form_.check_single("put");
        check_struct<S>(of);
        check(flexpath_publisher_put(raw(), of.raw(), nullptr, nullptr, &record));
    }
    void put(const record_variable &of, const region &at, const builder &made) {
        check_region("put", of, at);
        check(flexpath_publisher_put_built(raw(), of.raw(), at.start.data(), at.count.data(), made.raw()));
    }
    void put(const record_variable &of, const builder &made) {
        if (of.raw()) of.form_.check_single("put");
        check(flexpath_publisher_put_built(raw(), of.raw(), nullptr, nullptr, made.raw()));
    }
    /* Takes no copy: the elements, as many as the region has, stay as they are until release(context), which may come
     * from another thread. It comes also where this throws. */
    template <class T>
    void put_external(const variable<T> &of, const region &at, const T *elements, void (*release)(void *), void *context) {
        try {
            check_region("put_external", of, at);
        } catch (...) {
            if (release) release(context);
            throw;
        }
        check(flexpath_publisher_put_external(raw(), of.raw(), at.start.data(), at.count.data(), elements, release, context));
    }
    /* Takes no copy either, and keeps the vector as long as it is needed. Throws, and leaves the vector as it is, unless
     * that has as many elements as the region. */
    template <class T> void put(const variable<T> &of, const region &at, std::vector<T> &&elements) {
        static_assert(!std::is_same<T, bool>::value, "a vector of bool is no array");
        check_len("put", of, at, elements.size());
        auto *kept = new std::vector<T>(std::move(elements));
        put_external(of, at, static_cast<const T *>(kept->data()),
                     [](void *context) { delete static_cast<std::vector<T> *>(context); }, kept);
    }
    template <class T> flexpath::loan<T> loan(const variable<T> &of, const region &at) {
        flexpath_loan *lent = nullptr;
        void *memory = nullptr;
        check_region("loan", of, at);
        check(flexpath_publisher_loan(raw(), of.raw(), at.start.data(), at.count.data(), &lent, &memory));
        return flexpath::loan<T>(lent, static_cast<T *>(memory), of.form_.len(at));
    }
    template <class T> void put(flexpath::loan<T> &&filled) {
        check(flexpath_publisher_put_loan(raw(), filled.take()));
    }
    /* Ending the step fails without these. */
    void promise(const std::vector<std::string> &variables) {
        check(flexpath_publisher_promise(raw(), pointers(variables).data(), variables.size()));
    }
    bool is_wanted(const std::string &variable) const {
        std::int32_t wanted = 0;
        check(flexpath_publisher_is_wanted(raw(), variable.c_str(), &wanted));
        return wanted != 0;
    }
    /* What is asked of the simulation at the step that is open; the texts are the step's. */
    std::vector<flexpath_request> requests() const {
        std::uint64_t count = 0;
        check(flexpath_publisher_request_count(raw(), &count));
        std::vector<flexpath_request> all(count);
        for (std::uint64_t index = 0; index < count; index++)
            check(flexpath_publisher_request_at(raw(), index, &all[index]));
        return all;
    }
    /* Whether somebody asks for that at the step that is open, whatever the value. */
    bool is_asked(const std::string &parameter) const {
        std::int32_t asked = 0;
        check(flexpath_publisher_is_asked(raw(), parameter.c_str(), &asked));
        return asked != 0;
    }
    /* Does not take the request at that index of requests(), and says why. */
    void decline(std::uint64_t index, const std::string &reason) {
        check(flexpath_publisher_decline(raw(), index, reason.c_str()));
    }
    void end_step() { check(flexpath_publisher_end_step(raw())); }
    void abandon_step() { check(flexpath_publisher_abandon_step(raw())); }
    bool has_subscribers() const {
        std::int32_t present = 0;
        check(flexpath_publisher_has_subscribers(raw(), &present));
        return present != 0;
    }
    /* Waits until there are `count` subscriptions, and says how many there are. */
    std::uint32_t wait_for_subscribers(std::uint32_t count, std::chrono::milliseconds timeout) const {
        std::uint32_t present = 0;
        check(flexpath_publisher_wait_for_subscribers(raw(), count, wait_ms(timeout), &present));
        return present;
    }
    /* The next event; none if none came in time. Holds up no other call. */
    std::optional<event> next_event(std::chrono::milliseconds timeout) const {
        flexpath_event told;
        if (check(flexpath_publisher_next_event(raw(), wait_ms(timeout), &told)) != FLEXPATH_STATUS_OK) return std::nullopt;
        return event_of(told);
    }
    /* A descriptor for poll(2): readable as long as next_event would return at once. Not to be read or closed. */
    int event_descriptor() const {
        std::int32_t descriptor = -1;
        check(flexpath_publisher_event_descriptor(raw(), &descriptor));
        return descriptor;
    }
    std::uint64_t statistic(const std::string &name) const {
        std::uint64_t value = 0;
        check(flexpath_publisher_statistic(raw(), name.c_str(), &value));
        return value;
    }
    std::string contact() const { return told(flexpath_publisher_contact); }
    std::string epoch() const { return told(flexpath_publisher_epoch); }
    std::string transports() const { return told(flexpath_publisher_transports); }
    /* Waits until every subscription that drops nothing has released all steps that this rank has ended; throws when the
       time is up, and says who holds what. */
    void sync(std::chrono::milliseconds timeout) const { check(flexpath_publisher_sync(raw(), wait_ms(timeout))); }
    /* Closes, and says how that went; the destructor closes in silence. */
    void close() { check(flexpath_publisher_close(take())); }

private:
    /* A variable that was moved from is C's to refuse. */
    template <class V> static void check_region(const char *what, const V &of, const region &at) {
        if (of.raw()) of.form_.check_region(what, at);
    }
    template <class V> static void check_len(const char *what, const V &of, const region &at, std::size_t given) {
        if (of.raw()) of.form_.check_len(what, at, given);
    }
    template <class S> static void check_struct(const record_variable &of) {
        if (of.raw()) detail::check_struct("put of variable \"" + of.form_.name() + "\"", sizeof(S), of.struct_bytes_);
    }
    std::string told(flexpath_status (*tell)(flexpath_publisher *, const char **)) const {
        const char *text = nullptr;
        check(tell(raw(), &text));
        return text;
    }
    publisher(const std::string &stream, const flexpath_options *chosen) {
        flexpath_publisher *opened = nullptr;
        check(flexpath_publisher_open(stream.c_str(), chosen, &opened));
        static_cast<handle &>(*this) = handle(opened);
    }
};

/* Elements of a step, held until the view goes. */
template <class T> class view : public handle<flexpath_view, flexpath_view_release> {
public:
    view(flexpath_view *raw, const T *elements, std::size_t size) noexcept
        : handle(raw), elements_(elements, size) {}
    span<const T> elements() const noexcept { return elements_; }
    bool is_zero_copy() const {
        std::int32_t is = 0;
        check(flexpath_view_is_zero_copy(raw(), &is));
        return is != 0;
    }

private:
    span<const T> elements_;
};

/* A step, held until it goes. */
class step : public handle<flexpath_step, flexpath_step_release> {
public:
    using handle::handle;
    /* It is done: no member of a work-sharing set gets it again. */
    void done() {
        check(flexpath_step_done(raw()));
        take();
    }
    /* A member of its work-sharing set gets it again. */
    void give_back() {
        check(flexpath_step_give_back(raw()));
        take();
    }
    flexpath_step_info info() const {
        flexpath_step_info told;
        check(flexpath_step_describe(raw(), &told));
        return told;
    }
    std::vector<flexpath_variable_info> variables() const {
        std::uint64_t count = 0;
        check(flexpath_step_variable_count(raw(), &count));
        std::vector<flexpath_variable_info> all(count);
        for (std::uint64_t index = 0; index < count; index++)
            check(flexpath_step_variable_at(raw(), index, &all[index]));
        return all;
    }
    flexpath_variable_info variable(const std::string &name) const {
        flexpath_variable_info info;
        check(flexpath_step_variable(raw(), name.c_str(), &info));
        return info;
    }
    std::string dimension(const std::string &variable, std::uint32_t index) const {
        const char *name = nullptr;
        check(flexpath_step_dimension(raw(), variable.c_str(), index, &name));
        return name;
    }
    /* The attributes of a variable; their memory is the step's. */
    std::vector<flexpath_attribute> attributes(const std::string &variable) const {
        std::uint64_t count = 0;
        check(flexpath_step_attribute_count(raw(), variable.c_str(), &count));
        std::vector<flexpath_attribute> all(count);
        for (std::uint64_t index = 0; index < count; index++)
            check(flexpath_step_attribute_at(raw(), variable.c_str(), index, &all[index]));
        return all;
    }
    flexpath_attribute attribute(const std::string &variable, const std::string &name) const {
        flexpath_attribute found;
        check(flexpath_step_attribute(raw(), variable.c_str(), name.c_str(), &found));
        return found;
    }
    /* The numbers that the subscription's Condition looked at; their texts are the step's. */
    std::vector<flexpath_measured> measured() const {
        std::uint64_t count = 0;
        check(flexpath_step_measured_count(raw(), &count));
        std::vector<flexpath_measured> all(count);
        for (std::uint64_t index = 0; index < count; index++)
            check(flexpath_step_measured_at(raw(), index, &all[index]));
        return all;
    }
    /* When the publisher decided the step, by the clock of its rank 0; 1970 without a Condition. */
    std::chrono::system_clock::time_point decided_at() const {
        std::uint64_t micros = 0;
        check(flexpath_step_decided_at(raw(), &micros));
        /* In the year 2255 at the latest: a clock may say what no calendar has. */
        const auto since = std::chrono::microseconds(std::min<std::uint64_t>(micros, std::uint64_t(1) << 53));
        return std::chrono::system_clock::time_point(since);
    }
    /* Why the Condition could not be judged in this step; empty if it was. */
    std::string unjudged() const {
        const char *reason = nullptr;
        check(flexpath_step_unjudged(raw(), &reason));
        return reason;
    }
    std::vector<block> blocks(const std::string &variable) const {
        std::uint64_t count = 0;
        check(flexpath_step_blocks(raw(), variable.c_str(), nullptr, 0, &count));
        std::vector<flexpath_block> told(count);
        check(flexpath_step_blocks(raw(), variable.c_str(), told.data(), count, &count));
        std::vector<block> all;
        for (const flexpath_block &one : told)
            all.push_back({one.rank, one.block, {{one.start, one.start + one.ndims}, {one.count, one.count + one.ndims}}});
        return all;
    }
    /* The shape of the array that get gives. */
    std::vector<std::uint64_t> shape(const std::string &variable, const selection &selected = {}) const {
        std::uint32_t ndims = 0;
        std::uint64_t extents[8];
        if (selected.words())
            check(flexpath_step_selected_shape_by_text(raw(), variable.c_str(), selected.words(), &ndims, extents));
        else
            check(flexpath_step_selected_shape(raw(), variable.c_str(), selected.exact(variable), &ndims, extents));
        return {extents, extents + ndims};
    }
    /* What is selected, densely, row-major unless the selection says otherwise. T is the variable's type, unless the
     * selection is converted(). */
    template <class T> std::vector<T> get(const std::string &name, const selection &selected = {}) const {
        static_assert(!std::is_same<T, bool>::value, "a vector of bool is no array: use get_into");
        std::vector<T> elements(len(name, selected));
        get_into(name, selected, elements.data(), elements.size());
        return elements;
    }
    template <class T> std::vector<T> get(const std::string &name, const region &at) const {
        return get<T>(name, selection(at));
    }
    /* Into memory of the caller's, of `len` elements. Below 0: as long as FetchTimeoutSecs. */
    template <class T>
    void get_into(const std::string &name, const selection &selected, T *destination, std::size_t len,
                  std::chrono::milliseconds timeout = std::chrono::milliseconds(-1)) const {
        if (selected.words())
            check(flexpath_step_get_converted_by_text(raw(), name.c_str(), selected.words(), selected.conversion(),
                                                      dtype_of<T>::value, destination, len, timeout.count()));
        else
            check(flexpath_step_get(raw(), name.c_str(), selected.exact(name), dtype_of<T>::value, destination, len,
                                    timeout.count()));
    }
    /* With `fill` where no rank put an element. Selections in words have no gaps filled. */
    template <class T>
    std::vector<T> get_or_fill(const std::string &name, const T &fill, const region &at) const {
        return get_or_fill(name, fill, selection(at));
    }
    template <class T>
    std::vector<T> get_or_fill(const std::string &name, const T &fill, const selection &selected) const {
        std::vector<T> elements(len(name, selected.without_words()));
        flexpath_get get{};
        get.variable = name.c_str();
        get.selection = selected.exact(name);
        get.destination = elements.data();
        get.len = elements.size();
        get.dtype = dtype_of<T>::value;
        check(flexpath_step_get_or_fill(raw(), &get, &fill, -1));
        return elements;
    }
    /* The selected records as structs, converted if need be. */
    template <class S>
    std::vector<S> get_records(const std::string &name, const schema &as, const selection &selected = {}) const {
        static_assert(std::is_trivially_copyable<S>::value, "a plain struct");
        detail::check_struct("get_records of variable \"" + name + "\"", sizeof(S), as.struct_bytes());
        std::vector<S> structs(len(name, selected));
        if (selected.words())
            check(flexpath_step_get_records_by_text(raw(), name.c_str(), selected.words(), as.raw(), structs.data(),
                                                    structs.size()));
        else
            check(flexpath_step_get_records(raw(), name.c_str(), selected.exact(name), as.raw(), structs.data(), structs.size()));
        return structs;
    }
    /* The selected records of whatever type, as they are. */
    flexpath::records records(const std::string &name, const selection &selected = {}) const {
        return records_by(name, nullptr, selected);
    }
    /* The same as another type, converted if need be. */
    flexpath::records records(const std::string &name, const schema &as, const selection &selected = {}) const {
        return records_by(name, as.raw(), selected);
    }
    /* The value of a scalar. */
    template <class T> T scalar(const std::string &name) const {
        T value{};
        get_into(name, selection(), &value, 1);
        return value;
    }
    /* The value of a scalar that is a text. */
    std::string text(const std::string &name) const {
        const char *value = nullptr;
        check(flexpath_step_text(raw(), name.c_str(), &value));
        return value;
    }
    /* What is selected, where it lies if that is possible. */
    template <class T> flexpath::view<T> view(const std::string &name, const selection &selected = {}) const {
        flexpath_view *made = nullptr;
        const void *elements = nullptr;
        std::uint64_t len = 0;
        const std::int32_t dtype = dtype_of<T>::value;
        if (selected.words())
            check(flexpath_step_view_by_text(raw(), name.c_str(), selected.words(), dtype, &made, &elements, &len));
        else
            check(flexpath_step_view(raw(), name.c_str(), selected.exact(name), dtype, &made, &elements, &len));
        return flexpath::view<T>(made, static_cast<const T *>(elements), len);
    }
    template <class T> flexpath::view<T> view(const std::string &name, const region &at) const {
        return view<T>(name, selection(at));
    }

private:
    flexpath::records records_by(const std::string &name, const flexpath_schema *as, const selection &selected) const {
        flexpath_records *taken = nullptr;
        if (selected.words())
            check(flexpath_step_records_by_text(raw(), name.c_str(), selected.words(), as, &taken));
        else
            check(flexpath_step_records(raw(), name.c_str(), selected.exact(name), as, &taken));
        return flexpath::records(taken);
    }
    std::size_t len(const std::string &name, const selection &selected) const {
        std::size_t product = 1;
        for (std::uint64_t extent : shape(name, selected)) product *= extent;
        return product;
    }
};

/* The receiving side. */
class subscriber : public handle<flexpath_subscriber, flexpath_subscriber_close> {
public:
    explicit subscriber(const std::string &stream) : subscriber(stream, nullptr) {}
    subscriber(const std::string &stream, const options &chosen) : subscriber(stream, chosen.raw()) {}

    /* The next step; none if it did not come in time or the stream is over: has_ended() tells. */
    std::optional<step> next_step(std::chrono::milliseconds timeout) {
        flexpath_step *came = nullptr;
        if (check(flexpath_subscriber_next_step(raw(), wait_ms(timeout), &came)) != FLEXPATH_STATUS_OK) return std::nullopt;
        return step(came);
    }
    /* Has the function called with each step, as std::optional<step>, on a thread of Flexpath, and without one when no more
     * will come. Nobody else takes steps from now on. What it throws ends the program. */
    template <class F> void on_step(F function) {
        auto release = [](void *context) { delete static_cast<F *>(context); };
        check(flexpath_subscriber_on_step(raw(), call<F>, release, new F(std::move(function))));
    }
    /* The variables that provide records of a type, those that fit best first: waits for the first step. Throws what says
     * of each variable, field by field, why none does. */
    std::vector<provided> of(const schema &wanted) {
        std::uint64_t count = 0;
        std::vector<flexpath_provided> told(64);
        flexpath_status status = check(flexpath_subscriber_of(raw(), wanted.raw(), told.data(), told.size(), &count));
        if (count > told.size()) {
            told.resize(count);
            status = check(flexpath_subscriber_of(raw(), wanted.raw(), told.data(), told.size(), &count));
        }
        if (status != FLEXPATH_STATUS_OK) throw error(status, flexpath_last_error());
        std::vector<provided> all;
        for (std::uint64_t index = 0; index < count && index < told.size(); index++)
            all.push_back({told[index].variable, told[index].differences, told[index].is_converted != 0});
        return all;
    }
    /* A descriptor for poll(2): readable as long as next_step would return at once. Not to be read or closed. */
    int step_descriptor() const {
        std::int32_t descriptor = -1;
        check(flexpath_subscriber_step_descriptor(raw(), &descriptor));
        return descriptor;
    }
    /* The same for next_event. */
    int event_descriptor() const {
        std::int32_t descriptor = -1;
        check(flexpath_subscriber_event_descriptor(raw(), &descriptor));
        return descriptor;
    }
    bool has_ended() const { return end() != FLEXPATH_END_NOT_ENDED; }
    /* Why the stream is over: one of flexpath_end. */
    std::int32_t end() const {
        std::int32_t why = 0;
        check(flexpath_subscriber_end(raw(), &why));
        return why;
    }
    /* Asks the simulation for a value of a parameter; gives the step at which all its ranks saw it. */
    std::uint64_t request(const std::string &parameter, double value, std::chrono::milliseconds timeout,
                          bool urgent = false) {
        return ask(parameter, FLEXPATH_ATTRIBUTE_KIND_REAL, &value, timeout, urgent);
    }
    std::uint64_t request(const std::string &parameter, std::int64_t value, std::chrono::milliseconds timeout,
                          bool urgent = false) {
        return ask(parameter, FLEXPATH_ATTRIBUTE_KIND_INTEGER, &value, timeout, urgent);
    }
    std::uint64_t request(const std::string &parameter, int value, std::chrono::milliseconds timeout,
                          bool urgent = false) {
        return request(parameter, static_cast<std::int64_t>(value), timeout, urgent);
    }
    std::uint64_t request(const std::string &parameter, bool value, std::chrono::milliseconds timeout,
                          bool urgent = false) {
        const std::uint8_t truth = value;
        return ask(parameter, FLEXPATH_ATTRIBUTE_KIND_BOOL, &truth, timeout, urgent);
    }
    std::uint64_t request(const std::string &parameter, const char *value, std::chrono::milliseconds timeout,
                          bool urgent = false) {
        return ask(parameter, FLEXPATH_ATTRIBUTE_KIND_TEXT, value, timeout, urgent);
    }
    std::uint64_t request(const std::string &parameter, const std::string &value, std::chrono::milliseconds timeout,
                          bool urgent = false) {
        return request(parameter, value.c_str(), timeout, urgent);
    }
    /* Of a parameter without a value. */
    std::uint64_t request(const std::string &parameter, std::chrono::milliseconds timeout, bool urgent = false) {
        return ask(parameter, 0, nullptr, timeout, urgent);
    }
    /* Asks for other variables, for the whole cohort. */
    void select_variables(const std::vector<std::string> &names) {
        check(flexpath_subscriber_select_variables(raw(), pointers(names).data(), names.size()));
    }
    /* Wants other steps than until now, for the whole cohort. Gives the first that is judged by this condition. */
    std::uint64_t set_condition(const std::string &condition, std::chrono::milliseconds timeout) {
        std::uint64_t first = 0;
        check(flexpath_subscriber_set_condition(raw(), condition.c_str(), wait_ms(timeout), &first));
        return first;
    }
    /* Has what is derived or transformed by that name made on another side, for the whole cohort. */
    void place(const std::string &variable, std::int32_t placement) {
        check(flexpath_subscriber_place(raw(), variable.c_str(), placement));
    }
    /* The next event; none if none came in time. Holds up no other call. */
    std::optional<event> next_event(std::chrono::milliseconds timeout) const {
        flexpath_event came;
        if (check(flexpath_subscriber_next_event(raw(), wait_ms(timeout), &came)) != FLEXPATH_STATUS_OK) return std::nullopt;
        return event_of(came);
    }
    std::uint64_t statistic(const std::string &name) const {
        std::uint64_t value = 0;
        check(flexpath_subscriber_statistic(raw(), name.c_str(), &value));
        return value;
    }
    std::string epoch() const { return told(flexpath_subscriber_epoch); }
    /* The first step that the subscription holds for; nothing before it is attached. */
    std::optional<std::uint64_t> first_step() const {
        std::uint64_t step = 0;
        if (check(flexpath_subscriber_first_step(raw(), &step)) == FLEXPATH_STATUS_NOT_YET)
            return std::nullopt;
        return step;
    }
    std::string transports() const { return told(flexpath_subscriber_transports); }
    void close() { check(flexpath_subscriber_close(take())); }

private:
    template <class F> static void call(void *context, flexpath_step *came) noexcept {
        if (came)
            (*static_cast<F *>(context))(std::optional<step>(step(came)));
        else
            (*static_cast<F *>(context))(std::optional<step>());
    }
    std::uint64_t ask(const std::string &parameter, std::int32_t kind, const void *value,
                      std::chrono::milliseconds timeout, bool urgent) {
        std::uint64_t seen = 0;
        check(flexpath_subscriber_request(raw(), parameter.c_str(), kind, value, urgent, wait_ms(timeout), &seen));
        return seen;
    }
    std::string told(flexpath_status (*tell)(flexpath_subscriber *, const char **)) const {
        const char *text = nullptr;
        check(tell(raw(), &text));
        return text;
    }
    subscriber(const std::string &stream, const flexpath_options *chosen) {
        flexpath_subscriber *opened = nullptr;
        check(flexpath_subscriber_open(stream.c_str(), chosen, &opened));
        static_cast<handle &>(*this) = handle(opened);
    }
};

} // namespace flexpath

#endif

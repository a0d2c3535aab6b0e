/* Flexpath for C++17: flexpath.h with handles that close themselves, views of elements, and exceptions. Header only. */
#ifndef FLEXPATH_HPP
#define FLEXPATH_HPP

#include "flexpath.h"

#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace flexpath {

/* What a call that failed throws. */
class error : public std::runtime_error {
public:
    error(flexpath_status status, const char *text) : std::runtime_error(text), status_(status) {}
    flexpath_status status() const noexcept { return status_; }

private:
    flexpath_status status_;
};

/* Throws if the call failed. */
inline flexpath_status check(flexpath_status status) {
    if (status < 0) throw error(status, flexpath_last_error());
    return status;
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
        std::swap(raw_, other.raw_);
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

private:
    static flexpath_options *make() {
        flexpath_options *made = nullptr;
        check(flexpath_options_create(&made));
        return made;
    }
};

/* A variable of elements of type T. */
template <class T> class variable : public handle<flexpath_variable, flexpath_variable_free> {
public:
    static variable global(const std::string &name, const std::vector<std::uint64_t> &shape) {
        variable made;
        made.define(flexpath_variable_global, name, static_cast<std::uint32_t>(shape.size()), shape.data());
        return made;
    }
    static variable joined(const std::string &name, const std::vector<std::uint64_t> &row = {}) {
        variable made;
        made.define(flexpath_variable_joined, name, static_cast<std::uint32_t>(row.size()), row.data());
        return made;
    }
    static variable local(const std::string &name, std::uint32_t ndims) {
        variable made;
        made.define(flexpath_variable_local, name, ndims);
        return made;
    }
    static variable scalar(const std::string &name) {
        variable made;
        made.define(flexpath_variable_scalar, name);
        return made;
    }
    variable &unit(const std::string &text) {
        check(flexpath_variable_set_unit(this->raw(), text.c_str()));
        return *this;
    }
    variable &column_major() {
        check(flexpath_variable_set_order(this->raw(), FLEXPATH_ORDER_COLUMN_MAJOR));
        return *this;
    }

private:
    template <class Make, class... Rest> void define(Make make, const std::string &name, Rest... rest) {
        flexpath_variable *made = nullptr;
        check(make(name.c_str(), dtype_of<T>::value, rest..., &made));
        static_cast<handle &>(*this) = handle(made);
    }
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
    /* Copies; `elements` are as many as the region has. */
    template <class T> void put(const variable<T> &of, const region &at, const T *elements) {
        check(flexpath_publisher_put(raw(), of.raw(), at.start.data(), at.count.data(), elements));
    }
    template <class T> void put(const variable<T> &of, const T &value) {
        check(flexpath_publisher_put(raw(), of.raw(), nullptr, nullptr, &value));
    }
    void end_step() { check(flexpath_publisher_end_step(raw())); }
    /* Closes, and says how that went; the destructor closes in silence. */
    void close() { check(flexpath_publisher_close(take())); }

private:
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
    /* A region, densely in row-major order. */
    template <class T> std::vector<T> get(const std::string &name, const region &at) const {
        std::uint64_t len = 1;
        for (std::uint64_t extent : at.count) len *= extent;
        std::vector<T> elements(len);
        const flexpath_selection selected = selection(at);
        check(flexpath_step_get(raw(), name.c_str(), &selected, dtype_of<T>::value, elements.data(), len, -1));
        return elements;
    }
    /* The value of a scalar. */
    template <class T> T scalar(const std::string &name) const {
        T value{};
        check(flexpath_step_get(raw(), name.c_str(), nullptr, dtype_of<T>::value, &value, 1, -1));
        return value;
    }
    /* Everything of a variable, where it lies if that is possible. */
    template <class T> flexpath::view<T> view(const std::string &name) const { return view_of<T>(name, nullptr); }
    template <class T> flexpath::view<T> view(const std::string &name, const region &at) const {
        const flexpath_selection selected = selection(at);
        return view_of<T>(name, &selected);
    }

private:
    static flexpath_selection selection(const region &at) {
        flexpath_selection selected{};
        selected.kind = FLEXPATH_SELECTED_REGION;
        selected.ndims = static_cast<std::uint32_t>(at.count.size());
        selected.start = at.start.data();
        selected.count = at.count.data();
        return selected;
    }
    template <class T>
    flexpath::view<T> view_of(const std::string &name, const flexpath_selection *selected) const {
        flexpath_view *made = nullptr;
        const void *elements = nullptr;
        std::uint64_t len = 0;
        check(flexpath_step_view(raw(), name.c_str(), selected, dtype_of<T>::value, &made, &elements, &len));
        return flexpath::view<T>(made, static_cast<const T *>(elements), len);
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
        const auto wait = timeout.count() < 0 ? 0 : static_cast<std::uint64_t>(timeout.count());
        if (check(flexpath_subscriber_next_step(raw(), wait, &came)) != FLEXPATH_STATUS_OK) return std::nullopt;
        return step(came);
    }
    bool has_ended() const { return end() != FLEXPATH_END_NOT_ENDED; }
    /* Why the stream is over: one of flexpath_end. */
    std::int32_t end() const {
        std::int32_t why = 0;
        check(flexpath_subscriber_end(raw(), &why));
        return why;
    }
    void close() { check(flexpath_subscriber_close(take())); }

private:
    subscriber(const std::string &stream, const flexpath_options *chosen) {
        flexpath_subscriber *opened = nullptr;
        check(flexpath_subscriber_open(stream.c_str(), chosen, &opened));
        static_cast<handle &>(*this) = handle(opened);
    }
};

} // namespace flexpath

#endif

// What the C++ programs of the tests check by.
#ifndef CHECK_HPP
#define CHECK_HPP
#include <cstdlib>
#include <iostream>

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            std::cerr << __FILE__ << ":" << __LINE__ << ": " #condition << "\n"; \
            std::exit(1);                                                         \
        }                                                                         \
    } while (0)

#endif

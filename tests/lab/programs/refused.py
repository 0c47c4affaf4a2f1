"""Programs that cannot be compiled, each with the reason that is given."""

from ordinate.lab.programs.language import (
    Range,
    clip,
    gather,
    lookup,
    minimum,
    permute,
    receive,
    select,
    shift,
)

WHOLE = Range(0, 9, whole=True)
REAL = Range(-1, 1)
UNKNOWN = Range()


def product(x, y):
    return x * y


def square_by_itself(x):
    return x * x


def branch(x):
    return x if x > 3 else 0 * x


def loop_on_data(x):
    while x > 0:
        x = x - 1
    return x


def data_as_source(x):
    return receive(x, lambda i: x)


def data_as_list_index(x):
    return [1, 2, 3][x] + x


def sources_from_data(x):
    return gather(x, [x, 0, 1, 2])


def half_source(x):
    return receive(x, lambda i: i / 2)


def word_as_source(x):
    return receive(x, lambda i: "left")


def too_few_sources(x):
    return gather(x, [0, 1])


def no_permutation(x):
    return permute(x, [0, 0, 1, 2])


def compare_unknown(x):
    return x > 3


def compare_reals(x):
    return x == 0


def select_on_a_number(x):
    return select(x, 1, 0)


def select_unknown(x, y):
    return select(x > 3, y, 0)


def lookup_unknown(x):
    return lookup(x, [1, 2, 3])


def lookup_short_table(x):
    return lookup(x, [1, 2, 3])


def logic_on_numbers(x):
    return x & x


def text(x):
    return x + "one"


def array(x):
    return x * [1, 2, 3, 4]


def divide_by_data(x):
    return x / x


def large_factor(x):
    return x.scaled(lambda i: 2 * i)


def wrong_clip(x):
    return clip(x, 3, 1)


def wrong_statement(x):
    return (x + 20).within(Range(0, 9))


def infinite_default(x):
    return minimum(x, shift(x, 1, default=float("inf")))


def broadcast_in_one_round(x):
    return gather(x, [0, 0, 0, 0])


def three_words_at_once(x):
    return shift(x, 1) + shift(x, 2) + shift(x, 3)


REFUSED = [
    (product, (WHOLE, WHOLE), "two data values are multiplied"),
    (square_by_itself, (WHOLE,), "two data values are multiplied"),
    (branch, (WHOLE,), "a data value decides what the program does"),
    (loop_on_data, (WHOLE,), "a data value decides what the program does"),
    (data_as_source, (WHOLE,), "a source depends on data"),
    (data_as_list_index, (WHOLE,), "a data value is used as an index"),
    (sources_from_data, (WHOLE,), "a source depends on data"),
    (half_source, (WHOLE,), "a source is 0.5"),
    (word_as_source, (WHOLE,), "a source is 'left'"),
    (too_few_sources, (WHOLE,), "2 numbers for 4 processors"),
    (no_permutation, (WHOLE,), "every processor once"),
    (compare_unknown, (UNKNOWN,), "comparison of a value whose range is unknown"),
    (compare_reals, (REAL,), "not of whole numbers"),
    (select_on_a_number, (WHOLE,), "select on a condition whose range is whole numbers in [0, 9]"),
    (select_unknown, (WHOLE, UNKNOWN), "select between values whose range is unknown"),
    (lookup_unknown, (UNKNOWN,), "lookup of a value whose range is unknown"),
    (lookup_short_table, (WHOLE,), "the table covers whole numbers in [0, 2]"),
    (logic_on_numbers, (WHOLE,), "the table covers whole numbers in [0, 2], but the value may be"),
    (text, (WHOLE,), "a value meets str"),
    (array, (WHOLE,), "a value times list"),
    (divide_by_data, (WHOLE,), "divided by a number other than 0"),
    (large_factor, (WHOLE,), "a factor of 6 is outside [-1, 1]"),
    (wrong_clip, (WHOLE,), "write the smaller bound first"),
    (wrong_statement, (WHOLE,), "the stated range is [0, 9], but the value is in"),
    (infinite_default, (WHOLE,), "not finite"),
    (broadcast_in_one_round, (WHOLE,), "round 1: processor 0 sends 3 words, but a processor has 2"),
    (three_words_at_once, (WHOLE,), "round 1: processor 0 sends 3 words, but a processor has 2"),
]

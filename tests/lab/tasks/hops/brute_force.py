"""The definition, one place and one hop at a time."""


def hop(letters: str, k: int) -> str:
    """hop_k in the words of the definition: places from 1, 0 for nowhere."""

    def find(i: int) -> int:
        return max([0, *(j for j in range(2, i + 1) if letters[j - 2] == letters[i - 1])])

    answers = []
    for start in range(1, len(letters) + 1):
        place = start
        for _ in range(k):
            place = find(place) if place else 0
        answers.append(letters[place - 1] if place else "~")
    return "".join(answers)

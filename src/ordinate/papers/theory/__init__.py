"""Theory: length generalization on a ring, where everything can be known, and what memories take.

The ring (arXiv 2406.01895): the task and three models (`ring`), trained on the expected loss and on finite batches
(`descent`), and in the limit of small steps, as a flow of inner products with closed forms in special cases (`flow`).

Memories (arXiv 2402.00522): approximation rates (`rates`), the sums of its Appendix F (`sums`), best sums of heads in a
given number of digits (`fits`, `norms`, `slopes`), what it takes to fetch a lag (`fetch`), fixed memories and tables as
weights (`construct`), adaptive ones (`adaptive`), and how far both are off (`evaluate`). `advice` measures which kind
of memory a task has, and `learnability` has Theorem 6.1 of arXiv 2410.01686.
"""

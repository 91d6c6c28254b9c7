"""The choices that both the library and the command line offer."""

METHODS = ("seed", "counts", "reports", "auto")
CORRECTIONS = ("none", "fdr", "bonferroni")
KINDS = ("strings", "booleans", "ordinals", "bits")

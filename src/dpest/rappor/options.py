"""The choices that both the decoders and the command line offer."""

METHODS = ("seed", "counts", "reports", "auto")
CORRECTIONS = ("none", "fdr", "bonferroni")

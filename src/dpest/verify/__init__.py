"""What a proof certificate says, and the exact arithmetic that decides whether it is right.

Nothing here imports an engine, a solver or the tracer: a certificate is judged by itself.
"""

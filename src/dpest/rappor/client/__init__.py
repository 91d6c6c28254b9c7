"""What happens on the device: value → bloom → permanent → instantaneous → report.

`encoder` is one client, `fleet` is many at once, with the same responses; `values` reads a file of
true values and has a fleet report them.
"""

from dpest.rappor.client.encoder import Encoder, Report
from dpest.rappor.client.memo import Memo

__all__ = ["Encoder", "Memo", "Report"]

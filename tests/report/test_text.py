"""What a report says in words."""

import dpest


def branches_on_the_bare_input(x, rng):
    return (1 if x > 5 else 0) + rng.laplace(scale=1)


def test_a_witness_of_no_loss_is_not_called_simpler():
    report = dpest.audit(branches_on_the_bare_input, dpest.reals(1), dpest.l1(1))
    assert "simpler" not in str(report)

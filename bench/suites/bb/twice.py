"""A kernel asked twice with other numbers at the same addresses. One that keeps what it gave, by address or by size, is caught, and so is one whose two answers share memory."""


class Wrong(Exception):
    """What is wrong with an answer."""


def asked_twice(call, check, change, copied, same):
    """call: the kernel's answer to what now lies at the addresses; check raises Wrong unless it is right; change puts other numbers there and tells whether it did;
    copied and same keep an answer and compare."""
    first = call()
    check(first)
    kept = copied(first)
    if not change():
        return
    try:
        check(call())
    except Wrong as wrong:
        raise Wrong(f"called again with other numbers at the same addresses: {wrong}") from None
    if not same(kept, first):
        raise Wrong("the second call changes what the first one gave")

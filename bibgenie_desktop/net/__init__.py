"""The one place that knows httpx and httpx2: clients, proxies, TLS, timeouts, and what their failures mean to
a person.

Loopback never goes through a proxy, everything else follows the system's proxy settings; certificates are
always verified; plain http leaves the machine only where the caller allows it. Headers, bodies and
addresses beyond the host's name never enter an error.
"""

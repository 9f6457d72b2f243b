"""What can go wrong while somebody else's service answers."""

from shirube.errors import ShirubeError


class NotAuthenticated(ShirubeError):
    """The service does not know us, or does not let us; it is no matter of who calls us, hence no 401."""

    code, status = "AUTHENTICATION_ERROR", 502


class ServiceFailed(ShirubeError):
    code, status = "SERVICE_ERROR", 502

"""Who may see what, as SQL conditions: the one place where the rules of access are written down."""

from sqlalchemy import ColumnElement, and_, or_, select

from shirube.caller import Caller
from shirube.store.tables import document_counts, documents, knowledge_bases, members


def base_in_reach(caller: Caller) -> ColumnElement[bool]:
    """Admins of the tenant, the owner, listed members, and everybody in the tenant when public."""
    own = knowledge_bases.c.tenant_id == caller.tenant
    if caller.is_admin:
        return own
    return and_(own, or_(knowledge_bases.c.is_public, base_owned(caller), _listed(caller)))


def base_in_hand(caller: Caller) -> ColumnElement[bool]:
    """Who may put documents in: admins of the tenant, the owner and listed members."""
    return and_(base_in_reach(caller), or_(base_owned(caller), _listed(caller)))


def base_owned(caller: Caller) -> ColumnElement[bool]:
    """Who may remove it: admins of the tenant and the owner."""
    own = knowledge_bases.c.tenant_id == caller.tenant
    return own if caller.is_admin else and_(own, knowledge_bases.c.owner == caller.subject)


def _listed(caller: Caller) -> ColumnElement[bool]:
    return (
        select(members.c.subject)
        .where(members.c.knowledge_base_id == knowledge_bases.c.id, members.c.subject == caller.subject)
        .exists()
    )


def document_open(caller: Caller) -> ColumnElement[bool]:
    """Confidentiality within the caller's clearance, and no department or one of the caller's."""
    cleared = documents.c.confidentiality <= int(caller.clearance)
    if caller.every_department:
        return cleared
    return and_(
        cleared, or_(documents.c.department.is_(None), documents.c.department.in_(sorted(caller.departments)))
    )


def counted(caller: Caller) -> ColumnElement[bool]:
    """The same for counts: nobody is told how much there is that they may not see."""
    cleared = document_counts.c.confidentiality <= int(caller.clearance)
    if caller.every_department:
        return cleared
    return and_(cleared, document_counts.c.department.in_(["", *sorted(caller.departments)]))

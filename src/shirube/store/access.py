"""Who may see what, as SQL conditions: the one place where the rules of access are written down."""

from sqlalchemy import ColumnElement, and_, or_, select

from shirube.caller import Caller
from shirube.store.tables import documents, knowledge_bases, members


def base_in_reach(caller: Caller) -> ColumnElement[bool]:
    """Admins of the tenant, the owner, listed members, and everybody in the tenant when public."""
    own = knowledge_bases.c.tenant_id == caller.tenant
    if caller.is_admin:
        return own
    member = select(members.c.subject).where(
        members.c.knowledge_base_id == knowledge_bases.c.id, members.c.subject == caller.subject
    )
    return and_(
        own,
        or_(knowledge_bases.c.is_public, knowledge_bases.c.owner == caller.subject, member.exists()),
    )


def document_open(caller: Caller) -> ColumnElement[bool]:
    """Confidentiality within the caller's clearance, and no department or one of the caller's."""
    cleared = documents.c.confidentiality <= int(caller.clearance)
    if caller.every_department:
        return cleared
    return and_(
        cleared, or_(documents.c.department.is_(None), documents.c.department.in_(sorted(caller.departments)))
    )

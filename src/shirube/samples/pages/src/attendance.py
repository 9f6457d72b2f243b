"""勤怠の締めと集計（見本）。"""

CLOSING_DAY = 25


def overtime_minutes(worked: int, scheduled: int = 480) -> int:
    return max(0, worked - scheduled)

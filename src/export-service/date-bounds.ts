// The two date forms of the listing: an ISO 8601 date-time, or a bare YYYY-MM-DD (that day's start in UTC).
// Pure. A date-time without a zone is UTC. Refuses dates that are on no calendar instead of rolling them over.

const form =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:([Zz])|([+-])(\d\d):?(\d\d))?)?$/;

const minuteMs = 60_000;

/** @returns epoch ms, or `undefined` for text that is neither form or names no instant */
export function parseDateBound(text: string): number | undefined {
  const parts = form.exec(text);
  if (parts === null) return undefined;
  const number = (index: number): number => Number(parts[index] ?? 0);
  const [year, month, day] = [number(1), number(2), number(3)];
  const [hour, minute, second] = [number(4), number(5), number(6)];
  const [zoneHour, zoneMinute] = [number(10), number(11)];
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month - 1, day);
  const isOnCalendar = midnight.getUTCMonth() === month - 1 && midnight.getUTCDate() === day;
  if (!isOnCalendar || hour > 23 || minute > 59 || second > 59 || zoneHour > 23 || zoneMinute > 59) {
    return undefined;
  }
  const milliseconds = Math.floor(Number(`0.${parts[7] ?? '0'}`) * 1000);
  const zoneMs = (parts[9] === '-' ? -1 : 1) * (zoneHour * 60 + zoneMinute) * minuteMs;
  return midnight.getTime() + (hour * 60 + minute) * minuteMs + second * 1000 + milliseconds - zoneMs;
}

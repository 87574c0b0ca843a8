const MINUTE = 60;
const HOUR = 60 * MINUTE;

/**
 * An age as kubectl shows it: exact while short, coarse when long (`110s`, `4m10s`, `3h`, `5d2h`, `2y30d`).
 * The steps are those of `HumanDuration` in k8s.io/apimachinery/pkg/util/duration.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  const minutes = Math.floor(seconds / MINUTE);
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % MINUTE, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(seconds / HOUR);
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return twoUnits(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? twoUnits(years, 'y', days % 365, 'd') : `${years}y`;
}

function twoUnits(big: number, bigUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`;
}

/** The age of something that began at an RFC 3339 time; `<unknown>` without one. */
export function ageSince(time: string | undefined, nowMs: number): string {
  return time ? humanDuration(nowMs - Date.parse(time)) : '<unknown>';
}

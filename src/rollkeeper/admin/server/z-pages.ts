/** The content of `/statusz`. */
export interface ComponentStatus {
  readonly startedAtMs: number;
  readonly uptimeSeconds: number;
  readonly nodeVersion: string;
  readonly binaryVersion: string;
  readonly paths: readonly string[];
}

const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';
/** Kubernetes' placeholder for the value of a secret flag. */
const CLASSIFIED = 'CLASSIFIED';
const HIDDEN = '(hidden)';
/** The fields of `/configz` beside the options: they follow from others, and are no flags. */
const DERIVED: ReadonlySet<string> = new Set(['admin-serves', 'scope']);

/** The options in force as flags: text for people, and the map of a structured answer. */
export function renderFlagz(config: Readonly<Record<string, unknown>>): {
  readonly text: string;
  readonly fields: { readonly flags: Readonly<Record<string, string>> };
} {
  const flags = Object.fromEntries(
    Object.entries(config)
      .filter(([name, value]) => !DERIVED.has(name) && isShown(value))
      .map(([name, value]) => [name, flagText(value)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  const lines = Object.entries(flags).map(([name, value]) => `${name}=${value}`);
  return { text: `\nrollkeeper flags\n${WARNING}\n\n${lines.join('\n')}\n`, fields: { flags } };
}

export function renderStatusz(status: ComponentStatus): string {
  const { binaryVersion, nodeVersion, paths, startedAtMs, uptimeSeconds } = status;
  return [
    '',
    'rollkeeper statusz',
    WARNING,
    '',
    `Started: ${unixDate(startedAtMs)}`,
    `Up: ${uptime(uptimeSeconds)}`,
    `Node.js version: ${nodeVersion}`,
    `Binary version: ${binaryVersion}`,
    `Paths: ${paths.join(' ')}`,
    '',
  ].join('\n');
}

/**
 * The version of the structured form that an `Accept` header requests:
 * `application/json;v=v1beta1;g=config.k8s.io;as=Statusz`. Undefined: none, or not with all of its parameters.
 */
export function structuredVersionAsked(accept: string | undefined, kind: string): string | undefined {
  for (const range of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (type.toLowerCase() !== 'application/json') continue;
    const asked = new Map(
      parameters.map((each) => {
        const [name, value] = each.split('=');
        return [name, value] as const;
      }),
    );
    const v = asked.get('v') ?? '';
    if (asked.get('as') === kind && asked.get('g') === 'config.k8s.io' && /^v1(alpha1|beta1)$/.test(v))
      return v;
  }
  return undefined;
}

/** A flag has a value that can be given: no part of the program is one. */
function isShown(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function';
}

function flagText(value: unknown): string {
  if (value === HIDDEN) return CLASSIFIED;
  if (Array.isArray(value)) return value.map(flagText).join(',');
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .filter(([, each]) => isShown(each))
      .map(([name, each]) => `${name}=${flagText(each)}`)
      .join(',');
  return String(value);
}

/** `0 hr 12 min 03 sec` */
function uptime(seconds: number): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}

/** As `date` and Go's `time.UnixDate` write it: `Wed Oct 16 21:03:43 UTC 2024`. */
function unixDate(epochMs: number): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = new Date(epochMs)
    .toUTCString()
    .split(/,? /);
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}

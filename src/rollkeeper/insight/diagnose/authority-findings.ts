import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { authorityEndMs } from '../authority-end.js';
import type { DiagnosisFinding } from './diagnosis.js';

const DAY_MS = 86_400_000;
/** A program that renews its certificates has done so by then. */
const URGENT_MS = 3 * DAY_MS;
const NOTED_MS = 14 * DAY_MS;

interface TrustedServer {
  /** `webhook guard.example.com`. */
  readonly what: string;
  /** Base64 of PEM. */
  readonly caBundle?: string | undefined;
  /** The effect of missing trust: `writes of pods are refused`. */
  readonly effect: string;
  /** Whether that keeps others from working. */
  readonly isFatal: boolean;
}

/**
 * The finding that a server will not be trusted any more, or is not. It goes by the authority in the configuration
 * itself, and reads nothing. It does not see a certificate of the server that ends sooner.
 */
export function authorityFindings(server: TrustedServer, nowMs: number): DiagnosisFinding[] {
  const { caBundle, effect, isFatal, what } = server;
  const endMs = authorityEndMs(caBundle);
  if (endMs === undefined || Number.isNaN(endMs) || endMs - nowMs > NOTED_MS) return [];
  const isOver = endMs <= nowMs;
  const end = toRfc3339(endMs);
  return [
    {
      cause: 'certificate-ends',
      severity: isFatal && endMs - nowMs <= URGENT_MS ? 'blocked' : 'note',
      summary: `the authority in the caBundle of ${what} ${isOver ? `ended at ${end}: ${effect}` : `ends at ${end}; then ${effect}`}`,
      ...(isOver && { since: end }),
      unblockedBy: ['renew its certificate, and the caBundle in its configuration'],
    },
  ];
}

import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { Diagnosis, DiagnosisCause } from './diagnosis.js';

/** A replica as the others see it. */
export interface SeenReplica {
  readonly identity: string;
  readonly adminUrl: string;
  readonly reachable: boolean;
  /** Why it does not answer. */
  readonly problem?: string;
}

/** Replicas that do not answer: one that hangs works on nothing, and others may have to wait for what it holds. */
export function replicaProblems(replicas: readonly SeenReplica[]): readonly Diagnosis[] {
  return replicas
    .filter(({ reachable }) => !reachable)
    .map(({ adminUrl, identity, problem = 'no answer' }) =>
      problemOf(
        { kind: 'Replica', name: identity, cause: 'replica-silent' },
        `${adminUrl === '' ? 'it' : `it (${adminUrl})`} does not answer: ${problem}`,
        [
          'restart its process if it hangs: see its log, and the load and memory of its machine',
          'or, if its machine is gone, nothing: it is forgotten after ten minutes',
        ],
      ),
    );
}

/** A certificate without which clients cannot reach a server, or the server does not know them. */
export interface EndingCertificate {
  /** `serving certificate of the API server`. */
  readonly what: string;
  /** Epoch milliseconds; undefined: unknown, or there is none. */
  readonly endsAtMs: number | undefined;
  readonly remedy: string;
}

/** Time enough to renew it by hand, and so little that nothing else has renewed it. */
const ENDS_SOON_MS = 24 * 60 * 60_000;

/** Certificates that end within a day, or have ended. */
export function certificateProblems(
  certificates: readonly EndingCertificate[],
  nowMs: number,
): readonly Diagnosis[] {
  return certificates.flatMap(({ endsAtMs, remedy, what }) => {
    if (endsAtMs === undefined || endsAtMs - nowMs > ENDS_SOON_MS) return [];
    const end = toRfc3339(endsAtMs);
    const says = endsAtMs <= nowMs ? `it ended at ${end}` : `it ends at ${end}`;
    return [problemOf({ kind: 'Certificate', name: what, cause: 'certificate-ends' }, says, [remedy])];
  });
}

/** The version of things that are no objects of the API, so that Events can be about them. */
const BESIDE = 'rollkeeper.dev/v1';

function problemOf(
  { cause, kind, name }: { readonly kind: string; readonly name: string; readonly cause: DiagnosisCause },
  summary: string,
  unblockedBy: readonly string[],
): Diagnosis {
  return {
    ...{ apiVersion: BESIDE, kind, name, cause, unblockedBy },
    state: 'degraded',
    sentence: `Degraded: ${summary}.`,
    waitsFor: [{ cause, severity: 'blocked', summary, unblockedBy }],
    notes: [],
  };
}

import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../shared/index.js';
import type { CertificateSigningRequest } from '@rollkeeper/runtime';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const YEAR_MS = 365 * 24 * HOUR_MS;
const MIN_LIFE_MS = 10 * MINUTE_MS;
const BACKDATE_MS = 5 * MINUTE_MS;
/** A shorter lifetime is not backdated. */
const SHORT_LIFE_MS = 8 * HOUR_MS;
const KEPT_MS = HOUR_MS;
const KEPT_PENDING_MS = 24 * HOUR_MS;

type Request = DeepReadonly<CertificateSigningRequest>;

export function hasCondition({ status }: Request, type: string): boolean {
  return status?.conditions?.some((condition) => condition.type === type) === true;
}

/** Whether a request is approved and not denied. */
export function isApproved(request: Request): boolean {
  return hasCondition(request, 'Approved') && !hasCondition(request, 'Denied');
}

interface Validity {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/**
 * Validity of a certificate: the requested lifetime, from ten minutes up to a year. Source: `duration` in k/k
 * pkg/controller/certificates/signer, PermissiveSigningPolicy.
 */
export function decideValidity(expirationSeconds: number | undefined, nowMs: number): Validity {
  const asked = expirationSeconds === undefined ? YEAR_MS : expirationSeconds * 1000;
  const lifeMs = Math.min(YEAR_MS, Math.max(MIN_LIFE_MS, asked));
  return {
    notBeforeMs: nowMs - BACKDATE_MS,
    notAfterMs: nowMs + (lifeMs < SHORT_LIFE_MS ? lifeMs : lifeMs - BACKDATE_MS),
  };
}

/**
 * When a request becomes obsolete, epoch milliseconds; undefined for one that waits for its signer. Source: k/k
 * pkg/controller/certificates/cleaner.
 * @param certificateEndMs of its certificate
 */
export function decideRemoval(request: Request, certificateEndMs: number | undefined): number | undefined {
  const { metadata, status } = request;
  const conditions = status?.conditions ?? [];
  const ends = conditions.flatMap(({ lastUpdateTime, type }) => {
    const decidedMs = parseTimeMs(lastUpdateTime);
    const isOver = type === 'Denied' || type === 'Failed' || (type === 'Approved' && status?.certificate);
    return isOver && decidedMs !== undefined ? [decidedMs + KEPT_MS] : [];
  });
  if (certificateEndMs !== undefined) ends.push(certificateEndMs);
  const createdMs = parseTimeMs(metadata.creationTimestamp);
  if (conditions.length === 0 && createdMs !== undefined) ends.push(createdMs + KEPT_PENDING_MS);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

import { toRfc3339Micro } from '../clock/index.js';
import type { Lease } from '../kubernetes/index.js';
import { LEASES, apiVersionOf } from '../kubernetes/index.js';
import type { LeaderElectionRecord } from './resource-lock.js';

/** The exact duration in milliseconds, which `spec.leaseDurationSeconds` can only say rounded up. */
export const DURATION_ANNOTATION = 'rollkeeper.dev/lease-duration-ms';

export function recordOf({ metadata, spec = {} }: Lease): LeaderElectionRecord {
  const exactMs = Number(metadata.annotations?.[DURATION_ANNOTATION]);
  const roundedMs = (spec.leaseDurationSeconds ?? 0) * 1000;
  // Somebody else, who knows nothing of the annotation, may have written the rest.
  const isExact = exactMs > 0 && Math.ceil(exactMs / 1000) * 1000 === roundedMs;
  return {
    holderIdentity: spec.holderIdentity ?? '',
    leaseDurationSeconds: (isExact ? exactMs : roundedMs) / 1000,
    acquireTime: String(spec.acquireTime ?? ''),
    renewTime: String(spec.renewTime ?? ''),
    leaderTransitions: spec.leaseTransitions ?? 0,
  };
}

/** `before` with this record in it; everything else that stands there stays. */
export function leaseWith(
  ref: { readonly namespace: string; readonly name: string },
  record: LeaderElectionRecord,
  before: Lease | undefined,
): Lease {
  const annotations = { ...before?.metadata.annotations };
  annotations[DURATION_ANNOTATION] = String(Math.round(record.leaseDurationSeconds * 1000));
  return {
    ...before,
    apiVersion: apiVersionOf(LEASES),
    kind: LEASES.kind,
    metadata: { ...before?.metadata, ...ref, annotations },
    spec: {
      ...before?.spec,
      holderIdentity: record.holderIdentity,
      leaseDurationSeconds: Math.ceil(record.leaseDurationSeconds),
      acquireTime: record.acquireTime,
      renewTime: record.renewTime,
      leaseTransitions: record.leaderTransitions,
    },
  };
}

/** The record after somebody takes a lease that is free (`before` absent or over), or renews the one that is theirs. */
export function nextRecord(
  identity: string,
  leaseDurationMs: number,
  nowMs: number,
  before: LeaderElectionRecord | undefined,
  outcome: 'acquired' | 'renewed',
): LeaderElectionRecord {
  const renewTime = toRfc3339Micro(nowMs);
  const isRenewal = outcome === 'renewed' && before !== undefined;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: leaseDurationMs / 1000,
    acquireTime: isRenewal ? before.acquireTime : renewTime,
    renewTime,
    leaderTransitions: (before?.leaderTransitions ?? 0) + (isRenewal ? 0 : 1),
  };
}

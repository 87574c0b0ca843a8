import { toRfc3339Micro } from '@rollkeeper/machinery/clock';
import { Lease, apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { LeaderElectionRecord, LeaseRequest } from './resource-lock.js';

/** The exact duration in milliseconds; `spec.leaseDurationSeconds` holds it rounded up. */
export const DURATION_ANNOTATION = 'rollkeeper.dev/lease-duration-ms';

/**
 * The annotation for the place at which the holder can be seen (`HolderWitness`), prefixed by the epoch: a value of
 * another epoch belongs to a holder that did not know this annotation.
 */
const WITNESS_ANNOTATION = 'rollkeeper.dev/holder-witness';

export function recordOf({ metadata, spec = {} }: Lease): LeaderElectionRecord {
  const exactMs = Number(metadata.annotations?.[DURATION_ANNOTATION]);
  const roundedMs = (spec.leaseDurationSeconds ?? 0) * 1000;
  // Another client without knowledge of the annotation may have written the rest.
  const isExact = exactMs > 0 && Math.ceil(exactMs / 1000) * 1000 === roundedMs;
  const leaderTransitions = spec.leaseTransitions ?? 0;
  const [epoch, witness = ''] = (metadata.annotations?.[WITNESS_ANNOTATION] ?? '').split(' ');
  return {
    holderIdentity: spec.holderIdentity ?? '',
    leaseDurationSeconds: (isExact ? exactMs : roundedMs) / 1000,
    acquireTime: String(spec.acquireTime ?? ''),
    renewTime: String(spec.renewTime ?? ''),
    leaderTransitions,
    witness: epoch === String(leaderTransitions) ? witness : '',
  };
}

/** `before` with this record in it; everything else in it is kept. */
export function leaseWith(
  ref: { readonly namespace: string; readonly name: string },
  record: LeaderElectionRecord,
  before: Lease | undefined,
): Lease {
  const annotations = { ...before?.metadata.annotations };
  annotations[DURATION_ANNOTATION] = String(Math.round(record.leaseDurationSeconds * 1000));
  if (record.witness === '') delete annotations[WITNESS_ANNOTATION];
  else annotations[WITNESS_ANNOTATION] = `${record.leaderTransitions} ${record.witness}`;
  return {
    ...before,
    apiVersion: apiVersionOf(Lease),
    kind: Lease.kind,
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

interface NextRecord {
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly nowMs: number;
  /** Absent: there is no Lease yet. */
  readonly before: LeaderElectionRecord | undefined;
  readonly outcome: 'acquired' | 'renewed';
  readonly request: LeaseRequest;
}

/** The record after a candidate takes an available lease, or renews its own. */
export function nextRecord(next: NextRecord): LeaderElectionRecord {
  const { before, identity, leaseDurationMs, nowMs, outcome, request } = next;
  const { epochAbove = 0, witness = '' } = request;
  const renewTime = toRfc3339Micro(nowMs);
  const isRenewal = outcome === 'renewed' && before !== undefined;
  const epoch = before?.leaderTransitions ?? 0;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: leaseDurationMs / 1000,
    acquireTime: isRenewal ? before.acquireTime : renewTime,
    renewTime,
    leaderTransitions: isRenewal ? epoch : Math.max(epoch, epochAbove) + 1,
    witness,
  };
}

import type { Asked, Finding } from './finding.js';
import { failure, warning } from './finding.js';

/** When certificates end, epoch milliseconds. Absent: there is none, or it could not be seen. */
export interface CertificateFacts {
  /** Of the API server. */
  readonly serverEndsAtMs?: number;
  /** Of the user, in the kubeconfig. */
  readonly clientEndsAtMs?: number;
}

const DAY_MS = 24 * 60 * 60_000;
/** A certificate's end is mentioned this long before: time enough to renew it by hand. */
export const ENDS_SOON_MS = 14 * DAY_MS;

/** Certificates without which the API server can no longer be reached. */
export function decideCertificates(asked: Asked<CertificateFacts>, nowMs: number): readonly Finding[] {
  if (asked.is !== 'answered') return [];
  const { clientEndsAtMs, serverEndsAtMs } = asked.value;
  return [
    ...decideOne(
      'the API server’s certificate',
      'renew it (kubeadm: `kubeadm certs renew apiserver`), and restart the processes that do not reload it',
      serverEndsAtMs,
      nowMs,
    ),
    ...decideOne(
      'the client certificate of the kubeconfig',
      'issue another one, or use the token of a service account',
      clientEndsAtMs,
      nowMs,
    ),
  ];
}

function decideOne(
  what: string,
  remedy: string,
  endsAtMs: number | undefined,
  nowMs: number,
): readonly Finding[] {
  if (endsAtMs === undefined || endsAtMs - nowMs > ENDS_SOON_MS) return [];
  const end = new Date(endsAtMs).toISOString();
  return endsAtMs <= nowMs
    ? [failure('api', `${what} ended at ${end}`, remedy)]
    : [warning('api', `${what} ends at ${end}`, remedy)];
}

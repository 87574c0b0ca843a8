import type { CertificateFacts, NamedCertificate } from '../../insight/beside/index.js';
import { certificatesOf } from '../../insight/beside/index.js';
import type { Asked, Finding } from './finding.js';
import { failure, warning } from './finding.js';

const DAY_MS = 24 * 60 * 60_000;
/** A certificate's end is mentioned this long before: time enough to renew it by hand. */
export const ENDS_SOON_MS = 14 * DAY_MS;

/** Finds the certificates that have ended, or will soon. */
export function decideCertificates(asked: Asked<CertificateFacts>, nowMs: number): readonly Finding[] {
  if (asked.is !== 'answered') return [];
  return certificatesOf(asked.value).flatMap((certificate) => decideOne(certificate, nowMs));
}

function decideOne({ endsAtMs, remedy, what }: NamedCertificate, nowMs: number): readonly Finding[] {
  if (endsAtMs === undefined || endsAtMs - nowMs > ENDS_SOON_MS) return [];
  const end = new Date(endsAtMs).toISOString();
  return endsAtMs <= nowMs
    ? [failure('api', `${what} ended at ${end}`, remedy)]
    : [warning('api', `${what} ends at ${end}`, remedy)];
}

import { X509Certificate, createPrivateKey } from 'node:crypto';
import type { KeyPair } from '@rollkeeper/tls';

/** The content of the Secret. PEM. */
export interface StoredCertificates {
  /** The authorities to trust, the newest first. */
  readonly ca: string;
  /** The private key of the first of them. */
  readonly caKey: string;
  readonly served: KeyPair;
}

/**
 * - `begin`: there is nothing usable; make an authority and a certificate.
 * - `add-authority`: trust a new authority as well; the certificate stays, until every configuration has the new one.
 * - `issue`: another certificate, by the newest authority.
 */
export type CertificatePlan = 'nothing' | 'begin' | 'add-authority' | 'issue';

interface CertificateFacts {
  readonly stored: StoredCertificates | undefined;
  readonly nowMs: number;
  readonly hosts: readonly string[];
  /** Whether the configurations trust all of `ca`. */
  readonly isPublished: boolean;
}

const DAY_MS = 86_400_000;
/** An authority lives for ten years. */
const RENEW_AUTHORITY_MS = 365 * DAY_MS;
/** A certificate lives for one. */
const RENEW_CERTIFICATE_MS = 90 * DAY_MS;

/** Decides the next step of the certificates; at no step does a server show one that the API server does not trust. */
export function decideCertificates({ hosts, isPublished, nowMs, stored }: CertificateFacts): CertificatePlan {
  const read = stored && readStored(stored);
  if (!read) return 'begin';
  const { authority, certificate } = read;
  const leftMs = ({ validToDate }: X509Certificate): number => validToDate.getTime() - nowMs;
  if (leftMs(authority) <= 0) return 'begin';
  if (leftMs(authority) < RENEW_AUTHORITY_MS) return 'add-authority';
  const isFit =
    certificate.verify(authority.publicKey) &&
    leftMs(certificate) >= RENEW_CERTIFICATE_MS &&
    hosts.every((host) => isFor(certificate, host));
  if (isFit) return 'nothing';
  return isPublished || leftMs(certificate) <= 0 ? 'issue' : 'nothing';
}

/** The authorities of a bundle, each for itself. */
export function authoritiesIn(bundle: string): string[] {
  return bundle.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
}

/** A bundle that begins with a new authority, without those that have expired. */
export function bundleWith(authority: string, bundle: string, nowMs: number): string {
  const kept = authoritiesIn(bundle).filter((pem) => new X509Certificate(pem).validToDate.getTime() > nowMs);
  return [authority, ...kept].map((pem) => `${pem.trim()}\n`).join('');
}

function isFor(certificate: X509Certificate, host: string): boolean {
  const isAddress = /^[\d.]+$|:/.test(host);
  return (isAddress ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
}

/** Undefined for what is no certificate, or does not belong together. */
function readStored({ ca, caKey, served }: StoredCertificates) {
  try {
    const [authority, ...others] = authoritiesIn(ca).map((pem) => new X509Certificate(pem));
    const certificate = new X509Certificate(served.cert);
    if (!authority?.checkPrivateKey(createPrivateKey(caKey))) return undefined;
    if (!certificate.checkPrivateKey(createPrivateKey(served.key))) return undefined;
    const isTrusted = [authority, ...others].some(({ publicKey }) => certificate.verify(publicKey));
    return isTrusted ? { authority, certificate } : undefined;
  } catch {
    return undefined;
  }
}

import { X509Certificate } from 'node:crypto';

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * When trust in a server ends: the last end of the certificates in a `caBundle`, epoch milliseconds. NaN where none can be read;
 * undefined where there is no bundle, and the system's authorities count.
 */
export function authorityEndMs(caBundle: string | undefined): number | undefined {
  if (caBundle === undefined || caBundle === '') return undefined;
  const text = Buffer.from(caBundle, 'base64').toString('latin1');
  try {
    const ends = [...text.matchAll(PEM)].map(([pem]) => new X509Certificate(pem).validToDate.getTime());
    return ends.length === 0 ? Number.NaN : Math.max(...ends);
  } catch {
    return Number.NaN;
  }
}

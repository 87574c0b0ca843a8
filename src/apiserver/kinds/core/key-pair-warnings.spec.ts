import { beforeAll, describe, expect, it } from 'vitest';
import { selfMadeCertificate } from '@rollkeeper/tls';
import type { KeyPair } from '@rollkeeper/tls';
import { keyPairWarnings } from './key-pair-warnings.js';

const clock = { now: () => Date.UTC(2026, 0, 1) };
const encode = (text: string): string => Buffer.from(text).toString('base64');
const OTHER = '-----BEGIN DH PARAMETERS-----\nAAAA\n-----END DH PARAMETERS-----\n';
const BROKEN = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const BROKEN_KEY = '-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n';

let own: KeyPair;
let other: KeyPair;
beforeAll(async () => {
  own = await selfMadeCertificate('own', ['own'], clock).read(undefined);
  other = await selfMadeCertificate('other', ['other'], clock).read(undefined);
});

describe('a certificate and its key', () => {
  it('need no warning if they are a pair, whatever stands around them', () => {
    expect(keyPairWarnings(encode(`${OTHER}${own.cert}`), encode(`${OTHER}${own.key}`))).toEqual([]);
  });

  it('are looked for at a linear cost, however many blocks begin and never end', () => {
    const begun = Array.from({ length: 40_000 }, (_, index) => `-----BEGIN ${index}-----\n`).join('');
    const ended = Array.from({ length: 10_000 }, (_, index) => `-----END ${index}-----`).reverse();
    const text = encode(`${begun}${ended.join('')}${own.cert}`);
    expect(keyPairWarnings(text, encode(own.key))).toEqual([]);
  });

  const cases: readonly (readonly [string, () => string, () => string])[] = [
    ['tls: failed to find any PEM data in certificate input', () => '', () => own.key],
    ['tls: failed to find any PEM data in key input', () => own.cert, () => 'key'],
    ['tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched', () => own.key, () => own.cert],
    ['tls: found a certificate rather than a key in the PEM for the private key', () => own.cert, () => own.cert],
    ['tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [DH PARAMETERS]', () => OTHER, () => own.key],
    ['tls: private key does not match public key', () => own.cert, () => other.key],
    ['x509: malformed certificate', () => BROKEN, () => own.key],
    ['tls: failed to parse private key', () => own.cert, () => BROKEN_KEY],
  ]; // prettier-ignore
  it.each(cases)('are reported if they are no pair: %s', (warning, certificate, key) => {
    expect(keyPairWarnings(encode(certificate()), encode(key()))).toEqual([warning]);
  });
});

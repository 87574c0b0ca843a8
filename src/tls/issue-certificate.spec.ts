import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readCertificateRequest } from './certificate-request.js';
import {
  OID,
  aRequest,
  aSubject,
  alternativeNames,
  attribute,
  authorityExtension,
  der,
  toPem,
} from './certificate-request.fixture.js';
import { readCertificateSubject } from './certificate-subject.js';
import { createAuthority } from './certificates.js';
import { issueCertificate } from './issue-certificate.js';

const UTF8 = 0x0c;
const PRINTABLE = 0x13;
const NOW = Date.parse('2026-01-01T00:00:00Z');
const DAY = 24 * 3600 * 1000;
const jane = attribute(OID.commonName, UTF8, 'jane');
const masters = (tag: number, value: Buffer | string = 'system:masters') =>
  attribute(OID.organization, tag, value);

async function issue(pem: string): Promise<X509Certificate> {
  const { pem: authority } = await createAuthority(NOW);
  const usages = ['client auth', 'digital signature'];
  const certificate = await issueCertificate(authority, pem, readCertificateRequest(pem), {
    ...{ usages, notBeforeMs: NOW, notAfterMs: NOW + DAY },
  });
  return new X509Certificate(certificate);
}

const renamed = (pem: string): string => pem.replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST');

describe('the content of a certificate request', () => {
  it('is whom it is for, in either type of string', () => {
    const pem = aRequest(aSubject(attribute(OID.organization, PRINTABLE, 'dev'), masters(UTF8), jane));
    expect(readCertificateRequest(pem)).toMatchObject({
      commonName: 'jane',
      organizations: ['dev', 'system:masters'],
    });
  });

  it('is everything that is named together', () => {
    const pem = aRequest(der(0x30, der(0x31, jane, masters(UTF8))));
    expect(readCertificateRequest(pem)).toMatchObject({
      commonName: 'jane',
      organizations: ['system:masters'],
    });
  });

  it.each([
    ['NumericString', 0x12],
    ['TeletexString', 0x14],
    ['IA5String', 0x16],
    ['VisibleString', 0x1a],
    ['GeneralString', 0x1b],
    ['UniversalString', 0x1c],
    ['BMPString', 0x1e],
    ['value with tag 0x4', 0x04],
    ['value with tag 0x30', 0x30],
  ])('has no organization that is a %s', (type, tag) => {
    const read = () => readCertificateRequest(aRequest(aSubject(masters(tag), jane)));
    expect(read).toThrow(
      `the organization of the subject is a ${type}: only PrintableString and UTF8String are accepted`,
    );
  });

  it.each([
    ['that is empty', masters(UTF8, ''), 'is empty'],
    ['with a character that ends texts', masters(UTF8, 'system:masters\0'), 'has control characters'],
    ['with a line break', masters(UTF8, 'a\nO=system:masters'), 'has control characters'],
    ['that is no UTF-8', masters(UTF8, Buffer.from([0xc0, 0xae])), 'is not valid UTF-8'],
    [
      'with what its type has not',
      masters(PRINTABLE, 'a@b'),
      'has characters that no PrintableString may have',
    ],
  ])('has no organization %s', (_name, organization, problem) => {
    expect(() => readCertificateRequest(aRequest(aSubject(organization)))).toThrow(
      `the organization of the subject ${problem}`,
    );
  });

  it.each<[name: string, pem: () => string, problem: string]>([
    ['two common names', () => aRequest(aSubject(jane, attribute(OID.commonName, UTF8, 'admin'))), 'more than one common name'],
    ['two lists of extensions', () => aRequest(aSubject(jane), [], []), 'more than one list of extensions'],
    ['alternative names twice', () => aRequest(aSubject(jane), [alternativeNames(), alternativeNames()]), 'subject alternative names twice'],
    ['a name that ends early', () => aRequest(aSubject(jane), [alternativeNames(der(0x82, 'a.com\0.evil'))]), 'other characters than printable ASCII'],
    ['half an address', () => aRequest(aSubject(jane), [alternativeNames(der(0x87, 'abcde'))]), 'is not an IP address'],
    ['something behind it', () => toPem(Buffer.concat([der(0x30), der(0x30)])), 'nothing behind it'],
    ['a length in more bytes than it needs', () => toPem(Buffer.from([0x30, 0x81, 0x00])), 'not written the shortest way'],
    ['an endless length', () => toPem(Buffer.from([0x30, 0x80, 0x00, 0x00])), 'not a definite one'],
    ['less than it says', () => toPem(Buffer.from([0x30, 0x05, 0x00])), 'longer than what contains it'],
    ['another block in front, which other readers take', () => renamed(aRequest(aSubject(jane))) + aRequest(aSubject(jane)), 'more than one PEM block'],
    ['another block behind', () => aRequest(aSubject(jane)) + renamed(aRequest(aSubject(jane))), 'more than one PEM block'],
    ['other PEM', () => aRequest(aSubject(jane)).replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'), 'PEM block type'],
  ])('is nothing where there is %s', (_name, pem, problem) => {
    expect(() => readCertificateRequest(pem())).toThrow(problem);
  }); // prettier-ignore
});

describe('a certificate', () => {
  it('has what was read of the request, and nothing else of it', async () => {
    const names = [der(0x82, 'n1.example.com'), der(0x87, Buffer.from([10, 0, 0, 1])), der(0x81, 'a@b.c')];
    const directory = der(0xa4, aSubject(masters(UTF8)));
    const email = attribute(OID.email, 0x16, 'jane@example.com');
    const pem = aRequest(aSubject(email, jane, attribute(OID.organization, PRINTABLE, 'dev')), [
      alternativeNames(...names, directory),
      authorityExtension(),
    ]);
    const certificate = await issue(pem);
    expect(certificate.subject).toBe('O=dev\nCN=jane');
    expect(certificate.ca).toBe(false);
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(certificate.subjectAltName).toBe('DNS:n1.example.com, email:a@b.c, IP Address:10.0.0.1');
  });

  it.each(['"m", O=system:masters', '#0c0e73797374656d3a6d617374657273', String.raw`m\0aO=x\\`, 'a+O=system:masters'])(
    'names its subject letter by letter: %s',
    async (name) => {
      const certificate = await issue(aRequest(aSubject(attribute(OID.commonName, UTF8, name))));
      const read = readCertificateSubject(certificate.raw);
      expect(read).toEqual({ commonName: name, organizations: [], details: [] });
    },
  );

  it('has no alternative names where none were asked for', async () => {
    const certificate = await issue(aRequest(aSubject(jane)));
    expect(certificate.subjectAltName).toBeUndefined();
  });

  it('has addresses of either family', async () => {
    const v6 = Buffer.from('20010db8000000000000000000000001', 'hex');
    const certificate = await issue(aRequest(aSubject(jane), [alternativeNames(der(0x87, v6))]));
    expect(certificate.subjectAltName).toBe('IP Address:2001:DB8:0:0:0:0:0:1');
  });
}); // prettier-ignore

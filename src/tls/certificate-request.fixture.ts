import { generateKeyPairSync, sign } from 'node:crypto';

/** An ASN.1 value in DER. */
export function der(tag: number, ...parts: readonly (Buffer | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  if (length < 0x100) return Buffer.concat([Buffer.from([tag, 0x81, length]), content]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), content]);
}

const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
export const OID = { commonName: '550403', organization: '55040a', email: '2a864886f70d010901' };

/** One attribute of a subject. */
export function attribute(type: string, tag: number, value: Buffer | string): Buffer {
  return der(0x30, oid(type), der(tag, value));
}

/** A subject with one set for each attribute. */
export function aSubject(...attributes: readonly Buffer[]): Buffer {
  return der(0x30, ...attributes.map((one) => der(0x31, one)));
}

/** A subjectAltName extension with these encoded names. */
export function alternativeNames(...names: readonly Buffer[]): Buffer {
  return der(0x30, oid('551d11'), der(0x04, der(0x30, ...names)));
}

/** A basicConstraints extension that makes the certificate a CA. */
export function authorityExtension(): Buffer {
  return der(0x30, oid('551d13'), der(0x01, Buffer.from([0xff])), der(0x04, der(0x30, der(0x01, Buffer.from([0xff])))));
} // prettier-ignore

/** A certificate request in PEM, signed by a key of its own. */
export function aRequest(subject: Buffer, ...extensionLists: readonly (readonly Buffer[])[]): string {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const lists = extensionLists.map((extensions) =>
    der(0x30, oid('2a864886f70d01090e'), der(0x31, der(0x30, ...extensions))),
  );
  const key = publicKey.export({ type: 'spki', format: 'der' });
  const body = der(0x30, der(0x02, Buffer.from([0])), subject, key, der(0xa0, ...lists));
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  return toPem(der(0x30, body, der(0x30, oid('2a8648ce3d040302')), signature));
}

export function toPem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE REQUEST-----', ...lines, '-----END CERTIFICATE REQUEST-----', ''].join(
    '\n',
  );
}

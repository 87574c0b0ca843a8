import { DerError, TAG, childrenOf, contextTag, expectTag, readDer } from './der.js';
import type { DerValue } from './der.js';

/** The subject of a certificate or request: the user and groups of a client that authenticates with it. */
export interface CertificateSubject {
  /** Empty if there is none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Further attributes of the subject, in the order of the certificate. */
  readonly details: readonly SubjectDetail[];
}

export interface SubjectDetail {
  /** Object identifier. */
  readonly type: string;
  readonly value: string;
}

export const COMMON_NAME = '2.5.4.3';
export const ORGANIZATION = '2.5.4.10';
export const SERIAL_NUMBER = '2.5.4.5';

/** The supported attributes, by encoded identifier. Source: crypto/x509/pkix of Go. */
const ATTRIBUTES: ReadonlyMap<string, { readonly type: string; readonly name: string }> = new Map(
  [
    { code: '550406', type: '2.5.4.6', name: 'country' },
    { code: '55040a', type: ORGANIZATION, name: 'organization' },
    { code: '55040b', type: '2.5.4.11', name: 'organizational unit' },
    { code: '550407', type: '2.5.4.7', name: 'locality' },
    { code: '550408', type: '2.5.4.8', name: 'province' },
    { code: '550409', type: '2.5.4.9', name: 'street address' },
    { code: '550411', type: '2.5.4.17', name: 'postal code' },
    { code: '550403', type: COMMON_NAME, name: 'common name' },
    { code: '550405', type: SERIAL_NUMBER, name: 'serial number' },
  ].map(({ code, ...attribute }) => [code, attribute]),
);
const ORDER = [...ATTRIBUTES.values()].map(({ type }) => type);

const OTHER_STRINGS: Readonly<Record<number, string>> = {
  0x12: 'NumericString',
  0x14: 'TeletexString',
  0x16: 'IA5String',
  0x1a: 'VisibleString',
  0x1b: 'GeneralString',
  0x1c: 'UniversalString',
  0x1e: 'BMPString',
};

/** The subject of a certificate in DER. @throws DerError */
export function readCertificateSubject(certificate: Buffer): CertificateSubject {
  const [body] = childrenOf(readDer(certificate), TAG.sequence);
  const fields = childrenOf(body, TAG.sequence);
  // A version 1 certificate omits the version.
  const serial = fields[0]?.tag === contextTag(0) ? 1 : 0;
  expectTag(fields[serial], TAG.integer);
  return readSubject(fields[serial + 4]);
}

/**
 * Reads a Name. The only reader of names: validation, signing and authentication all use it. Refuses anything that two
 * readers could read differently: other string types, control characters, a second common name.
 * @throws DerError
 */
export function readSubject(name: DerValue | undefined): CertificateSubject {
  const attributes = childrenOf(name, TAG.sequence).flatMap((rdn) => childrenOf(rdn, TAG.set).flatMap(readAttribute));
  const valuesOf = (type: string): string[] => attributes.filter((one) => one.type === type).map(({ value }) => value);
  const commonNames = valuesOf(COMMON_NAME);
  if (commonNames.length > 1) throw new DerError('the subject has more than one common name');
  return {
    commonName: commonNames[0] ?? '',
    organizations: valuesOf(ORGANIZATION),
    details: attributes
      .filter(({ type }) => type !== COMMON_NAME && type !== ORGANIZATION)
      .sort((a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type)),
  };
} // prettier-ignore

/** None for an unsupported type: it is ignored. */
function readAttribute(attribute: DerValue): SubjectDetail[] {
  const [type, value, ...others] = childrenOf(attribute, TAG.sequence);
  const known = ATTRIBUTES.get(expectTag(type, TAG.oid).content.toString('hex'));
  if (!value || others.length > 0)
    throw new DerError('an attribute of the subject has one type and one value');
  return known ? [{ type: known.type, value: readText(value, known.name) }] : [];
}

const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?]*$/;
const CONTROL = /\p{Cc}/u;

function readText({ tag, content }: DerValue, field: string): string {
  if (tag !== TAG.printableString && tag !== TAG.utf8String) {
    const type = OTHER_STRINGS[tag] ?? `value with tag 0x${tag.toString(16)}`;
    throw new DerError(`the ${field} of the subject is a ${type}: only PrintableString and UTF8String are accepted`);
  }
  const text = decodeUtf8(content, field);
  if (tag === TAG.printableString && !PRINTABLE.test(text))
    throw new DerError(`the ${field} of the subject has characters that no PrintableString may have`);
  if (text === '') throw new DerError(`the ${field} of the subject is empty`);
  if (CONTROL.test(text)) throw new DerError(`the ${field} of the subject has control characters`);
  return text;
} // prettier-ignore

function decodeUtf8(content: Buffer, field: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch (error) {
    throw new DerError(`the ${field} of the subject is not valid UTF-8`, { cause: error });
  }
}

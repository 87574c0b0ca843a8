import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkPathSegment,
  goQuote,
} from '@rollkeeper/machinery/kubernetes';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestSpec,
  CertificateSigningRequestStatus,
} from '@rollkeeper/machinery/types/certificates-v1';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { readCertificateRequest } from '@rollkeeper/tls';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { humanDuration } from '../common/human-duration.js';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import {
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../validation/field-errors.js';
import { repeatedPlaces } from '../validation/repeated-places.js';

type Request = DecodedObject<CertificateSigningRequest>;

const USAGES = [
  'any', 'cert sign', 'client auth', 'code signing', 'content commitment', 'crl sign', 'data encipherment',
  'decipher only', 'digital signature', 'email protection', 'encipher only', 'ipsec end system', 'ipsec tunnel',
  'ipsec user', 'key agreement', 'key encipherment', 'microsoft sgc', 'netscape sgc', 'ocsp signing',
  's/mime', 'server auth', 'signing', 'timestamping',
]; // prettier-ignore
const MIN_SECONDS = 600;

/** Source: pkg/registry/certificates/certificates/strategy.go, ValidateCertificateSigningRequestCreate. */
export const CERTIFICATE_SIGNING_REQUEST_KIND = defineKind<Request>({
  type: {
    group: 'certificates.k8s.io',
    version: 'v1',
    resource: 'certificatesigningrequests',
    kind: 'CertificateSigningRequest',
    namespaced: false,
  },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.certificates.v1.CertificateSigningRequest',
  shortNames: ['csr'],
  checkName: checkPathSegment,
  subresources: ['status', 'approval'],
  ...printed<Request>(
    NAME,
    AGE,
    shown('SignerName', ({ spec }) => spec?.signerName ?? '<none>'),
    shown('Requestor', ({ spec }) => spec?.username ?? ''),
    shown('RequestedDuration', ({ spec }) =>
      spec?.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000),
    ),
    shown('Condition', conditionText),
  ),
  applyDefaults({ spec }) {
    if (spec && !spec.usages?.length) spec.usages = ['digital signature', 'key encipherment'];
  },
  prepareForCreate(object) {
    object.status = {};
  },
  prepareForUpdate(object, old, subresource, nowMs) {
    object.spec = old.spec;
    const before = old.status ?? {};
    if (subresource === '') object.status = before;
    else if (subresource === 'approval') object.status = { ...before, conditions: object.status?.conditions };
    else object.status = { ...object.status, conditions: statusConditions(object.status, before) };
    if (subresource !== '') setTimes(object.status ?? {}, before, toRfc3339(nowMs));
  },
  validate: ({ spec }, errors) => validateSpec(spec ?? {}, errors),
  validateUpdate(object, old, subresource, errors) {
    validateConditions(object.status ?? {}, old.status ?? {}, subresource === 'approval', errors);
  },
  selectableFields: ({ spec }) => ({ 'spec.signerName': spec?.signerName ?? '' }),
});

/** Fills in the times that a condition lacks. Source: populateConditionTimestamps. */
function setTimes(
  { conditions = [] }: Decoded<CertificateSigningRequestStatus>,
  before: Decoded<CertificateSigningRequestStatus>,
  now: string,
): void {
  const known = Map.groupBy(before.conditions ?? [], ({ type }) => type);
  for (const condition of conditions) {
    const old = known.get(condition.type)?.[0];
    condition.lastUpdateTime ??= now;
    condition.lastTransitionTime ??=
      old?.lastTransitionTime && old.status === condition.status ? old.lastTransitionTime : now;
  }
}

const DECISIONS = ['Approved', 'Denied'];

/**
 * The status may not decide: that is for `approval`. Decisions stay as they are, unless one is added or taken away, which is refused
 * later. Source: preserveConditionInstances.
 */
function statusConditions(
  status: Decoded<CertificateSigningRequestStatus> | undefined,
  before: Decoded<CertificateSigningRequestStatus>,
): Decoded<CertificateSigningRequestStatus>['conditions'] {
  const conditions = status?.conditions && [...status.conditions];
  for (const decision of DECISIONS) {
    const kept = (before.conditions ?? []).filter(({ type }) => type === decision);
    const places = (conditions ?? []).flatMap(({ type }, index) => (type === decision ? [index] : []));
    if (kept.length !== places.length) return conditions;
    kept.forEach((condition, at) => conditions?.splice(places[at]!, 1, condition));
  }
  return conditions;
}

const MAX_DOMAIN = 253;
/** A domain, a slash, and a label, a dot and a subdomain. */
const MAX_SIGNER_NAME = MAX_DOMAIN + 1 + MAX_DOMAIN + 63 + 1;

/** Source: ValidateSignerName in pkg/apis/core/validation/names.go. */
function validateSignerName(name: string, field: string, errors: FieldError[]): void {
  if (name === '') {
    errors.push(required(field));
    return;
  }
  const segments = name.split('/');
  const [domain = '', path = ''] = segments;
  if (segments.length !== 2) {
    errors.push(
      invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
    );
    return;
  }
  if (domain.length > MAX_DOMAIN) errors.push(tooLong(field, MAX_DOMAIN));
  validateLabelsOf(domain, checkDns1123Label, field, errors);
  if (!domain.includes('.'))
    errors.push(invalid(field, domain, 'should be a domain with at least two segments separated by dots'));
  validateLabelsOf(path, checkDns1123Subdomain, field, errors);
  if (name.length > MAX_SIGNER_NAME) errors.push(tooLong(field, MAX_SIGNER_NAME));
}

/** The first one of several wrong labels. */
function validateLabelsOf(
  text: string,
  check: (label: string) => readonly string[],
  field: string,
  errors: FieldError[],
): void {
  const wrong = text.split('.').find((label) => check(label).length > 0);
  if (wrong === undefined) return;
  for (const problem of check(wrong))
    errors.push(invalid(field, text, `validating label ${goQuote(wrong)}: ${problem}`));
}

function validateSpec(spec: Decoded<CertificateSigningRequestSpec>, errors: FieldError[]): void {
  const { usages = [], signerName = '', request = '', expirationSeconds } = spec;
  if (usages.length === 0) errors.push(required('spec.usages'));
  const repeated = repeatedPlaces(usages);
  usages.forEach((usage, index) => {
    if (!USAGES.includes(usage)) errors.push(notSupported(`spec.usages[${index}]`, usage, USAGES));
    else if (repeated.has(index)) errors.push(duplicate(`spec.usages[${index}]`, usage));
  });
  const unreadable = problemOf(request);
  if (unreadable !== undefined) errors.push(invalid('spec.request', request || null, unreadable));
  validateSignerName(signerName, 'spec.signerName', errors);
  if (signerName === 'kubernetes.io/legacy-unknown')
    errors.push(
      invalid('spec.signerName', signerName, 'the legacy signerName is not allowed via this API version'),
    );
  if (expirationSeconds !== undefined && expirationSeconds < MIN_SECONDS)
    errors.push(
      invalid(
        'spec.expirationSeconds',
        expirationSeconds,
        'may not specify a duration less than 600 seconds (10 minutes)',
      ),
    );
}

/** Stricter than the genuine server where a request could be read in two ways. */
function problemOf(request: string): string | undefined {
  try {
    readCertificateRequest(Buffer.from(request, 'base64').toString());
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

function validateConditions(
  { conditions = [] }: Decoded<CertificateSigningRequestStatus>,
  old: Decoded<CertificateSigningRequestStatus>,
  mayDecide: boolean,
  errors: FieldError[],
): void {
  const path = 'status.conditions';
  const seen = new Set<string>();
  conditions.forEach(({ type = '', status }, index) => {
    const at = `${path}[${index}]`;
    if (!type) errors.push(required(`${at}.type`));
    else if (seen.has(type)) errors.push(duplicate(`${at}.type`, type));
    seen.add(type);
    if (!status) errors.push(required(`${at}.status`));
    else if ([...DECISIONS, 'Failed'].includes(type) && status !== 'True')
      errors.push(notSupported(`${at}.status`, status, ['True']));
  });
  if (DECISIONS.every((type) => seen.has(type))) {
    const second = [...seen].findLast((type) => DECISIONS.includes(type)) ?? '';
    errors.push(invalid(path, second, 'Approved and Denied conditions are mutually exclusive'));
  }
  for (const { type = '' } of old.conditions ?? [])
    if (DECISIONS.includes(type) && !seen.has(type))
      errors.push(forbidden(path, `updates may not remove a condition of type "${type}"`));
  const before = new Set(old.conditions?.map(({ type }) => type));
  if (!mayDecide)
    for (const type of DECISIONS)
      if (seen.has(type) && !before.has(type))
        errors.push(forbidden(path, `updates may not add a condition of type "${type}"`));
}

function conditionText({ status }: Readonly<Request>): string {
  const types = new Set(status?.conditions?.map(({ type }) => type));
  const words = [types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending'];
  if (types.has('Failed')) words.push('Failed');
  if (status?.certificate) words.push('Issued');
  return words.join(',');
}

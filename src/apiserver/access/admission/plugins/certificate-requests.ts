import type { CertificateSigningRequest } from '@rollkeeper/machinery/types/certificates-v1';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { objectOfKind, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import { readCertificateRequest } from '@rollkeeper/tls';
import { MASTERS } from '../../auth/index.js';
import { refused } from '../attributes.js';
import type { Attributes, WriteAttributes } from '../attributes.js';
import type { AccessDecider } from '../request-authority.js';

type Request = DecodedObject<CertificateSigningRequest>;

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

/**
 * Writes the requester into a request, which only the server may set. Source: PrepareForCreate in k/k
 * pkg/registry/certificates/certificates/strategy.go.
 */
export function nameRequestor({ caller, object }: WriteAttributes): void {
  const { spec } = objectOfKind<Request>(object);
  if (!spec) return;
  const { extra, groups, uid, username } = caller.user;
  for (const field of ['username', 'uid', 'groups', 'extra'] as const) delete spec[field];
  Object.assign(spec, {
    username,
    groups: [...groups],
    ...(uid !== undefined && { uid }),
    ...(extra && { extra }),
  });
}

/** CertificateSubjectRestriction: refuses certificates for `system:masters`. @throws StatusError 403 */
export function restrictSubject(attributes: WriteAttributes): void {
  const { request = '', signerName } = objectOfKind<Request>(attributes.object).spec ?? {};
  if (signerName !== CLIENT_SIGNER) return;
  if (organizationsOf(request, attributes).includes(MASTERS))
    throw refused(attributes, `use of ${CLIENT_SIGNER} signer with ${MASTERS} group is not allowed`);
}

function organizationsOf(request: string, attributes: Attributes): readonly string[] {
  try {
    return readCertificateRequest(Buffer.from(request, 'base64').toString()).organizations;
  } catch (error) {
    throw refused(attributes, `failed to parse CSR: ${errorMessage(error)}`);
  }
}

/** CertificateApproval: the approver needs the right to approve for the signer. @throws StatusError 403 */
export function checkApproval(attributes: Attributes, access: AccessDecider): void {
  const signer = signerOf(attributes);
  if (!isAllowed(attributes, access, 'approve', signer))
    throw refused(
      attributes,
      `user not permitted to approve requests with signerName ${JSON.stringify(signer)}`,
    );
}

/**
 * CertificateSigning: signing, or reporting a failure, needs the right to sign for the signer. @throws StatusError 403
 */
export function checkSigning(attributes: Attributes, access: AccessDecider): void {
  const [before, after] = [attributes.oldObject, attributes.object].map(
    (object) => (object && objectOfKind<Request>(object).status) ?? {},
  );
  const isSame =
    before?.certificate === after?.certificate &&
    semanticEqual(before?.conditions ?? [], after?.conditions ?? []);
  const signer = signerOf(attributes);
  if (!isSame && !isAllowed(attributes, access, 'sign', signer))
    throw refused(
      attributes,
      `user not permitted to sign requests with signerName ${JSON.stringify(signer)}`,
    );
}

/** The signer before the update counts. */
function signerOf({ oldObject }: Attributes): string {
  return (oldObject && objectOfKind<Request>(oldObject).spec?.signerName) ?? '';
}

/** Rights may be for a signer, or for all of a domain: `example.com/*`. Source: certauthorization in k/k pkg. */
function isAllowed({ caller }: Attributes, access: AccessDecider, verb: string, signer: string): boolean {
  const domain = `${signer.split('/')[0] ?? ''}/*`;
  return [signer, domain].some((name) => {
    const question = { verb, name, group: 'certificates.k8s.io', resource: 'signers', subresource: '' };
    return access.decide(caller.user, { ...question, namespace: '' }).allowed;
  });
}

import type { CertificateRequest } from '@rollkeeper/tls';

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';
export const KUBELET_CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
const KUBELET_SERVING_SIGNER = 'kubernetes.io/kubelet-serving';
/** Accepts any request; it dates from before signers existed. */
const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';

/** The contents of a request, and its usages. */
export interface Asked {
  readonly request: CertificateRequest;
  readonly usages: readonly string[];
}

/** The problem with a request; undefined if there is none. */
type Check = (asked: Asked) => string | undefined;

/**
 * The requirements of the built-in signers. Sources: signer.go in k/k pkg/controller/certificates/signer, helpers.go in
 * k/k pkg/apis/certificates.
 */
export const SIGNERS: ReadonlyMap<string, Check> = new Map<string, Check>([
  [CLIENT_SIGNER, ({ usages }) => checkClientUsages(usages)],
  [KUBELET_CLIENT_SIGNER, checkKubeletClient],
  [KUBELET_SERVING_SIGNER, checkKubeletServing],
  [LEGACY_SIGNER, () => undefined],
]);

const SIGNATURE = 'digital signature';
const ENCIPHERMENT = 'key encipherment';
const NODES = 'system:nodes';
const NODE_PREFIX = 'system:node:';

function checkClientUsages(usages: readonly string[]): string | undefined {
  const wrong = usages.find((usage) => ![SIGNATURE, ENCIPHERMENT, 'client auth'].includes(usage));
  if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`;
  return usages.includes('client auth')
    ? undefined
    : 'missing required usage for client certificate: client auth';
}

/** Whether it is a kubelet's request for its client certificate. */
export function isKubeletClient(asked: Asked): boolean {
  return checkKubeletClient(asked) === undefined;
}

function checkKubeletClient({ request, usages }: Asked): string | undefined {
  const { dnsNames, emailAddresses, ipAddresses, uris } = request;
  return (
    checkOrganization(request) ??
    (dnsNames.length > 0 ? 'DNS subjectAltNames are not allowed' : undefined) ??
    (emailAddresses.length > 0 ? 'Email subjectAltNames are not allowed' : undefined) ??
    (ipAddresses.length > 0 ? 'IP subjectAltNames are not allowed' : undefined) ??
    (uris.length > 0 ? 'URI subjectAltNames are not allowed' : undefined) ??
    checkName(request) ??
    checkUsages(usages, 'client auth')
  );
}

function checkKubeletServing({ request, usages }: Asked): string | undefined {
  const { dnsNames, emailAddresses, ipAddresses, uris } = request;
  return (
    checkOrganization(request) ??
    (dnsNames.length + ipAddresses.length === 0 ? 'DNS or IP subjectAltName is required' : undefined) ??
    (emailAddresses.length > 0 ? 'Email subjectAltNames are not allowed' : undefined) ??
    (uris.length > 0 ? 'URI subjectAltNames are not allowed' : undefined) ??
    checkUsages(usages, 'server auth') ??
    checkName(request)
  );
}

function checkOrganization({ organizations }: CertificateRequest): string | undefined {
  const isNodes = organizations.length === 1 && organizations[0] === NODES;
  return isNodes ? undefined : `subject organization is not ${NODES}`;
}

function checkName({ commonName }: CertificateRequest): string | undefined {
  return commonName.startsWith(NODE_PREFIX)
    ? undefined
    : `subject common name does not begin with ${NODE_PREFIX}`;
}

/** Keys that cannot encipher need not list that usage. */
function checkUsages(usages: readonly string[], purpose: string): string | undefined {
  const wanted = new Set([SIGNATURE, ENCIPHERMENT, purpose]);
  const given = new Set(usages);
  const isMissing = (usage: string): boolean => usage !== ENCIPHERMENT && !given.has(usage);
  if (![...wanted].some(isMissing) && [...given].every((usage) => wanted.has(usage))) return undefined;
  return `usages did not match [${[...wanted].sort().join(' ')}]`;
}

import { readNamedFile } from '@rollkeeper/machinery/files';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { writableCopy } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { DerError, readCertificateRequest } from '@rollkeeper/tls';
import type { CertificateRequest, KeyPair } from '@rollkeeper/tls';
import type { ApiClient, ControllerDefinition } from '@rollkeeper/runtime';
import { SubjectAccessReview, typeMeta, CertificateSigningRequest } from '@rollkeeper/runtime';
import { clusterController, unlessGone } from '../shared/index.js';
import { decideRemoval, decideValidity, hasCondition, isApproved } from './decide-request.js';
import { isKubeletClient, KUBELET_CLIENT_SIGNER, SIGNERS } from './signers.js';

type Request = DeepReadonly<CertificateSigningRequest>;
type Condition = NonNullable<NonNullable<CertificateSigningRequest['status']>['conditions']>[number];

/** Imported lazily: the certificate library is large. */
const certificates = () => import('@rollkeeper/tls/issue-certificate');

/** The certificate authority that signs, in its current state. */
export interface SigningAuthority {
  /** PEM. */
  read(): Promise<KeyPair>;
  /** The clock for the validity of certificates, epoch milliseconds. @default the controllers' */
  nowMs?(): number;
}

/** An authority in files, which are reread for every signature because they may change. */
export function signingFiles(certFile: string, keyFile: string): SigningAuthority {
  return {
    async read() {
      const [cert, key] = await Promise.all([readNamedFile(certFile), readNamedFile(keyFile)]);
      return { cert, key };
    },
  };
}

/**
 * Signs approved requests for the built-in signers. Does nothing without an authority. Source: k/k
 * pkg/controller/certificates/signer.
 */
export function createCertificateSigningController(authority?: SigningAuthority): ControllerDefinition {
  return clusterController<CertificateSigningRequest>({
    name: SIGNING,
    aliases: ['csrsigning'],
    serviceAccount: 'certificate-controller',
    for: CertificateSigningRequest,
    predicates: [(event) => event.type !== 'deleted' && isToBeSigned(event.object)],
    async reconcile(_request, { client, clock, object }) {
      if (!authority || !object || !isToBeSigned(object)) return;
      const { expirationSeconds, request, signerName, usages = [] } = object.spec;
      const pem = pemOf(request);
      const asked = readRequest(pem);
      const problem = asked.problem ?? SIGNERS.get(signerName)!({ request: asked.request, usages });
      if (asked.problem !== undefined || problem !== undefined) {
        await addCondition(client, object, 'status', {
          ...{ type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message: problem },
          lastUpdateTime: toRfc3339(clock.now()),
        });
        return;
      }
      const nowMs = authority.nowMs?.() ?? clock.now();
      const validity = decideValidity(numberOf(expirationSeconds), nowMs);
      const { issueCertificate } = await certificates();
      const certificate = await issueCertificate(await authority.read(), pem, asked.request, {
        usages,
        ...validity,
      });
      const signed = writableCopy<CertificateSigningRequest>(object);
      signed.status = { ...signed.status, certificate: Buffer.from(certificate).toString('base64') };
      await client.update(CertificateSigningRequest, signed, { subresource: 'status' });
    },
  });
}

const SIGNING = 'certificatesigningrequest-signing';
export const certificateSigningController = createCertificateSigningController();

function isToBeSigned(request: Request): boolean {
  return (
    isApproved(request) &&
    !hasCondition(request, 'Failed') &&
    !request.status?.certificate &&
    SIGNERS.has(request.spec.signerName)
  );
}

/** The requester may be granted the right later. */
const ASK_AGAIN_MS = 60_000;

/**
 * Approves client certificates of kubelets if the requester has the right to have them approved. Source: k/k
 * pkg/controller/certificates/approver.
 */
export const certificateApprovingController = clusterController<CertificateSigningRequest>({
  name: 'certificatesigningrequest-approving',
  serviceAccount: 'certificate-controller',
  aliases: ['csrapproving'],
  for: CertificateSigningRequest,
  predicates: [(event) => event.type !== 'deleted' && isToBeJudged(event.object)],
  async reconcile(_request, { client, clock, object }) {
    if (!object || !isToBeJudged(object)) return {};
    const { request, usages = [], username } = object.spec;
    const { request: asked } = readRequest(pemOf(request));
    // The signer reports an unreadable request.
    if (!asked || !isKubeletClient({ request: asked, usages })) return {};
    const ways = [
      ...(username === asked.commonName ? [{ right: 'selfnodeclient', what: 'self kubelet' }] : []),
      { right: 'nodeclient', what: 'kubelet' },
    ];
    for (const { right, what } of ways) {
      if (!(await isAllowed(client, object, right))) continue;
      await addCondition(client, object, 'approval', {
        ...{ type: 'Approved', status: 'True', reason: 'AutoApproved' },
        message: `Auto approving ${what} client certificate after SubjectAccessReview.`,
        lastUpdateTime: toRfc3339(clock.now()),
      });
      return {};
    }
    return { requeueAfterMs: ASK_AGAIN_MS };
  },
});

function isToBeJudged(request: Request): boolean {
  const isDecided = hasCondition(request, 'Approved') || hasCondition(request, 'Denied');
  return !isDecided && !request.status?.certificate && request.spec.signerName === KUBELET_CLIENT_SIGNER;
}

async function isAllowed(client: ApiClient, { spec }: Request, subresource: string): Promise<boolean> {
  const { extra, groups, uid, username } = spec;
  const resource = 'certificatesigningrequests';
  const { status } = await client.create(SubjectAccessReview, {
    ...{ ...typeMeta(SubjectAccessReview), metadata: { name: '' } },
    spec: {
      ...{ user: username, uid, groups, extra },
      resourceAttributes: { group: 'certificates.k8s.io', resource, subresource, verb: 'create' },
    },
  });
  return status?.allowed === true;
}

/** Deletes obsolete requests: decided an hour ago, pending for a day, or with an expired certificate. */
export const certificateCleanerController = clusterController<CertificateSigningRequest>({
  name: 'certificatesigningrequest-cleaner',
  serviceAccount: 'certificate-controller',
  aliases: ['csrcleaner'],
  for: CertificateSigningRequest,
  predicates: [(event) => event.type !== 'deleted'],
  async reconcile({ name }, { client, clock, logger, object }) {
    if (!object || object.metadata.deletionTimestamp !== undefined) return {};
    const removalMs = decideRemoval(object, await endOf(object, (problem) => logger.warn(problem, { name })));
    if (removalMs === undefined) return {};
    const leftMs = removalMs - clock.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    const { resourceVersion, uid } = object.metadata;
    const preconditions = { uid, resourceVersion };
    await unlessGone(client.delete(CertificateSigningRequest, { name }, { preconditions }));
    return {};
  },
});

/** Expiry of a request's certificate; other signers may have stored something else there. */
async function endOf({ status }: Request, tell: (problem: string) => void): Promise<number | undefined> {
  if (!status?.certificate) return undefined;
  const { certificateEndMs } = await certificates();
  try {
    return certificateEndMs(pemOf(status.certificate));
  } catch (error) {
    tell(`the certificate of a signing request cannot be read: ${errorMessage(error)}`);
    return undefined;
  }
}

async function addCondition(
  client: ApiClient,
  request: Request,
  subresource: 'approval' | 'status',
  condition: Condition,
): Promise<void> {
  const changed = writableCopy<CertificateSigningRequest>(request);
  changed.status = { ...changed.status, conditions: [...(changed.status?.conditions ?? []), condition] };
  await client.update(CertificateSigningRequest, changed, { subresource });
}

type ReadRequest =
  | { readonly request: CertificateRequest; readonly problem?: undefined }
  | { readonly request?: undefined; readonly problem: string };

function readRequest(pem: string): ReadRequest {
  try {
    return { request: readCertificateRequest(pem) };
  } catch (error) {
    if (error instanceof DerError) return { problem: `unable to parse the request: ${error.message}` };
    throw error;
  }
}

function pemOf(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}

function numberOf(value: number | bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

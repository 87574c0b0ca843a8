import type { ResourceSlice as IResourceSlice } from '@rollkeeper/machinery/types/resource-v1';
import type { DecodedObject, Pod } from '@rollkeeper/machinery/kubernetes';
import { PersistentVolumeClaim, ownField, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import { nodeOfUser } from '../../auth/index.js';
import { notFound } from '../../../schema/errors/index.js';
import { refused } from '../attributes.js';
import type { Attributes } from '../attributes.js';
import type { NodeRequest, NodeRestrictionKnowledge } from './node-request.js';
import { checkNode } from './node-object.js';
import { checkMirrorPod, podNamed } from './pod-of-node.js';
import { checkTokenOfPod } from './token-of-pod.js';
import type { CertificateSigningRequest } from '@rollkeeper/machinery/types/certificates-v1';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { readCertificateRequest } from '@rollkeeper/tls';

const SIGNERS = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

/** A kubelet asks for certificates of its own node alone. @throws StatusError 403 */
function checkCertificateOfNode({ attributes, node }: NodeRequest): void {
  if (attributes.operation !== 'CREATE') return;
  const { spec }: Partial<DecodedObject<CertificateSigningRequest>> = attributes.object ?? {};
  const { request = '', signerName = '' } = spec ?? {};
  if (!SIGNERS.includes(signerName) || commonNameOf(request, attributes) === `system:node:${node}`) return;
  throw refused(attributes, `can only create a node CSR with CN=system:node:${node}`);
}

function commonNameOf(request: string, attributes: Attributes): string {
  try {
    return readCertificateRequest(Buffer.from(request, 'base64').toString()).commonName;
  } catch (error) {
    throw refused(attributes, `unable to parse csr: ${errorMessage(error)}`);
  }
}

type Check = (request: NodeRequest) => void | Promise<void>;

const LEASES = 'kube-node-lease';

/** By qualified resource. Others are left to the roles. */
const CHECKS: Readonly<Record<string, Check>> = {
  pods: checkPod,
  nodes: checkNode,
  [PersistentVolumeClaim.resource]: checkClaim,
  serviceaccounts: checkTokenOfPod,
  'leases.coordination.k8s.io': checkLease,
  'csinodes.storage.k8s.io': (request) => checkOwnName(request, 'CSINode'),
  'resourceslices.resource.k8s.io': checkSlice,
  'certificatesigningrequests.certificates.k8s.io': checkCertificateOfNode,
};

/** The resources that it concerns, with their subresources; the object itself is ''. */
export const NODE_RESTRICTED: Readonly<Record<string, readonly string[]>> = {
  pods: ['', 'status', 'eviction', 'binding', 'ephemeralcontainers', 'resize'],
  nodes: ['', 'status'],
  [PersistentVolumeClaim.resource]: ['', 'status'],
  serviceaccounts: ['token'],
  'leases.coordination.k8s.io': [''],
  'csinodes.storage.k8s.io': [''],
  'resourceslices.resource.k8s.io': [''],
  'certificatesigningrequests.certificates.k8s.io': [''],
};

/**
 * Keeps a kubelet to its own node and the pods on it. Source: plugin/pkg/admission/noderestriction.
 * @param resource qualified
 * @throws StatusError 403, 404
 */
export async function restrictNode(
  resource: string,
  attributes: Attributes,
  known: NodeRestrictionKnowledge,
): Promise<void> {
  const { user } = attributes.caller;
  const node = nodeOfUser(user);
  if (node === undefined) return;
  if (node === '')
    throw refused(attributes, `could not determine node from user ${JSON.stringify(user.username)}`);
  await ownField(CHECKS, resource)?.({ node, attributes, known });
}

async function checkPod(request: NodeRequest): Promise<void> {
  const { attributes, node } = request;
  switch (attributes.subresource) {
    case '':
      if (attributes.operation === 'CREATE') return checkMirrorPod(request);
      if (attributes.operation !== 'DELETE')
        throw refused(
          attributes,
          `unexpected operation "${attributes.operation}", node "${node}" can only create and delete mirror pods`,
        );
      if ((await podNamed(request, attributes.name)).spec?.nodeName === node) return;
      throw refused(attributes, `node "${node}" can only delete pods with spec.nodeName set to itself`);
    case 'status':
      return checkPodStatus(request);
    case 'eviction':
      if ((await podNamed(request, attributes.name)).spec?.nodeName === node) return;
      throw refused(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
    default:
      throw refused(
        attributes,
        `unexpected pod subresource "${attributes.subresource}", only 'status' and 'eviction' are allowed`,
      );
  }
}

function checkPodStatus({ attributes, node }: NodeRequest): void {
  const pod: Partial<DecodedObject<Pod>> = attributes.object ?? {};
  const old: Partial<DecodedObject<Pod>> = attributes.oldObject ?? {};
  if (old.spec?.nodeName !== node)
    throw refused(
      attributes,
      `node "${node}" can only update pod status for pods with spec.nodeName set to itself`,
    );
  if (!semanticEqual(pod.metadata?.labels, old.metadata?.labels))
    throw refused(attributes, `node "${node}" cannot update labels through pod status`);
  if (!semanticEqual(pod.status?.resourceClaimStatuses, old.status?.resourceClaimStatuses))
    throw refused(attributes, `node "${node}" cannot update resource claim statues`);
  if (!semanticEqual(pod.status?.extendedResourceClaimStatus, old.status?.extendedResourceClaimStatus))
    throw refused(attributes, `node "${node}" cannot update extended resource claim statues`);
}

function checkClaim({ attributes, node }: NodeRequest): void {
  if (attributes.subresource !== 'status') throw refused(attributes, 'may only update PVC status');
  if (semanticEqual(untouchable(attributes.object), untouchable(attributes.oldObject))) return;
  throw refused(
    attributes,
    `node "${node}" is not allowed to update fields other than status.quantity and status.conditions`,
  );
}

/** A claim without what a kubelet says of it. */
function untouchable(object: Attributes['oldObject']): object {
  const { metadata, status, ...rest }: Partial<DecodedObject<PersistentVolumeClaim>> = object ?? {};
  const { managedFields: _fields, resourceVersion: _version, ...ownMetadata } = metadata ?? {};
  const {
    allocatedResourceStatuses: _statuses,
    allocatedResources: _allocated,
    capacity: _capacity,
    conditions: _conditions,
    ...ownStatus
  } = status ?? {};
  return { ...rest, metadata: ownMetadata, status: ownStatus };
}

function checkLease(request: NodeRequest): void {
  if (request.attributes.namespace !== LEASES)
    throw refused(request.attributes, `can only access leases in the "${LEASES}" system namespace`);
  checkOwnName(request, 'node lease');
}

function checkOwnName({ attributes, node }: NodeRequest, what: string): void {
  const { name, object, operation } = attributes;
  const asked = operation === 'CREATE' ? object?.metadata.name : name;
  if (asked === node) return;
  throw refused(attributes, `can only access ${what} with the same name as the requesting node`);
}

function checkSlice({ attributes, node }: NodeRequest): void {
  const { object, oldObject, operation } = attributes;
  if (operation === 'UPDATE') return;
  const slice: DecodedObject<IResourceSlice> | undefined = operation === 'CREATE' ? object : oldObject;
  if (!slice) throw notFound(attributes.kind.type, attributes.name);
  if (slice.spec?.nodeName === node) return;
  const verb = operation === 'CREATE' ? 'create' : 'delete';
  throw refused(attributes, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`);
}

import { MIRROR_POD, isMirrorPod } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject, Pod } from '@rollkeeper/machinery/kubernetes';
import { notFound } from '../../../schema/errors/index.js';
import { referencesOf } from '../../../kinds/index.js';
import { refused } from '../attributes.js';
import type { NodeRequest } from './node-request.js';

/** The fields that a pod which a node creates for itself may not have, as refusals call them. */
const UNNAMED = [
  ['serviceaccounts', 'a service account'],
  ['secrets', 'secrets'],
  ['configmaps', 'configmaps'],
  ['persistentvolumeclaims', 'persistentvolumeclaims'],
  ['resourceclaims.resource.k8s.io', 'resourceclaims'],
] as const;

/** @throws StatusError 404 */
export async function podNamed(
  { attributes, known }: NodeRequest,
  name: string,
): Promise<DecodedObject<Pod>> {
  const found = await known.storage.get({ resource: 'pods', namespace: attributes.namespace, name });
  if (!found) throw notFound({ group: '', resource: 'pods' }, name);
  return found.object;
}

/**
 * A kubelet shows the pods of its own files, and gets no rights by them.
 * @throws StatusError 403
 */
export function checkMirrorPod({ attributes, known, node }: NodeRequest): void {
  const { metadata = { name: '' }, spec = {}, status }: Partial<DecodedObject<Pod>> = attributes.object ?? {};
  const refuse = (problem: string): never => {
    throw refused(attributes, problem);
  };
  if (!isMirrorPod({ metadata }))
    refuse(`pod does not have "${MIRROR_POD}" annotation, node "${node}" can only create mirror pods`);
  if (spec.nodeName !== node) refuse(`node "${node}" can only create pods with spec.nodeName set to itself`);
  const owners = metadata.ownerReferences ?? [];
  if (owners.length > 1)
    refuse(`node "${node}" can only create pods with a single owner reference set to itself`);
  const [owner] = owners;
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node)
    throw refused(attributes, `node "${node}" can only create pods with an owner reference set to itself`);
  if (owner.controller !== true)
    refuse(`node "${node}" can only create pods with a controller owner reference set to itself`);
  if (owner.blockOwnerDeletion === true)
    refuse(`node "${node}" must not set blockOwnerDeletion on an owner reference`);
  const own = known.nodes.get('', node);
  if (!own) throw notFound({ group: '', resource: 'nodes' }, node);
  if (owner.uid !== own.metadata.uid)
    refuse(`node ${node} UID mismatch: expected ${owner.uid} got ${own.metadata.uid}`);
  // The annotation that makes it a mirror pod must not hide what it names.
  const plain = { metadata: { name: metadata.name }, spec, status };
  const named = new Set<string>(referencesOf(plain).map(({ resource }) => resource));
  for (const [resource, words] of UNNAMED)
    if (named.has(resource)) refuse(`node "${node}" can not create pods that reference ${words}`);
  const bundle = (spec.volumes ?? []).some(({ projected }) =>
    projected?.sources?.some(({ clusterTrustBundle }) => clusterTrustBundle),
  );
  if (bundle) refuse(`node "${node}" can not create pods that reference clustertrustbundles`);
}

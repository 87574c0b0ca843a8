import type { CSIDriver } from '@rollkeeper/machinery/types/storage-v1';
import type { PersistentVolume, PersistentVolumeClaim, Volume } from '@rollkeeper/machinery/types/core-v1';
import { objectOfKind } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject, KubernetesObject, Pod } from '@rollkeeper/machinery/kubernetes';
import { refused } from '../attributes.js';
import type { NodeRequest } from './node-request.js';
import { podNamed } from './pod-of-node.js';

interface TokenRequest extends KubernetesObject {
  readonly spec?: {
    readonly audiences?: readonly string[];
    readonly boundObjectRef?: {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly name?: string;
      readonly uid?: string;
    };
  };
}

/**
 * A kubelet gets tokens for the pods on its node, and for whom the pod, or a driver of its volumes, wants them.
 * @throws StatusError 403, 404
 */
export async function checkTokenOfPod(request: NodeRequest): Promise<void> {
  const { attributes, node } = request;
  const { spec }: Partial<TokenRequest> = attributes.object ?? {};
  const { audiences = [], boundObjectRef: bound } = spec ?? {};
  if (bound?.apiVersion !== 'v1' || bound.kind !== 'Pod' || !bound.name)
    throw refused(attributes, 'node requested token not bound to a pod');
  if (!bound.uid) throw refused(attributes, 'node requested token with a pod binding without a uid');
  const pod = await podNamed(request, bound.name);
  if (bound.uid !== pod.metadata.uid)
    throw refused(
      attributes,
      `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  if (pod.spec?.nodeName !== node)
    throw refused(attributes, 'node requested token bound to a pod scheduled on a different node');
  if (audiences.length > 1) throw refused(attributes, 'node may only request 0 or 1 audiences');
  const [audience = ''] = audiences;
  if (await wantsAudience(request, pod, audience)) return;
  const { user } = attributes.caller;
  const { allowed } = request.known.access.decide(user, {
    verb: 'request-serviceaccounts-token-audience',
    group: '',
    resource: audience,
    subresource: '',
    namespace: attributes.namespace,
    name: attributes.name,
  });
  if (!allowed)
    throw refused(
      attributes,
      `audience ${JSON.stringify(audience)} not found in pod spec volume, ${user.username} is not authorized to request tokens for this audience`,
    );
}

async function wantsAudience(
  request: NodeRequest,
  pod: DecodedObject<Pod>,
  audience: string,
): Promise<boolean> {
  for (const volume of pod.spec?.volumes ?? []) {
    const sources = volume.projected?.sources ?? [];
    if (sources.some(({ serviceAccountToken: token }) => token && (token.audience ?? '') === audience))
      return true;
    const driver = volume.csi?.driver ?? (await driverOfClaim(request, pod, volume));
    if (driver !== undefined && (await driverWants(request, driver, audience))) return true;
  }
  return false;
}

/** The driver of the volume that a claim is bound to. */
async function driverOfClaim(
  { attributes, known }: NodeRequest,
  pod: DecodedObject<Pod>,
  volume: Decoded<Volume>,
): Promise<string | undefined> {
  const name = volume.ephemeral
    ? `${pod.metadata.name}-${volume.name}`
    : volume.persistentVolumeClaim?.claimName;
  if (name === undefined) return undefined;
  const { namespace } = attributes;
  const claim = await known.storage.get({ resource: 'persistentvolumeclaims', namespace, name });
  const bound = claim && objectOfKind<DecodedObject<PersistentVolumeClaim>>(claim.object).spec?.volumeName;
  if (!bound) return undefined;
  const found = await known.storage.get({ resource: 'persistentvolumes', namespace: '', name: bound });
  return found && objectOfKind<DecodedObject<PersistentVolume>>(found.object).spec?.csi?.driver;
}

async function driverWants({ known }: NodeRequest, name: string, audience: string): Promise<boolean> {
  const found = await known.storage.get({ resource: 'csidrivers.storage.k8s.io', namespace: '', name });
  const { tokenRequests = [] } = (found && objectOfKind<DecodedObject<CSIDriver>>(found.object).spec) ?? {};
  return tokenRequests.some((wanted) => wanted.audience === audience);
}

import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import {
  CLAIM_PROTECTION,
  VOLUME_ATTRIBUTES_CLASS_PROTECTION,
  VOLUME_PROTECTION,
  claimNamesOf,
  ephemeralClaimName,
  keyOf,
} from '@rollkeeper/machinery/kubernetes';
import type { ApiClient, Kind, ResourceEvent } from '@rollkeeper/runtime';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  indexBy,
  watch,
  VolumeAttributesClass,
} from '@rollkeeper/runtime';
import { WHOLE_PODS, clusterController, unlessGone } from '../shared/index.js';

/** Pods by the keys of the claims that they use. */
const CLAIMS_INDEX = 'claims';
const PAGE = 500;

type Readable = DeepReadonly<KubernetesObject>;
type Volume = NonNullable<DeepReadonly<Pod>['spec']['volumes']>[number];

/**
 * Keeps a claim being deleted as long as a pod uses it, even a finished one. Source: k/k
 * pkg/controller/volume/pvcprotection.
 */
export const claimProtectionController = clusterController<PersistentVolumeClaim>({
  name: 'persistentvolumeclaim-protection',
  serviceAccount: 'pvc-protection-controller',
  aliases: ['pvc-protection'],
  trims: WHOLE_PODS,
  for: PersistentVolumeClaim,
  predicates: [isToBeLookedAt(CLAIM_PROTECTION)],
  indexes: [indexBy(Pod, CLAIMS_INDEX, claimKeysOf)],
  watches: [
    watch(Pod, function* (pod, listerOf) {
      for (const name of claimNamesOf(pod)) {
        const ref = { namespace: pod.metadata.namespace, name };
        if (listerOf(PersistentVolumeClaim).get(keyOf(ref))?.metadata.deletionTimestamp) yield ref;
      }
    }),
  ],
  async reconcile({ key, namespace }, { client, lister, object: claim }) {
    const next = claim && decideProtection(claim, CLAIM_PROTECTION);
    if (!next) return;
    if (next.action === 'give-up') {
      if (
        lister(Pod)
          .byIndex(CLAIMS_INDEX, key)
          .some((pod) => uses(pod, claim))
      )
        return;
      // The cache may not show a pod that was just scheduled.
      if (await isUsed(client, namespace ?? '', claim)) return;
    }
    await setFinalizers(client, PersistentVolumeClaim, claim, next.finalizers);
  },
});

/** Keeps a volume being deleted as long as it is bound. Source: k/k pkg/controller/volume/pvprotection. */
export const volumeProtectionController = clusterController<PersistentVolume>({
  name: 'persistentvolume-protection',
  serviceAccount: 'pv-protection-controller',
  aliases: ['pv-protection'],
  for: PersistentVolume,
  predicates: [isToBeLookedAt(VOLUME_PROTECTION)],
  async reconcile(_request, { client, object: volume }) {
    const next = volume && decideProtection(volume, VOLUME_PROTECTION);
    if (!next || (next.action === 'give-up' && volume.status?.phase === 'Bound')) return;
    await setFinalizers(client, PersistentVolume, volume, next.finalizers);
  },
});

/** Keeps a VolumeAttributesClass being deleted as long as a claim or a volume names it. Source: k/k pkg/controller/volume/vacprotection. */
export const attributesClassProtectionController = clusterController<VolumeAttributesClass>({
  name: 'volumeattributesclass-protection',
  for: VolumeAttributesClass,
  predicates: [isToBeLookedAt(VOLUME_ATTRIBUTES_CLASS_PROTECTION)],
  watches: [
    watch(PersistentVolumeClaim, (_claim, listerOf) => leaving(listerOf(VolumeAttributesClass).list())),
    watch(PersistentVolume, (_volume, listerOf) => leaving(listerOf(VolumeAttributesClass).list())),
  ],
  async reconcile({ name }, { client, lister, object: attributes }) {
    const next = attributes && decideProtection(attributes, VOLUME_ATTRIBUTES_CLASS_PROTECTION);
    if (!next) return;
    const isNamed =
      lister(PersistentVolumeClaim)
        .list()
        .some((claim) => attributesClassesOf(claim, undefined).includes(name)) ||
      lister(PersistentVolume)
        .list()
        .some((volume) => attributesClassesOf(undefined, volume).includes(name));
    if (next.action === 'give-up' && isNamed) return;
    await setFinalizers(client, VolumeAttributesClass, attributes, next.finalizers);
  },
});

/** The VolumeAttributesClasses that a claim or a volume names. */
export function attributesClassesOf(
  claim: DeepReadonly<PersistentVolumeClaim> | undefined,
  volume: DeepReadonly<PersistentVolume> | undefined,
): readonly string[] {
  return [
    claim?.spec.volumeAttributesClassName,
    claim?.status?.currentVolumeAttributesClassName,
    claim?.status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
    volume?.spec.volumeAttributesClassName,
  ].flatMap((name) => name || []);
}

/** The classes that are being deleted. An object that no longer names one does not say so, so each is looked at. */
function leaving(classes: readonly Readable[]): { readonly name: string }[] {
  return classes
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    .map(({ metadata }) => ({ name: metadata.name }));
}

interface Protection {
  /**
   * `protect`: it is not being deleted and must have the finalizer; `give-up`: it is being deleted, and may go if it is
   * unused.
   */
  readonly action: 'protect' | 'give-up';
  /** The resulting finalizers. */
  readonly finalizers: readonly string[];
}

/** The action on the finalizer of an object; undefined for none. */
export function decideProtection({ metadata }: Readable, finalizer: string): Protection | undefined {
  const { deletionTimestamp, finalizers = [] } = metadata;
  const isProtected = finalizers.includes(finalizer);
  if (deletionTimestamp === undefined)
    return isProtected ? undefined : { action: 'protect', finalizers: [...finalizers, finalizer] };
  if (!isProtected) return undefined;
  return { action: 'give-up', finalizers: finalizers.filter((each) => each !== finalizer) };
}

function isToBeLookedAt(finalizer: string) {
  return (event: ResourceEvent<KubernetesObject>): boolean =>
    event.type !== 'deleted' && decideProtection(event.object, finalizer) !== undefined;
}

function claimKeysOf(pod: DeepReadonly<Pod>): readonly string[] {
  const { namespace } = pod.metadata;
  return claimNamesOf(pod).map((name) => keyOf({ namespace, name }));
}

/**
 * Only a scheduled pod can hold a volume: others are not started with a claim being deleted. A pod whose containers
 * have stopped releases its own claims, which its deletion may wait for.
 */
export function uses(
  { metadata, spec }: DeepReadonly<Pod>,
  { metadata: { name: claim } }: Readable,
): boolean {
  const isShutDown = metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
  const isMeant = ({ ephemeral, name, persistentVolumeClaim }: Volume): boolean =>
    persistentVolumeClaim?.claimName === claim ||
    (!isShutDown && ephemeral !== undefined && ephemeralClaimName(metadata.name, name) === claim);
  return Boolean(spec.nodeName) && (spec.volumes ?? []).some(isMeant);
}

async function isUsed(client: ApiClient, namespace: string, claim: Readable): Promise<boolean> {
  let from: string | undefined;
  do {
    const page = await client.list<Pod>(Pod, { namespace, limit: PAGE, continueToken: from });
    if (page.items.some((pod) => uses(pod, claim))) return true;
    from = page.continueToken;
  } while (from !== undefined);
  return false;
}

async function setFinalizers<T extends KubernetesObject>(
  client: ApiClient,
  kind: Kind<T>,
  { metadata }: Readable,
  finalizers: readonly string[],
): Promise<void> {
  const { name, namespace, resourceVersion, uid } = metadata;
  const body = { metadata: { uid, resourceVersion, finalizers } };
  await unlessGone(client.patch(kind, { namespace, name }, { type: 'merge', body }));
}

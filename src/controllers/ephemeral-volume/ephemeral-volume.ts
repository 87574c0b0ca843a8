import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import {
  writableCopy,
  ephemeralClaimName,
  isControlledBy,
  isPodFinished,
} from '@rollkeeper/machinery/kubernetes';
import { errorMessage } from '@rollkeeper/machinery/errors';
import {
  PersistentVolumeClaim,
  Pod,
  isAlreadyExists,
  isNamespaceTerminating,
  keyOf,
  newControllerRef,
  typeMeta,
  watch,
} from '@rollkeeper/runtime';
import { WHOLE_PODS, clusterController } from '../shared/index.js';

type ReadablePod = DeepReadonly<Pod>;
type Claim = DeepReadonly<PersistentVolumeClaim>;

/**
 * Creates the claims of pods' ephemeral volumes, which are deleted with their pod. Source: k/k
 * pkg/controller/volume/ephemeral.
 */
export const ephemeralVolumeController = clusterController<Pod>({
  name: 'ephemeral-volume',
  trims: WHOLE_PODS,
  for: Pod,
  predicates: [({ object, type }) => type !== 'deleted' && wantedClaims(object).length > 0],
  watches: [
    watch(
      PersistentVolumeClaim,
      ({ metadata }) =>
        (metadata.ownerReferences ?? [])
          .filter(({ controller, kind }) => controller && kind === Pod.kind)
          .map(({ name }) => ({ namespace: metadata.namespace, name })),
      ({ type }) => type === 'deleted',
    ),
  ],
  async reconcile(_request, { client, events, lister, object: pod }) {
    for (const claim of pod ? wantedClaims(pod) : []) {
      const found = lister(PersistentVolumeClaim).get(keyOf(claim.metadata));
      if (found && pod && !isControlledBy(found, pod)) throw new Error(notItsOwn(found, pod));
      if (found || !pod) continue;
      try {
        await client.create(PersistentVolumeClaim, writableCopy<PersistentVolumeClaim>(claim));
      } catch (error) {
        if (isAlreadyExists(error) || isNamespaceTerminating(error)) continue;
        const message = `ephemeral volume ${claim.metadata.name}: ${errorMessage(error)}`;
        events.record(pod, { type: 'Warning', reason: 'FailedBinding', message });
        throw error;
      }
    }
  },
});

/** The required claims of a pod, from its templates. */
export function wantedClaims(pod: ReadablePod): readonly Claim[] {
  const { deletionTimestamp, name, namespace } = pod.metadata;
  if (deletionTimestamp !== undefined || isPodFinished(pod)) return [];
  return (pod.spec.volumes ?? []).flatMap(({ ephemeral, name: volume }): Claim[] => {
    const template = ephemeral?.volumeClaimTemplate;
    if (!template) return [];
    const { annotations, labels } = template.metadata ?? {};
    return [
      {
        ...typeMeta(PersistentVolumeClaim),
        metadata: {
          name: ephemeralClaimName(name, volume),
          namespace,
          ...(labels && { labels }),
          ...(annotations && { annotations }),
          ownerReferences: [newControllerRef(pod)],
        },
        spec: template.spec,
      },
    ];
  });
}

function notItsOwn({ metadata: claim }: Claim, { metadata: pod }: ReadablePod): string {
  return `PVC ${keyOf(claim)} was not created for pod ${keyOf(pod)} (pod is not owner)`;
}

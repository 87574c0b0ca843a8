import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { sameJson } from '@rollkeeper/machinery/kubernetes';
import type { ObjectRef, ReconcileContext } from '@rollkeeper/runtime';
import {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  indexBy,
  isAlreadyExists,
  watch,
  CSIDriver,
  VolumeAttachment,
} from '@rollkeeper/runtime';
import { NODE_INDEX, WHOLE_PODS, clusterController, nodeIndex, unlessGone } from '../shared/index.js';
import { decideAttachments, isToBeAttached } from './decide-attachments.js';
import type { AttachPlan } from './decide-attachments.js';

type ReadableNode = DeepReadonly<Node>;
type Sync = ReconcileContext<Node>;

const hasClaims = ({ spec }: DeepReadonly<Pod>): boolean =>
  (spec.volumes ?? []).some(({ ephemeral, persistentVolumeClaim }) => ephemeral ?? persistentVolumeClaim);
const nodeOf = ({ spec }: DeepReadonly<Pod>): ObjectRef[] => (spec.nodeName ? [{ name: spec.nodeName }] : []);

/**
 * Attaches the CSI volumes of pods to their nodes, and detaches those that no pod needs, as VolumeAttachments; says so in
 * the status of nodes. For the simulated driver it is also what a driver's attacher is. Source: k/k
 * pkg/controller/volume/attachdetach.
 */
export const attachDetachController = clusterController<Node>({
  name: 'persistentvolume-attach-detach',
  serviceAccount: 'attachdetach-controller',
  aliases: ['attachdetach', 'attach-detach'],
  eventSource: 'attachdetach-controller',
  trims: WHOLE_PODS,
  for: Node,
  predicates: [({ type }) => type === 'added'],
  indexes: [indexBy(Pod, NODE_INDEX, nodeIndex)],
  reads: [CSIDriver, PersistentVolumeClaim],
  watches: [
    watch(Pod, nodeOf, ({ object }) => hasClaims(object)),
    watch(
      PersistentVolume,
      ({ spec }, listerOf) =>
        listerOf(Pod)
          .list()
          .filter(({ metadata }) => metadata.namespace === spec.claimRef?.namespace)
          .filter(hasClaims)
          .flatMap(nodeOf),
      ({ object, type }) => type !== 'deleted' && object.spec.csi !== undefined,
    ),
    watch(VolumeAttachment, ({ metadata, spec }, listerOf) => {
      const { persistentVolumeName } = spec.source;
      const same = listerOf(VolumeAttachment)
        .list()
        .filter((one) => one.spec.source.persistentVolumeName === persistentVolumeName);
      // A node that was refused the volume has no attachment.
      const waiting = metadata.deletionTimestamp === undefined ? [] : listerOf(Node).list();
      return [
        { name: spec.nodeName },
        ...same.map((one) => ({ name: one.spec.nodeName })),
        ...waiting.map((node) => ({ name: node.metadata.name })),
      ];
    }),
    watch(
      VolumeAttachment,
      (_attachment, listerOf) => listerOf(Pod).list().filter(hasClaims).flatMap(nodeOf),
      ({ type }) => type === 'deleted',
    ),
  ],
  async reconcile({ name }, sync) {
    const { client, lister, object: node } = sync;
    const plan = decideAttachments({
      node: name,
      pods: lister(Pod).byIndex(NODE_INDEX, name),
      claimOf: (key) => lister(PersistentVolumeClaim).get(key),
      volumeOf: (volume) => lister(PersistentVolume).get(volume),
      driverOf: (driver) => lister(CSIDriver).get(driver),
      attachments: lister(VolumeAttachment).list(),
    });
    await carryOut(plan, sync);
    for (const attachment of lister(VolumeAttachment).list())
      if (attachment.spec.nodeName === name && isToBeAttached(attachment))
        await unlessGone(
          client.patch(
            VolumeAttachment,
            { name: attachment.metadata.name },
            { type: 'merge', body: { status: { attached: true } } },
            { subresource: 'status' },
          ),
        );
    if (node) await tellNode(node, plan, sync);
  },
});

async function carryOut({ attach, detach, refused }: AttachPlan, { client, events }: Sync): Promise<void> {
  for (const { metadata } of detach) {
    const { name, uid } = metadata;
    await unlessGone(client.delete(VolumeAttachment, { name }, { preconditions: { uid } }));
  }
  for (const { message, pod } of refused)
    events.record(pod, { type: 'Warning', reason: 'FailedAttachVolume', message });
  for (const { attachment, pod, volume } of attach) {
    try {
      await client.create(VolumeAttachment, attachment);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    const message = `AttachVolume.Attach succeeded for volume "${volume}" `;
    if (!isToBeAttached(attachment)) continue;
    events.record(pod, { type: 'Normal', reason: 'SuccessfulAttachVolume', message });
  }
}

async function tellNode(node: ReadableNode, { attached }: AttachPlan, { client }: Sync): Promise<void> {
  const { name, uid } = node.metadata;
  const before = node.status?.volumesAttached ?? [];
  if (sameJson(before, attached)) return;
  const body = { metadata: { uid }, status: { volumesAttached: attached } };
  await unlessGone(client.patch(Node, { name }, { type: 'merge', body }, { subresource: 'status' }));
}

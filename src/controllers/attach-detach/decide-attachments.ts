import { createHash } from 'node:crypto';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { SIMULATED_CSI_DRIVER, claimNamesOf, isPodFinished, keyOf } from '@rollkeeper/machinery/kubernetes';
import type { PersistentVolume, PersistentVolumeClaim, Pod, CSIDriver } from '@rollkeeper/runtime';
import { typeMeta, VolumeAttachment } from '@rollkeeper/runtime';

type ReadablePod = DeepReadonly<Pod>;
type Volume = DeepReadonly<PersistentVolume>;
type Attachment = DeepReadonly<VolumeAttachment>;

interface AttachFacts {
  readonly node: string;
  /** On the node. */
  readonly pods: readonly ReadablePod[];
  readonly claimOf: (key: string) => DeepReadonly<PersistentVolumeClaim> | undefined;
  readonly volumeOf: (name: string) => Volume | undefined;
  readonly driverOf: (name: string) => DeepReadonly<CSIDriver> | undefined;
  /** The attachments of all nodes. */
  readonly attachments: readonly Attachment[];
}

export interface AttachPlan {
  readonly attach: readonly {
    readonly attachment: VolumeAttachment;
    readonly volume: string;
    readonly pod: ReadablePod;
  }[];
  /** The attachments that no pod on the node needs any more. */
  readonly detach: readonly Attachment[];
  /** Volumes that another node has, and that only one may have. */
  readonly refused: readonly { readonly pod: ReadablePod; readonly message: string }[];
  /** The volumes that the node's status has to list. */
  readonly attached: readonly { readonly name: string; readonly devicePath: string }[];
}

/**
 * The volumes to attach to a node, and to detach from it. Attachments that others have made, under names of their own,
 * are left alone and say nothing about where a volume is. Source: k/k pkg/controller/volume/attachdetach.
 */
export function decideAttachments(facts: AttachFacts): AttachPlan {
  const { node, volumeOf } = facts;
  const attachments = facts.attachments.filter((one) => isOurs(one, volumeOf));
  const own = attachments.filter(({ spec }) => spec.nodeName === node);
  const wanted = volumesWanted(facts);
  const attach: AttachPlan['attach'][number][] = [];
  const refused: AttachPlan['refused'][number][] = [];
  for (const { pod, volume } of wanted.values()) {
    const { name } = volume.metadata;
    if (own.some(({ spec }) => spec.source.persistentVolumeName === name)) continue;
    const others = attachments.filter(
      ({ spec }) => spec.source.persistentVolumeName === name && spec.nodeName !== node,
    );
    if (others.length > 0 && isForOneNode(volume)) refused.push({ pod, message: multiAttach(name) });
    else attach.push({ pod, volume: name, attachment: newAttachment(volume, node) });
  }
  const detach = own.filter(
    ({ metadata, spec }) =>
      metadata.deletionTimestamp === undefined && !wanted.has(spec.source.persistentVolumeName ?? ''),
  );
  const attached = own
    .filter((one) => one.status?.attached === true && !detach.includes(one))
    .flatMap(({ spec }) => {
      const volume = facts.volumeOf(spec.source.persistentVolumeName ?? '');
      return volume?.spec.csi ? [{ name: uniqueName(volume.spec.csi), devicePath: '' }] : [];
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { attach, refused, detach, attached };
}

/** The attachable volumes of the node's pods, each with the first pod that needs it. */
function volumesWanted({
  claimOf,
  driverOf,
  pods,
  volumeOf,
}: AttachFacts): ReadonlyMap<string, { readonly pod: ReadablePod; readonly volume: Volume }> {
  const wanted = new Map<string, { pod: ReadablePod; volume: Volume }>();
  for (const pod of pods.filter((each) => !isPodFinished(each)))
    for (const name of claimNamesOf(pod)) {
      const claim = claimOf(keyOf({ namespace: pod.metadata.namespace, name }));
      const volume = volumeOf(claim?.spec.volumeName ?? '');
      const { csi } = volume?.spec ?? {};
      if (!volume || !csi || driverOf(csi.driver)?.spec.attachRequired === false) continue;
      if (volume.spec.claimRef?.uid !== claim?.metadata.uid || wanted.has(volume.metadata.name)) continue;
      wanted.set(volume.metadata.name, { pod, volume });
    }
  return wanted;
}

/** Source: isMultiAttachForbidden. */
function isForOneNode({ spec: { accessModes = [] } }: Volume): boolean {
  return (
    accessModes.length > 0 && !accessModes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany')
  );
}

function multiAttach(volume: string): string {
  return `Multi-Attach error for volume "${volume}" Volume is already exclusively attached to one node and can't be attached to another`;
}

type CsiSource = NonNullable<Volume['spec']['csi']>;

function uniqueName({ driver, volumeHandle }: CsiSource): string {
  return `kubernetes.io/csi/${driver}^${volumeHandle}`;
}

/** The same name at every try. Source: getAttachmentName in pkg/volume/csi. */
function attachmentName({ driver, volumeHandle }: CsiSource, node: string): string {
  return `csi-${createHash('sha256').update(`${volumeHandle}${driver}${node}`).digest('hex')}`;
}

/** The form of the names: all that shows where an attachment comes from once its volume has gone. */
const OUR_NAME = /^csi-[0-9a-f]{64}$/;

function isOurs({ metadata, spec }: Attachment, volumeOf: AttachFacts['volumeOf']): boolean {
  if (!OUR_NAME.test(metadata.name)) return false;
  const csi = volumeOf(spec.source.persistentVolumeName ?? '')?.spec.csi;
  return !csi || metadata.name === attachmentName(csi, spec.nodeName);
}

function newAttachment({ metadata, spec: { csi } }: Volume, node: string): VolumeAttachment {
  const { driver = '', volumeHandle = '' } = csi ?? {};
  return {
    ...typeMeta(VolumeAttachment),
    metadata: { name: attachmentName({ driver, volumeHandle }, node) },
    spec: { attacher: driver, nodeName: node, source: { persistentVolumeName: metadata.name } },
  };
}

/** Whether the simulated driver has to say that it has attached a volume. */
export function isToBeAttached({ metadata, spec, status }: Attachment): boolean {
  return (
    spec.attacher === SIMULATED_CSI_DRIVER &&
    status?.attached !== true &&
    metadata.deletionTimestamp === undefined
  );
}

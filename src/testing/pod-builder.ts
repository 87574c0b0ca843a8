import type { ObjectMeta, Pod, PodSpec, PodStatus } from '@rollkeeper/machinery/kubernetes';

/** The unusual properties of {@link aPod}. */
export interface PodTraits {
  readonly name?: string;
  readonly uid?: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly node?: string;
  /** @default 'Running' */
  readonly phase?: NonNullable<PodStatus['phase']>;
  readonly reason?: string;
  /** RFC 3339; ready since then. */
  readonly readySince?: string;
  readonly createdAt?: string;
  readonly deletedAt?: string;
  readonly restarts?: number;
  /** Restarts of an init container that always restarts. */
  readonly sidecarRestarts?: number;
  /** Restarts of an init container that completes. */
  readonly initRestarts?: number;
  readonly ownerUid?: string;
  /** @default 'web' */
  readonly ownerName?: string;
  readonly resourceVersion?: string;
}

/** The parts of a pod that a test is about. */
export interface PodParts {
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec?: Partial<PodSpec>;
  readonly status?: PodStatus;
}

/** A pod `default/web` with these parts alone: no container, no status. */
export function podOf({ metadata, spec, status }: PodParts = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', ...metadata },
    spec: { containers: [], ...spec },
    ...(status && { status }),
  };
}

/** A pod `default/web-x` labelled `app: web`, running, not ready. */
export function aPod(traits: PodTraits = {}): Pod {
  const name = traits.name ?? 'web-x';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: traits.uid ?? `uid-${name}`,
      labels: traits.labels ?? { app: 'web' },
      ...(traits.annotations && { annotations: traits.annotations }),
      ...(traits.createdAt && { creationTimestamp: traits.createdAt }),
      ...(traits.deletedAt && { deletionTimestamp: traits.deletedAt }),
      ...(traits.resourceVersion && { resourceVersion: traits.resourceVersion }),
      ...(traits.ownerUid && { ownerReferences: [replicaSetRef(traits)] }),
    },
    spec: {
      containers: [{ name: 'web', image: 'nginx' }],
      ...initContainers(traits),
      ...(traits.node && { nodeName: traits.node }),
    },
    status: {
      phase: traits.phase ?? 'Running',
      ...(traits.reason && { reason: traits.reason }),
      ...(traits.readySince && {
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: traits.readySince }],
      }),
      ...(traits.restarts !== undefined && { containerStatuses: [containerStatus(traits.restarts)] }),
      ...initContainerStatuses(traits),
    },
  };
}

function replicaSetRef(traits: PodTraits) {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: traits.ownerName ?? 'web',
    uid: traits.ownerUid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

function initContainers({ initRestarts, sidecarRestarts }: PodTraits): Pick<PodSpec, 'initContainers'> {
  const all = [
    ...(initRestarts === undefined ? [] : [{ name: 'migrate', image: 'migrate' }]),
    ...(sidecarRestarts === undefined
      ? []
      : [{ name: 'proxy', image: 'proxy', restartPolicy: 'Always' as const }]),
  ];
  return all.length > 0 ? { initContainers: all } : {};
}

function initContainerStatuses({
  initRestarts,
  sidecarRestarts,
}: PodTraits): Pick<PodStatus, 'initContainerStatuses'> {
  const all = [
    ...(initRestarts === undefined ? [] : [containerStatus(initRestarts, 'migrate')]),
    ...(sidecarRestarts === undefined ? [] : [containerStatus(sidecarRestarts, 'proxy')]),
  ];
  return all.length > 0 ? { initContainerStatuses: all } : {};
}

function containerStatus(restartCount: number, name = 'web') {
  return { name, image: 'nginx', imageID: '', ready: true, restartCount };
}

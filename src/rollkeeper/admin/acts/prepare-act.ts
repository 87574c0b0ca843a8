import type { ApiClient } from '@rollkeeper/client/api-client';
import { isObjectNotFound, isTooManyRequests } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { UnsupportedError, errorMessage } from '@rollkeeper/machinery/errors';
import { evict } from '@rollkeeper/runtime';
import { isMovedByDrain } from '../../insight/drained-pods.js';
import { RESTARTED_AT } from '@rollkeeper/controllers/deployment';
import type {
  Deployment,
  KubernetesObject,
  ObjectRef,
  PodTemplateSpec,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import { Node, Pod, isPodTerminating } from '@rollkeeper/machinery/kubernetes';
import { noteChange } from '../../insight/rollout/change-note.js';
import { restartRollout, setPaused } from '../../insight/rollout/index.js';
import type { Act, ActNote } from './act.js';

/** One field, before and after. */
export interface ActChange {
  readonly field: string;
  readonly from?: string;
  readonly to?: string;
}

/** An act that is carried out only when asked to, so that what it changes can be looked at before. */
interface PreparedAct {
  readonly object: KubernetesObject;
  readonly changes: readonly ActChange[];
  /** Carries it out. Returns what happened, for people. */
  apply(): Promise<string>;
}

interface ActTarget {
  /** With the rights of the caller. */
  readonly client: ApiClient;
  readonly type: ResourceType;
  readonly ref: ObjectRef;
  readonly clock: Clock;
}

interface Workload extends KubernetesObject {
  readonly spec: { readonly replicas?: number; readonly template: PodTemplateSpec };
}

/**
 * Reads the object and works out what an act changes.
 * @throws ApiStatusError as the API answers; UnsupportedError where it makes no sense now
 */
export async function prepareAct(target: ActTarget, act: Act, note: ActNote): Promise<PreparedAct> {
  const { client, ref, type } = target;
  const read = <T extends KubernetesObject>(): Promise<T> => client.get<T>(type, ref);
  switch (act.verb) {
    case 'scale':
      return scale(target, await read<Workload>(), act.replicas);
    case 'set-image':
      return setImage(target, await read<Workload>(), act, note);
    case 'restart':
      return restart(target, await read<Workload>(), note);
    case 'pause':
    case 'resume':
      return pause(target, await read<Deployment>(), act.verb === 'pause');
    case 'evict':
      return evictOne(target, await read<Pod>());
    case 'cordon':
    case 'uncordon':
      return cordon(target, await read(), act.verb === 'cordon');
    case 'drain':
      return drain(target, await read());
  }
}

function scale({ client, ref, type }: ActTarget, object: Workload, replicas: number): PreparedAct {
  const from = object.spec.replicas ?? 1;
  const body = [
    { op: 'test', path: '/spec/replicas', value: from },
    { op: 'replace', path: '/spec/replicas', value: replicas },
  ];
  return {
    object,
    changes: [{ field: 'replicas', from: String(from), to: String(replicas) }],
    async apply() {
      await client.patch(type, ref, { type: 'json', body }, { subresource: 'scale' });
      return `scaled from ${from} to ${replicas}`;
    },
  };
}

function setImage(
  { client, ref, type }: ActTarget,
  object: Workload,
  { container: wanted, image }: Extract<Act, { verb: 'set-image' }>,
  note: ActNote,
): PreparedAct {
  const changed = structuredClone(object) as Deployment;
  const containers = changed.spec.template.spec?.containers ?? [];
  const index =
    wanted === undefined && containers.length === 1 ? 0 : containers.findIndex(({ name }) => name === wanted);
  const container = containers[index];
  if (!container) {
    const names = containers.map(({ name }) => name).join(', ');
    throw new UnsupportedError(
      wanted === undefined
        ? `"container" must say which of ${names} gets the image`
        : `there is no container ${wanted}; there are ${names}`,
    );
  }
  const from = container.image ?? '';
  if (from === image) throw new UnsupportedError(`container ${container.name} has that image already`);
  container.image = image;
  if (object.kind === 'Deployment') noteChange(changed, 'change', note);
  const path = `/spec/template/spec/containers/${index}`;
  const body = [
    { op: 'test', path: `${path}/name`, value: container.name },
    { op: 'test', path: `${path}/image`, value: from },
    { op: 'replace', path: `${path}/image`, value: image },
    ...annotationOperations(object, changed),
  ];
  return {
    object,
    changes: [{ field: `image of ${container.name}`, from, to: image }],
    async apply() {
      await client.patch(type, ref, { type: 'json', body });
      return `image of ${container.name} set from ${from} to ${image}`;
    },
  };
}

function restart(target: ActTarget, object: Workload, note: ActNote): PreparedAct {
  const { client, clock, ref, type } = target;
  const at = toRfc3339(clock.now());
  const before = object.spec.template.metadata?.annotations?.[RESTARTED_AT];
  return {
    object,
    changes: [{ field: 'restarted at', ...(before !== undefined && { from: before }), to: at }],
    async apply() {
      if (object.kind === 'Deployment')
        await restartRollout({ client, type, deployment: object as Deployment }, clock, note);
      else {
        const template = { metadata: { annotations: { [RESTARTED_AT]: at } } };
        await client.patch(type, ref, { type: 'merge', body: { spec: { template } } });
      }
      return 'restarted: its pods are replaced';
    },
  };
}

function pause({ client, type }: ActTarget, deployment: Deployment, paused: boolean): PreparedAct {
  const before = deployment.spec.paused ?? false;
  if (before === paused) throw new UnsupportedError(`it is ${paused ? 'already' : 'not'} paused`);
  return {
    object: deployment,
    changes: [{ field: 'paused', from: String(before), to: String(paused) }],
    async apply() {
      await setPaused({ client, type, deployment }, paused);
      return paused ? 'paused: changes of its template are not rolled out' : 'resumed';
    },
  };
}

function evictOne({ client }: ActTarget, pod: Pod): PreparedAct {
  return {
    object: pod,
    changes: [
      { field: 'pod', from: pod.spec.nodeName === undefined ? 'on no node' : `on ${pod.spec.nodeName}` },
    ],
    async apply() {
      await evict(client, pod.metadata, { preconditions: { uid: pod.metadata.uid } });
      return 'evicted: its owner makes another one';
    },
  };
}

function cordon({ client, ref }: ActTarget, node: Node, unschedulable: boolean): PreparedAct {
  const before = node.spec?.unschedulable ?? false;
  if (before === unschedulable)
    throw new UnsupportedError(`it is ${unschedulable ? 'already' : 'not'} cordoned`);
  return {
    object: node,
    changes: [{ field: 'takes new pods', from: String(!before), to: String(!unschedulable) }],
    async apply() {
      await setUnschedulable(client, ref, unschedulable);
      return unschedulable ? 'cordoned: it takes no new pods' : 'uncordoned: it takes pods again';
    },
  };
}

async function setUnschedulable(client: ApiClient, ref: ObjectRef, unschedulable: boolean): Promise<void> {
  const body = { spec: { unschedulable: unschedulable || null } };
  await client.patch(Node, ref, { type: 'merge', body });
}

/** As `kubectl drain --ignore-daemonsets` does once: what a budget keeps stays, and is named. */
async function drain({ client, ref }: ActTarget, node: Node): Promise<PreparedAct> {
  const { items } = await client.list<Pod>(Pod, { fieldSelector: `spec.nodeName=${ref.name}` });
  const leaving = items.filter((pod) => isMovedByDrain(pod) && !isPodTerminating(pod));
  return {
    object: node,
    changes: [
      { field: 'takes new pods', to: 'false' },
      ...leaving.map(({ metadata }) => ({ field: 'pod', from: `${metadata.namespace}/${metadata.name}` })),
    ],
    async apply() {
      if (node.spec?.unschedulable !== true) await setUnschedulable(client, ref, true);
      const kept: string[] = [];
      for (const pod of leaving) {
        try {
          await evict(client, pod.metadata, { preconditions: { uid: pod.metadata.uid } });
        } catch (error) {
          if (isObjectNotFound(error)) continue;
          if (!isTooManyRequests(error)) throw error;
          kept.push(`${pod.metadata.namespace}/${pod.metadata.name}: ${errorMessage(error)}`);
        }
      }
      const gone = `${leaving.length - kept.length} of ${leaving.length} pods evicted`;
      return kept.length === 0 ? gone : `${gone}; kept: ${kept.join('; ')}`;
    },
  };
}

/**
 * Only the fields that change are tested against what the person saw: a rollout writes its status all the time, which
 * is no reason to refuse.
 */
function annotationOperations(before: KubernetesObject, after: KubernetesObject): readonly object[] {
  const { annotations: old } = before.metadata;
  const changed = Object.entries(after.metadata.annotations ?? {}).filter(
    ([key, value]) => old?.[key] !== value,
  );
  if (changed.length === 0) return [];
  if (old === undefined)
    return [{ op: 'add', path: '/metadata/annotations', value: Object.fromEntries(changed) }];
  return changed.map(([key, value]) => ({
    ...{ op: 'add', path: `/metadata/annotations/${key.replaceAll('~', '~0').replaceAll('/', '~1')}` },
    value,
  }));
}

import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Deployment, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { asSent } from '@rollkeeper/machinery/kubernetes';
import type { ControllerDefinition, ResourceEvent } from '@rollkeeper/runtime';
import { defineController, indexBy, watch } from '@rollkeeper/runtime';
import type { DeploymentApi } from './kubernetes/deployment-api.js';
import { deploymentTypeOf } from './kubernetes/deployment-api.js';
import { NAMESPACE_POLICIES, namespaceDefaults } from './state/namespace-defaults.js';
import { TURN } from './policies/turns/settings.js';
import { annotationOf } from './policies/common/names.js';
import type { QueuedRollout } from './policies/turns/turns.js';
import {
  TURN_INDEX,
  decideTurns,
  queuedIn,
  readTurn,
  renderTurn,
  turnIndex,
} from './policies/turns/turns.js';
import { parseMaxRollouts } from './policies/turns/settings.js';

interface TurnsControllerOptions {
  readonly apis: readonly DeploymentApi[];
  /** How many may roll out at once in the cluster. @default any number: the Namespaces' limits alone count */
  readonly clusterLimit?: number;
}

/** The one key: the replica that has it decides alone, and sees all that was decided before. */
const QUEUE = { name: 'turns' };
const QUEUE_OBJECT: KubernetesObject = {
  apiVersion: 'rollkeeper.dev/v1',
  kind: 'RolloutTurns',
  metadata: QUEUE,
};

/**
 * Says whose turn it is, where a limit keeps rollouts waiting. All turns are given under one key, which one replica has at a time, and
 * whose next run sees what the last one wrote: so no two replicas give the last turn to two. What they decide from and what comes of it
 * is an annotation on each Deployment; nothing is kept elsewhere.
 */
export function createTurnsController({ apis, clusterLimit }: TurnsControllerOptions): ControllerDefinition {
  const kinds = apis.map(deploymentTypeOf);
  const [first] = kinds;
  if (!first) throw new RangeError('no API of Deployments');
  return defineController<KubernetesObject>(
    { name: 'rollout-turns', for: first, workers: 1, serviceAccount: 'deployment-controller' },
    ({ clock, informers }) => {
      const defaultsOf = namespaceDefaults(informers);
      const listers = kinds.map((kind) => ({ kind, lister: informers.informerFor<Deployment>(kind).lister }));
      const limits = {
        cluster: clusterLimit,
        namespaceOf: (namespace: string) =>
          parseMaxRollouts(defaultsOf(namespace)?.[annotationOf('max-rollouts')] ?? ''),
      };
      // This is known to this process alone: with another leader all namespaces begin equal. It is forgotten whenever nothing waits.
      const served = new Map<string, number>();
      let count = 0;
      const find = ({ name, namespace, turn }: QueuedRollout) =>
        listers
          .map(({ kind, lister }) => ({
            deploymentType: kind,
            deployment: lister.get(`${namespace}/${name}`),
          }))
          .find(({ deployment }) => readTurn(deployment?.metadata.annotations ?? {})?.asked === turn.asked);
      return {
        objectOf: (key) => (key === QUEUE.name ? QUEUE_OBJECT : undefined),
        async reconcile(_request, { client, signal }) {
          const queued = queuedIn(...listers.map(({ lister }) => lister));
          if (queued.every(({ turn }) => turn.granted !== undefined)) served.clear();
          const next = decideTurns(queued, limits, served);
          for (const rollout of next) {
            const { deployment, deploymentType } = find(rollout) ?? {};
            if (!deployment || !deploymentType) continue;
            const turn = renderTurn({ ...rollout.turn, granted: toRfc3339(clock.now()) });
            await client.update(deploymentType, withTurn(deployment, turn), { signal });
            served.set(rollout.namespace, ++count);
          }
        },
        indexes: kinds.map((kind) => indexBy<Deployment>(kind, TURN_INDEX, turnIndex)),
        watches: [
          ...kinds.map((kind) => ({
            ...watch<Deployment>(kind, () => [QUEUE], changesTheQueue),
            // Turns may have been asked for while nothing led.
            initially: true,
          })),
          { ...watch(NAMESPACE_POLICIES, () => [QUEUE], changesTheLimit), optional: true },
        ],
      };
    },
  );
}

function withTurn(deployment: DeepReadonly<Deployment>, turn: string): Deployment {
  const { metadata } = deployment;
  const annotations = { ...metadata.annotations, [TURN]: turn };
  return asSent<Deployment>({ ...deployment, metadata: { ...metadata, annotations } });
}

function changesTheQueue(event: ResourceEvent<Deployment>): boolean {
  const now = partOf(event.object);
  if (event.type !== 'modified') return event.object.metadata.annotations?.[TURN] !== undefined;
  return partOf(event.old).some((value, index) => value !== now[index]);
}

function partOf({ metadata, spec }: DeepReadonly<Deployment>): readonly unknown[] {
  const { annotations, deletionTimestamp } = metadata;
  if (annotations?.[TURN] === undefined) return [undefined, undefined, undefined, undefined];
  return [
    annotations[TURN],
    annotations[annotationOf('rollout-priority')],
    spec.paused === true,
    deletionTimestamp,
  ];
}

function changesTheLimit(event: ResourceEvent<KubernetesObject>): boolean {
  const limitOf = ({ metadata }: DeepReadonly<KubernetesObject>) =>
    metadata.annotations?.[annotationOf('max-rollouts')];
  return event.type !== 'modified' || limitOf(event.old) !== limitOf(event.object);
}

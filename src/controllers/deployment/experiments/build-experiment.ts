import { createHash } from 'node:crypto';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { RandomSource } from '@rollkeeper/machinery/clock';
import type { PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet, apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import { POD_TEMPLATE_HASH } from '../../shared/index.js';
import { REVISION } from '../kubernetes/annotations.js';
import { withoutHash } from '../kubernetes/pod-template.js';
import {
  EXPERIMENT,
  EXPERIMENT_OF,
  EXPERIMENT_SIDE,
  EXPERIMENT_UNTIL,
  labelOf,
} from '../policies/experiment/experiment-sets.js';
import { portsOfContainers, type ServicePorts } from '../policies/experiment/experiment-services.js';
import type { FileTemplate } from './experiment-file.js';
import type { ExperimentPlan, PlannedTemplate } from './experiment-plan.js';
import { EXPERIMENT_PLAN, RESULTS_OF, renderPlan } from './experiment-plan.js';

const SUFFIX = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_CHARS = 5;
const HASH_CHARS = 10;

/** A template of an experiment whose pods are known. */
export interface ResolvedTemplate {
  readonly asked: FileTemplate;
  /** The pod template of the Deployment's revision, or the file's own. */
  readonly pods: PodTemplateSpec;
  /** The number of the Deployment's revision. @default the pods are the file's own, or not rolled out yet */
  readonly revision?: string;
}

/** The name of one run of an experiment, so that a file can be run again while the result of the last run is kept. */
export function experimentId(name: string, random: RandomSource): string {
  const letters = Array.from(
    { length: SUFFIX_CHARS },
    () => SUFFIX[Math.floor(random.next() * SUFFIX.length)],
  );
  return `${name}-${letters.join('')}`;
}

/** A template of an experiment, with the names of its objects. */
export function plannedTemplate(id: string, { asked, revision }: ResolvedTemplate): PlannedTemplate {
  const { deployment, name, replicas } = asked;
  const digest = createHash('sha256').update(`${id}/${name}`).digest('hex').slice(0, HASH_CHARS);
  return {
    ...{ name, replicas, replicaSet: `${id}-${name}`, hash: `x${digest}` },
    ...(deployment !== undefined && { deployment }),
    ...(revision !== undefined && { revision }),
  };
}

interface Placed {
  readonly id: string;
  readonly namespace: string;
}

/**
 * The ReplicaSet that keeps an experiment: its plan, its state and its results. It never has pods. Nothing controls it, so that it
 * stays when the pods are removed.
 * @param pods any template: one without a pod template is refused
 */
export function experimentKeeper(
  { id, namespace }: Placed,
  plan: ExperimentPlan,
  pods: PodTemplateSpec,
): ReplicaSet {
  const labels = { [EXPERIMENT]: id };
  const selected = { ...labels, [POD_TEMPLATE_HASH]: 'none' };
  const { metadata: _metadata, ...rest } = withoutHash(pods);
  return {
    apiVersion: apiVersionOf(ReplicaSet),
    kind: ReplicaSet.kind,
    metadata: {
      ...{ name: id, namespace, labels },
      annotations: { [EXPERIMENT_PLAN]: renderPlan(plan), [REVISION]: RESULTS_OF },
    },
    spec: {
      replicas: 0,
      selector: { matchLabels: selected },
      template: { ...rest, metadata: { labels: selected } },
    },
  } as ReplicaSet;
}

/**
 * The ReplicaSet with the pods of a template. The keeper controls it: it is no Deployment's, and goes with the keeper. Unless they
 * serve, its pods have no label of their template, so that no Service selects them.
 * @param nowMs for the time in `rollkeeper.dev/experiment-until`, at which it is over at the latest
 */
export function experimentMember(
  keeper: ReplicaSet,
  plan: ExperimentPlan,
  { asked, pods }: ResolvedTemplate,
  nowMs: number,
): ReplicaSet {
  const { name: id, namespace, uid = '' } = keeper.metadata;
  const planned = plan.templates.find(({ name }) => name === asked.name);
  const { hash = '', replicaSet: name = '' } = planned ?? {};
  const own = {
    [EXPERIMENT]: id,
    [EXPERIMENT_SIDE]: asked.name,
    ...(asked.deployment !== undefined && { [EXPERIMENT_OF]: labelOf(asked.deployment) }),
  };
  const { metadata, ...rest } = withoutHash(pods);
  const labels = { ...(asked.serving && metadata?.labels), ...own, [POD_TEMPLATE_HASH]: hash };
  return {
    apiVersion: apiVersionOf(ReplicaSet),
    kind: ReplicaSet.kind,
    metadata: {
      ...{ name, namespace, labels: own },
      annotations: { [EXPERIMENT_UNTIL]: toRfc3339(nowMs + plan.startWithinMs + plan.durationMs) },
      ownerReferences: [
        { apiVersion: apiVersionOf(ReplicaSet), kind: ReplicaSet.kind, name: id, uid, controller: true },
      ],
    },
    spec: {
      replicas: asked.replicas,
      selector: { matchLabels: { ...own, [POD_TEMPLATE_HASH]: hash } },
      template: { ...rest, metadata: { ...metadata, labels } },
    },
  } as ReplicaSet;
}

/** The ports of a template's own Service: those of the file, or those that its containers name; undefined if it asks for none. */
export function portsOf({ asked: { service }, pods }: ResolvedTemplate): ServicePorts | undefined {
  if (service === undefined) return undefined;
  return service === true ? portsOfContainers(pods) : service.ports;
}

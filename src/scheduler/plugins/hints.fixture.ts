import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { viewOf } from '../decide/random-world.fixture.js';
import type { EventAction, EventResource } from '../framework/cluster-event.js';
import type { ClusterView } from '../framework/cluster-view.js';
import type { ReadablePod } from '../framework/node-info.js';
import { DEFAULT_PLUGINS } from '../run/default-plugins.js';

export type Parts = Readonly<Record<string, unknown>>;

export const object = (name: string, parts: Parts = {}): KubernetesObject => ({
  ...{ apiVersion: '', kind: '' },
  ...parts,
  metadata: { name, uid: name, namespace: 'a', ...(parts['metadata'] as object | undefined) },
});
export const podWith = (name: string, spec: Parts = {}, parts: Parts = {}): ReadablePod =>
  object(name, { ...parts, spec: { containers: [], ...spec } }) as unknown as ReadablePod;
export const aNode = (parts: Parts = {}): KubernetesObject => object('node', parts);
export const labelled = (labels: Record<string, string>): Parts => ({ metadata: { labels } });
export const withAllocatable = (allocatable: Record<string, string>): Parts => ({
  status: { allocatable: { pods: '10', ...allocatable } },
});
export const asking = (requests: Record<string, string>): Parts => ({
  containers: [{ name: 'c', resources: { requests } }],
});
export const onPort = (hostPort: number): Parts => ({
  containers: [{ name: 'c', ports: [{ containerPort: 1, hostPort }] }],
});
export const claiming = (claimName: string): Parts => ({
  volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
});
export const term = { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'web' } } };
export const required = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
export const spreading = {
  topologySpreadConstraints: [
    { ...term, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', nodeTaintsPolicy: 'Honor' },
  ],
};

export interface Case {
  readonly plugin: string;
  readonly pod?: ReadablePod;
  readonly resource: EventResource;
  readonly action: EventAction;
  readonly before?: KubernetesObject | ReadablePod;
  readonly after?: KubernetesObject | ReadablePod;
  readonly view?: ClusterView;
}

/** Whether the change wakes a pod that the plug-in refused; no registration means that it never does. */
export function wakes({
  action,
  after,
  before,
  plugin,
  pod = podWith('waiting'),
  resource,
  view = viewOf({}),
}: Case): boolean {
  const entry = DEFAULT_PLUGINS.find(({ name }) => name === plugin)!;
  const registered = entry.create(undefined, { view, log: silentLogger }).eventsToRegister ?? [];
  return registered.some(
    ({ event, hint }) =>
      event.resource === resource &&
      event.actions.includes(action) &&
      (hint?.(pod, before, after) ?? 'Queue') === 'Queue',
  );
}

export const web = labelled({ app: 'web' });
export const onNode = { nodeName: 'node' };

import { describe, expect, it } from 'vitest';
import type {
  KubernetesObject,
  Namespace,
  Node,
  Pod,
  StorageClass,
} from '../../../machinery/kubernetes/index.js';
import { admittedPod, creationOf, dependenciesOn, followedOf } from './admission.fixture.js';
import { builtInPlugins } from './built-in-plugins.js';
import type { LimitRange } from './plugins/limit-ranger.js';
import type { RuntimeClass } from './plugins/runtime-class.js';
import type { PriorityClass } from './plugins/priority.js';
import type { ServiceAccount } from './plugins/service-account.js';

/** Pods as decoded, before validation finds missing fields. */
const INCOMPLETE: readonly object[] = [
  {},
  { containers: [{}] },
  { containers: [{ name: 'c', resources: {} }], initContainers: [{}] },
  { containers: [{ name: 'c', env: [{}], envFrom: [{}], volumeMounts: [{}] }] },
  { volumes: [{}, { projected: {} }, { name: 'v', secret: {} }] },
  { tolerations: [{}], imagePullSecrets: [{}] },
];

const ACCOUNT: ServiceAccount = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: {
    name: 'default',
    namespace: 'a',
    annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' },
  },
  secrets: [{}],
};

const LIMITS: LimitRange = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'l', namespace: 'a' },
  spec: { limits: [{ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }] },
};

async function pluginsOfPods() {
  const { followed: accounts, storage } = await followedOf('serviceaccounts', ACCOUNT);
  const { followed: limits } = await followedOf('limitranges', LIMITS);
  const { followed: priorities } = await followedOf<PriorityClass>('priorityclasses.scheduling.k8s.io');
  const { followed: storageClasses } = await followedOf<StorageClass>('storageclasses.storage.k8s.io');
  const { followed: ingressClasses } = await followedOf<KubernetesObject>('ingressclasses.networking.k8s.io');
  const { followed: namespaces } = await followedOf<Namespace>('namespaces');
  const { followed: nodes } = await followedOf<Node>('nodes');
  const { followed: runtimeClasses } = await followedOf<RuntimeClass>('runtimeclasses.node.k8s.io');
  const classes = { priorities, runtimeClasses, storageClasses, ingressClasses };
  const known = {
    ...dependenciesOn(storage),
    ...classes,
    accounts,
    limits,
    namespaces,
    nodes,
    unknownAccounts: 'warn',
    access: { decide: () => ({ allowed: false, reason: '' }) },
  } as const;
  return builtInPlugins(known).filter(({ resource }) => resource === 'pods');
}

describe('builtInPlugins', () => {
  it.each(INCOMPLETE)('refuse or complete a pod of %j, which nobody has validated', async (spec) => {
    for (const plugin of await pluginsOfPods()) {
      const pod = { ...admittedPod(), spec: structuredClone(spec) } as Pod;
      const outcome = await Promise.resolve(plugin.mutate?.(creationOf(pod))).catch(
        (error: unknown) => error,
      );
      if (outcome !== undefined) expect(outcome, plugin.name).toMatchObject({ status: { code: 403 } });
    }
  });
});

import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../machinery/clock/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { buildController } from '../../../runtime/controller/index.js';
import { StandingClock } from '../../../testing/in-memory/standing-clock.js';
import { Deployment, Namespace } from '../../../machinery/kubernetes/index.js';
import type { EnqueueRequest } from '../../../runtime/controller/controller-definition.js';
import { InMemoryApi } from '../../../testing/in-memory/in-memory-api.js';
import { InMemoryInformers } from '../../../testing/in-memory/in-memory-informers.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { createDeploymentController } from '../definition.js';
import { NAMESPACE_POLICIES, namespaceDefaults } from './namespace-defaults.js';

function inNamespace(namespace: string, name: string): Deployment {
  const deployment = aDeployment();
  const metadata = { ...deployment.metadata, namespace, name, uid: `uid-of-${namespace}-${name}` };
  return { ...deployment, metadata };
}

function aNamespace(name: string, annotations?: Record<string, string>): Namespace {
  const metadata = { name, uid: `uid-of-${name}`, resourceVersion: '1', ...(annotations && { annotations }) };
  return { apiVersion: 'v1', kind: 'Namespace', metadata };
}

function watched() {
  const api = new InMemoryApi();
  const informers = new InMemoryInformers(api);
  const controller = buildController(createDeploymentController(), {
    informers,
    discovery: api,
    events: { record: () => undefined },
    clock: new StandingClock(0),
    random: new SeededRandom(1),
    logger: silentLogger,
  });
  const defaultsOf = namespaceDefaults(informers);
  api.seed(Namespace, aNamespace('a'));
  for (const [namespace, name] of ['a web', 'a api', 'b web'].map((text) => text.split(' ')))
    api.seed(Deployment, inNamespace(namespace ?? '', name ?? ''));
  informers.refresh();
  const requests: EnqueueRequest[] = [];
  controller.watch((request) => requests.push(request));
  const change = (namespace: Namespace): string[] => {
    requests.length = 0;
    api.seed(Namespace, namespace);
    informers.refresh();
    return requests.map(({ ref }) => `${ref.namespace}/${ref.name}`).sort();
  };
  return { change, defaultsOf, requests };
}

describe('the defaults of a Namespace', () => {
  it('are those of its annotations, where it has any and may be read', () => {
    const { change, defaultsOf } = watched();
    expect(defaultsOf('a')).toBeUndefined();
    expect(defaultsOf('unknown')).toBeUndefined();
    change(aNamespace('a', { 'rollkeeper.dev/freeze': 'now' }));
    expect(defaultsOf('a')).toEqual({ 'rollkeeper.dev/freeze': 'now' });
  });

  it('bring its Deployments back when they change, and wait until every cache shows the change', () => {
    const { change, requests } = watched();
    expect(change(aNamespace('a', { 'rollkeeper.dev/freeze': 'now' }))).toEqual(['a/api', 'a/web']);
    expect(requests[0]).toMatchObject({ cause: { type: { resource: 'namespaces' } }, onlyIfNeeded: true });
    expect(change(aNamespace('a', { 'rollkeeper.dev/freeze': 'now' }))).toEqual([]);
    expect(change(aNamespace('a'))).toEqual(['a/api', 'a/web']);
    expect(change(aNamespace('b', { 'rollkeeper.dev/steps': '1' }))).toEqual(['b/web']);
  });

  it('are all that is kept of a Namespace', () => {
    const annotations = {
      'rollkeeper.dev/steps': '1',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
    };
    const namespace = { ...aNamespace('a', annotations), spec: { finalizers: ['kubernetes'] } } as Namespace;
    namespace.metadata.labels = { team: 'a' };
    expect(NAMESPACE_POLICIES.part.keep(namespace)).toEqual(aNamespace('a', { 'rollkeeper.dev/steps': '1' }));
    expect(NAMESPACE_POLICIES.part.keep(aNamespace('b'))).toEqual(aNamespace('b'));
    const mistyped = aNamespace('c', { 'rollkeeper.dev/freze': 'now' });
    expect(NAMESPACE_POLICIES.part.keep(mistyped), 'with a mistyped one').toEqual(mistyped);
  });
});

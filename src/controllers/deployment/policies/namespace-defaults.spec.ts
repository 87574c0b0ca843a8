import { describe, expect, it } from 'vitest';
import { DEPLOYMENTS, NAMESPACES } from '../../../machinery/kubernetes/index.js';
import type { Deployment, Namespace } from '../../../machinery/kubernetes/index.js';
import type { EnqueueRequest } from '../../../runtime/controller/controller-definition.js';
import { InMemoryApi } from '../../../testing/conformance/in-memory-api.js';
import { InMemoryInformers } from '../../../testing/conformance/in-memory-informers.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { NAMESPACE_POLICIES, policyDefaults } from './namespace-defaults.js';

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
  const deployments = informers.informerFor<Deployment>(DEPLOYMENTS);
  const defaults = policyDefaults(informers, deployments);
  api.seed(NAMESPACES, aNamespace('a'));
  for (const [namespace, name] of ['a web', 'a api', 'b web'].map((text) => text.split(' ')))
    api.seed(DEPLOYMENTS, inNamespace(namespace ?? '', name ?? ''));
  informers.refresh();
  const requests: EnqueueRequest[] = [];
  defaults.watch((request) => requests.push(request));
  const change = (namespace: Namespace): string[] => {
    requests.length = 0;
    api.seed(NAMESPACES, namespace);
    informers.refresh();
    return requests.map(({ ref }) => `${ref.namespace}/${ref.name}`).sort();
  };
  return { change, defaults, requests };
}

describe('the defaults of a Namespace', () => {
  it('are those of its annotations, where it has any and may be read', () => {
    const { change, defaults } = watched();
    expect(defaults.defaultsOf('a')).toBeUndefined();
    expect(defaults.defaultsOf('unknown')).toBeUndefined();
    change(aNamespace('a', { 'rollkeeper.dev/freeze': 'now' }));
    expect(defaults.defaultsOf('a')).toEqual({ 'rollkeeper.dev/freeze': 'now' });
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
  });
});

import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../machinery/clock/index.js';
import { silentLogger } from '../../../../machinery/logging/index.js';
import type { KubernetesObject } from '../../../../machinery/kubernetes/index.js';
import { Deployment, Namespace } from '../../../../machinery/kubernetes/index.js';
import { buildController } from '../../../../runtime/controller/index.js';
import type { EnqueueRequest } from '../../../../runtime/controller/controller-definition.js';
import { ConfigMap, Secret } from '../../../../runtime/index.js';
import { InMemoryApi } from '../../../../testing/in-memory/in-memory-api.js';
import { InMemoryInformers } from '../../../../testing/in-memory/in-memory-informers.js';
import { StandingClock } from '../../../../testing/in-memory/standing-clock.js';
import { aDeployment } from '../../../../testing/deployment-builder.js';
import { createDeploymentController } from '../../definition.js';
import { configContents } from './config-digests.js';
import { configReferences } from './config-sources.js';

type PodSpec = NonNullable<Deployment['spec']['template']['spec']>;

const NOT_TO_BE_SEEN = 'bm90IHRvIGJlIHNlZW4=';

function anObject(kind: string, name: string, data: Record<string, string>, uid = `uid-of-${name}`) {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(data) };
  const metadata = { namespace: 'default', name, uid, annotations };
  return { apiVersion: 'v1', kind, metadata, data } as KubernetesObject;
}

function reading(name: string, spec: PodSpec, annotations?: Record<string, string>): Deployment {
  const deployment = aDeployment({ annotations });
  const metadata = { ...deployment.metadata, name, uid: `uid-of-${name}` };
  const template = { ...deployment.spec.template, spec };
  return { ...deployment, metadata, spec: { ...deployment.spec, template } };
}

function envFrom(name: string): PodSpec {
  return { containers: [{ name: 'web', image: 'app:1', envFrom: [{ configMapRef: { name } }] }] };
}

function watched(...deployments: readonly Deployment[]) {
  const api = new InMemoryApi();
  const informers = new InMemoryInformers(api);
  const controller = buildController(createDeploymentController({ restartOnConfig: true }), {
    informers,
    discovery: api,
    events: { record: () => undefined },
    clock: new StandingClock(0),
    random: new SeededRandom(1),
    logger: silentLogger,
  });
  for (const deployment of deployments) api.seed(Deployment, deployment);
  informers.refresh();
  const requests: EnqueueRequest[] = [];
  controller.watch((request) => requests.push(request));
  const change = (object: KubernetesObject): string[] => {
    requests.length = 0;
    api.seed(object.kind === 'Secret' ? Secret : ConfigMap, object);
    informers.refresh();
    return requests.map(({ ref }) => ref.name).sort();
  };
  return { api, change, contents: configContents(informers), informers, requests };
}

describe('the references of a template', () => {
  it('is what its pods read by env, envFrom, volumes and projected volumes, and not what pulls images', () => {
    const spec = {
      imagePullSecrets: [{ name: 'registry' }],
      initContainers: [
        {
          name: 'i',
          image: 'i',
          env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'init', key: 'a' } } }],
        },
      ],
      containers: [
        {
          name: 'c',
          image: 'c',
          env: [
            { name: 'A', value: 'plain' },
            { name: 'B', valueFrom: { secretKeyRef: { name: 'env', key: 'a', optional: true } } },
          ],
          envFrom: [{ configMapRef: { name: 'all', optional: true } }, { secretRef: { name: 'all' } }],
        },
      ],
      volumes: [
        { name: 'a', configMap: { name: 'files', optional: true } },
        { name: 'b', secret: { secretName: 'files' } },
        { name: 'c', emptyDir: {} },
        {
          name: 'd',
          projected: {
            sources: [{ configMap: { name: 'files' } }, { secret: { name: 'part', optional: true } }],
          },
        },
      ],
    } as PodSpec;
    expect(Object.fromEntries(configReferences({ spec }))).toEqual({
      'configmap/init': { isRequired: true },
      'secret/env': { isRequired: false },
      'configmap/all': { isRequired: false },
      'secret/all': { isRequired: true },
      'configmap/files': { isRequired: true },
      'secret/files': { isRequired: true },
      'secret/part': { isRequired: false },
    });
    expect(configReferences({}).size).toBe(0);
  });
});

describe('the caches of ConfigMaps and Secrets', () => {
  it('hold names and digests, and nothing of the content or of other annotations', () => {
    const { change, contents, requests } = watched(
      reading('web', { containers: [{ name: 'w', image: 'w', envFrom: [{ secretRef: { name: 'key' } }] }] }),
    );
    change(anObject('Secret', 'key', { password: NOT_TO_BE_SEEN }));
    const cached = contents.find('default', 'secret/key');
    expect(Object.keys(cached?.content.keys ?? {})).toEqual(['password']);
    expect(Object.keys(cached?.metadata ?? {}).sort()).toEqual([
      'name',
      'namespace',
      'resourceVersion',
      'uid',
    ]);
    expect(JSON.stringify(cached)).not.toContain(NOT_TO_BE_SEEN);
    expect(requests).toHaveLength(1);
    expect(JSON.stringify(requests)).not.toContain(NOT_TO_BE_SEEN);
  });

  it('have another digest for the same value in another Secret, so that none is found by trying', () => {
    const { change, contents } = watched();
    change(anObject('Secret', 'a', { pin: 'MTIzNA==' }));
    change(anObject('Secret', 'b', { pin: 'MTIzNA==' }));
    const [a, b] = [contents.find('default', 'secret/a'), contents.find('default', 'secret/b')];
    expect(a?.content.digest).not.toBe(b?.content.digest);
    expect(a?.content.keys['pin']).not.toBe(b?.content.keys['pin']);
    change(anObject('Secret', 'c', { pin: 'MTIzNA==', puk: 'MTIzNA==' }));
    const { pin, puk } = contents.find('default', 'secret/c')?.content.keys ?? {};
    expect(pin).not.toBe(puk);
  });

  it('have the same digest whatever the order of keys, and keep any key', () => {
    const { change, contents } = watched();
    const data = JSON.parse('{ "b": "2", "__proto__": "1" }') as Record<string, string>;
    change(anObject('ConfigMap', 'a', data));
    const reversed = Object.fromEntries(Object.entries(data).reverse());
    change(anObject('ConfigMap', 'b', reversed));
    const [a, b] = [contents.find('default', 'configmap/a'), contents.find('default', 'configmap/b')];
    expect(a?.content.digest).toBe(b?.content.digest);
    expect(Object.keys(a?.content.keys ?? {}).sort()).toEqual(['__proto__', 'b']);
  });
});

describe('a changed ConfigMap or Secret', () => {
  it('wakes the Deployments that refer to it or name it, and no others', () => {
    const { change, requests } = watched(
      reading('reads', envFrom('shared')),
      reading('names', envFrom('own'), { 'rollkeeper.dev/restart-on': 'configmap/shared' }),
      reading('names-too', envFrom('own'), { 'configmap.reloader.stakater.com/reload': 'shared' }),
      reading('other', envFrom('own')),
    );
    expect(change(anObject('ConfigMap', 'shared', { a: '1' }))).toEqual(['names', 'names-too', 'reads']);
    expect(requests[0]).toMatchObject({ cause: { type: { resource: 'configmaps' } }, onlyIfNeeded: true });
    expect(change(anObject('ConfigMap', 'shared', { a: '2' }))).toHaveLength(3);
    expect(change(anObject('ConfigMap', 'unknown', { a: '1' }))).toEqual([]);
    expect(change(anObject('Secret', 'shared', { a: '1' }))).toEqual([]);
  });

  it('wakes none when its metadata alone have changed', () => {
    const { change } = watched(reading('reads', envFrom('shared')));
    const object = anObject('ConfigMap', 'shared', { a: '1' });
    expect(change(object)).toEqual(['reads']);
    expect(change({ ...object, metadata: { ...object.metadata, labels: { new: 'label' } } })).toEqual([]);
  });

  it('wakes all of a Namespace whose default names it', () => {
    const { api, change, informers } = watched(reading('web', envFrom('own')));
    const metadata = { name: 'default', annotations: { 'rollkeeper.dev/restart-on': 'configmap/ca' } };
    api.seed(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata });
    informers.refresh();
    expect(change(anObject('ConfigMap', 'ca', { a: '1' }))).toEqual(['web']);
  });
});

import assert from 'node:assert/strict';
import {
  AppsV1Api,
  AutoscalingV2Api,
  CoreV1Api,
  CustomObjectsApi,
  KubernetesObjectApi,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';
import type { KubernetesObject } from '@kubernetes/client-node';
import type { ClientCheck, Place } from '../check.js';
import { PATIENT } from '../check.js';
import { createDeployment, kubeConfigOf, refused } from './support.js';

const as = (strategy: string) => setHeaderOptions('Content-Type', strategy);

function apisOf({ cluster }: Place) {
  const config = kubeConfigOf(cluster);
  return {
    core: config.makeApiClient(CoreV1Api),
    apps: config.makeApiClient(AppsV1Api),
    autoscaling: config.makeApiClient(AutoscalingV2Api),
    custom: config.makeApiClient(CustomObjectsApi),
    objects: KubernetesObjectApi.makeApiClient(config),
  };
}

const settings = (data: Record<string, string>, name = 'settings') => ({ metadata: { name }, data });

export const OBJECT_CHECKS: readonly ClientCheck[] = [
  {
    name: 'creates, reads, replaces and deletes, and is told why not',
    async run(place) {
      const { core } = apisOf(place);
      const { namespace } = place;
      const at = { namespace, name: 'settings' };
      const created = await core.createNamespacedConfigMap({ namespace, body: settings({ color: 'red' }) });
      assert.ok(created.metadata?.creationTimestamp instanceof Date);
      await refused(core.createNamespacedConfigMap({ namespace, body: settings({}) }), 409, 'AlreadyExists');
      const { metadata } = await core.readNamespacedConfigMap(at);
      const replaced = await core.replaceNamespacedConfigMap({
        ...at,
        body: { metadata, data: { color: 'blue' } },
      });
      assert.deepEqual(replaced.data, { color: 'blue' });
      const stale = { ...at, body: { metadata, data: {} } };
      await refused(core.replaceNamespacedConfigMap(stale), 409, 'Conflict');
      const { status } = await core.deleteNamespacedConfigMap(at);
      assert.equal(status, 'Success');
      const gone = await refused(core.readNamespacedConfigMap(at), 404, 'NotFound');
      assert.equal(gone.message, 'configmaps "settings" not found');
    },
  },
  {
    name: 'is told which field is wrong, and what a dry run would make',
    async run(place) {
      const { core } = apisOf(place);
      const { namespace } = place;
      const body = { metadata: { name: 'web' }, spec: { ports: [{ port: 0 }] } };
      const invalid = await refused(core.createNamespacedService({ namespace, body }), 422, 'Invalid');
      assert.deepEqual(
        invalid.details?.causes?.map(({ field }) => field),
        ['spec.ports[0].port', 'spec.ports[0].targetPort'],
      );
      const right = { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } };
      const tried = await core.createNamespacedService({ namespace, body: right, dryRun: 'All' });
      assert.equal(tried.spec?.ports?.[0]?.targetPort, 80);
      const { items } = await core.listNamespacedService({ namespace });
      assert.deepEqual(items, []);
    },
  },
  {
    name: 'lists page by page, by labels and by fields, and deletes a collection',
    async run(place) {
      const { core } = apisOf(place);
      const { namespace } = place;
      for (let number = 0; number < 7; number++) {
        const labels = { parity: number % 2 === 0 ? 'even' : 'odd' };
        const body = { metadata: { name: `secret-${number}`, labels }, stringData: { number: `${number}` } };
        await core.createNamespacedSecret({ namespace, body });
      }
      const pages: (string | undefined)[][] = [];
      const versions = new Set<string | undefined>();
      let _continue: string | undefined;
      do {
        const page = await core.listNamespacedSecret({ namespace, limit: 3, _continue });
        pages.push(page.items.map(({ metadata }) => metadata?.name));
        versions.add(page.metadata?.resourceVersion);
        _continue = page.metadata?._continue;
        assert.equal(page.metadata?.remainingItemCount, pages.length < 3 ? 7 - 3 * pages.length : undefined);
      } while (_continue);
      assert.deepEqual(
        pages.map((page) => page.length),
        [3, 3, 1],
      );
      assert.equal(new Set(pages.flat()).size, 7);
      assert.equal(versions.size, 1, 'all pages show one moment');
      const odd = await core.listNamespacedSecret({ namespace, labelSelector: 'parity in (odd)' });
      assert.equal(odd.items.length, 3);
      const one = await core.listNamespacedSecret({ namespace, fieldSelector: 'metadata.name=secret-4' });
      assert.equal(Buffer.from(one.items[0]?.data?.['number'] ?? '', 'base64').toString(), '4');
      await core.deleteCollectionNamespacedSecret({ namespace, labelSelector: 'parity=odd' });
      assert.equal((await core.listNamespacedSecret({ namespace })).items.length, 4);
    },
  },
  {
    name: 'patches in each of the ways that there are',
    async run(place) {
      const { apps } = apisOf(place);
      const { namespace } = place;
      const at = { namespace, name: 'web' };
      await createDeployment(apps, namespace);
      const json = [
        { op: 'test', path: '/spec/replicas', value: 0 },
        { op: 'add', path: '/metadata/labels', value: { a: 'b' } },
      ];
      const byJson = await apps.patchNamespacedDeployment({ ...at, body: json }, as(PatchStrategy.JsonPatch));
      assert.deepEqual(byJson.metadata?.labels, { a: 'b' });
      const merge = { metadata: { labels: { a: null, c: 'd' } } };
      const byMerge = await apps.patchNamespacedDeployment(
        { ...at, body: merge },
        as(PatchStrategy.MergePatch),
      );
      assert.deepEqual(byMerge.metadata?.labels, { c: 'd' });
      const side = { spec: { template: { spec: { containers: [{ name: 'side', image: 'busybox' }] } } } };
      const byStrategy = await apps.patchNamespacedDeployment(
        { ...at, body: side },
        as(PatchStrategy.StrategicMergePatch),
      );
      const containers = byStrategy.spec?.template.spec?.containers.map(({ name }) => name);
      assert.deepEqual(containers?.sort(), ['side', 'web']);
      const failing = [{ op: 'test', path: '/spec/replicas', value: 9 }];
      await refused(
        apps.patchNamespacedDeployment({ ...at, body: failing }, as(PatchStrategy.JsonPatch)),
        422,
        'Invalid',
      );
    },
  },
  {
    name: 'applies server-side: conflicts name the manager, force takes over, what is left out goes',
    async run(place) {
      const { apps } = apisOf(place);
      const { namespace } = place;
      const at = { namespace, name: 'web' };
      await createDeployment(apps, namespace);
      const apply = (spec: object, options: { force?: boolean; fieldManager: string }) => {
        const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec };
        return apps.patchNamespacedDeployment({ ...at, body, ...options }, as(PatchStrategy.ServerSideApply));
      };
      await apply({ minReadySeconds: 5 }, { fieldManager: 'one' });
      const conflict = await refused(apply({ minReadySeconds: 6 }, { fieldManager: 'two' }), 409, 'Conflict');
      assert.match(conflict.message, /conflict with "one": \.spec\.minReadySeconds/);
      const taken = await apply({ minReadySeconds: 6 }, { fieldManager: 'two', force: true });
      assert.equal(taken.spec?.minReadySeconds, 6);
      const managers = taken.metadata?.managedFields?.filter(({ operation }) => operation === 'Apply');
      assert.deepEqual(
        managers?.map(({ manager }) => manager),
        ['two'],
      );
      const left = await apply({}, { fieldManager: 'two' });
      assert.equal(left.spec?.minReadySeconds, undefined);
    },
  },
  {
    name: 'scales by the subresource, in every way of writing it',
    async run(place) {
      const { apps } = apisOf(place);
      const { cluster, namespace } = place;
      const at = { namespace, name: 'web' };
      await createDeployment(apps, namespace);
      // The controller must be at rest, or it may write between a read and a replace.
      await cluster.settled(PATIENT);
      const scale = await apps.readNamespacedDeploymentScale(at);
      assert.equal(scale.status?.selector, 'app=web');
      scale.spec = { replicas: 1 };
      await apps.replaceNamespacedDeploymentScale({ ...at, body: scale });
      const merged = await apps.patchNamespacedDeploymentScale(
        { ...at, body: { spec: { replicas: 2 } } },
        as(PatchStrategy.MergePatch),
      );
      assert.equal(merged.spec?.replicas, 2);
      const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: at, spec: { replicas: 3 } };
      const applied = await apps.patchNamespacedDeploymentScale(
        { ...at, body, fieldManager: 'scaler', force: true },
        as(PatchStrategy.ServerSideApply),
      );
      assert.equal(applied.spec?.replicas, 3);
      const { metadata, spec } = await apps.readNamespacedDeployment(at);
      assert.equal(spec?.replicas, 3);
      const byScaler = metadata?.managedFields?.find(({ manager }) => manager === 'scaler');
      assert.deepEqual(byScaler?.fieldsV1, { 'f:spec': { 'f:replicas': {} } });
      assert.equal(byScaler?.subresource, 'scale');
    },
  },
  {
    name: 'finds any kind by discovery, and applies it',
    async run(place) {
      const { autoscaling, objects } = apisOf(place);
      const { namespace } = place;
      const hpa = {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'web', namespace },
        spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 3 },
      };
      await objects.create(hpa);
      const applied = { ...hpa, spec: { ...hpa.spec, maxReplicas: 5 } };
      await objects.patch(applied, undefined, undefined, 'us', true, PatchStrategy.ServerSideApply);
      const read = await autoscaling.readNamespacedHorizontalPodAutoscaler({ namespace, name: 'web' });
      assert.equal(read.spec?.maxReplicas, 5);
      const { items } = await objects.list<KubernetesObject>('autoscaling/v2', hpa.kind, namespace);
      assert.equal(items.length, 1);
      await objects.delete(hpa);
      await refused(objects.read(hpa), 404, 'NotFound');
    },
  },
  {
    name: 'works with objects of a kind that is defined a moment before',
    async run(place) {
      const { custom, objects } = apisOf(place);
      const { cluster, namespace } = place;
      const group = 'client-node.test.dev';
      const definition = definitionOf(group);
      await objects.create(definition);
      await cluster.waitFor(definition, 'condition=Established');
      const type = { group, version: 'v1', namespace, plural: 'gauges' };
      const body = {
        apiVersion: `${group}/v1`,
        kind: 'Gauge',
        metadata: { name: 'one' },
        spec: { replicas: 1 },
      };
      const created = (await custom.createNamespacedCustomObject({ ...type, body })) as Gauge;
      assert.equal(created.spec.unit, 'ms', 'the default of the schema');
      const bad = { ...body, metadata: { name: 'two' }, spec: { replicas: -1 } };
      await refused(custom.createNamespacedCustomObject({ ...type, body: bad }), 422, 'Invalid');
      const at = { ...type, name: 'one' };
      const status = { ...created, status: { replicas: 1 } };
      await custom.replaceNamespacedCustomObjectStatus({ ...at, body: status });
      await custom.patchNamespacedCustomObjectScale(
        { ...at, body: { spec: { replicas: 4 } } },
        as(PatchStrategy.MergePatch),
      );
      await custom.patchNamespacedCustomObject(
        { ...at, body: [{ op: 'replace', path: '/spec/unit', value: 's' }] },
        as(PatchStrategy.JsonPatch),
      );
      const read = (await custom.getNamespacedCustomObject(at)) as Gauge;
      assert.deepEqual([read.spec, read.status], [{ replicas: 4, unit: 's' }, { replicas: 1 }]);
      const merged = custom.patchNamespacedCustomObject(
        { ...at, body: { spec: {} } },
        as(PatchStrategy.StrategicMergePatch),
      );
      await refused(merged, 415, 'UnsupportedMediaType');
      await objects.delete(definition);
    },
  },
];

interface Gauge {
  readonly spec: { readonly replicas: number; readonly unit: string };
  readonly status?: object;
}

/** As its own types spell it: `_default` goes over the wire as `default`. */
function definitionOf(group: string) {
  const count = { type: 'integer', minimum: 0 };
  const spec = { type: 'object', properties: { replicas: count, unit: { type: 'string', _default: 'ms' } } };
  const status = { type: 'object', properties: { replicas: count } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gauges.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gauges', singular: 'gauge', kind: 'Gauge' },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true },
          subresources: {
            status: {},
            scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
          },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
        },
      ],
    },
  };
}

import { Admission } from '../../src/apiserver/access/admission/index.js';
import { createSigningKey, ServiceAccountTokens } from '../../src/apiserver/access/auth/index.js';
import type { ServedRequest } from '../../src/apiserver/server/api-server-metrics.js';
import { ServedKinds } from '../../src/apiserver/server/background/custom-resources/served-kinds.js';
import { ByteBudget } from '../../src/apiserver/http/byte-budget.js';
import { createKindRegistry } from '../../src/apiserver/kinds/index.js';
import type { Definition } from '../../src/apiserver/kinds/index.js';
import { OpenApiDocuments } from '../../src/apiserver/documents/openapi/openapi-documents.js';
import { createObject, deleteObject } from '../../src/apiserver/objects/registry/index.js';
import { createSchemaRegistry } from '../../src/apiserver/schema/index.js';
import { SharedEvents } from '../../src/apiserver/objects/registry/shared-events.js';
import type { LogEntry } from '../../src/apiserver/storage/index.js';
import { FollowedResources } from '../../src/apiserver/storage/index.js';
import { LogLength } from '../../src/apiserver/storage/log-length.js';
import { MemoryStorage } from '../../src/apiserver/storage/memory-storage.js';
import { RedisKeys } from '../../src/apiserver/storage/redis-layout.js';
import { UnreadableObjects } from '../../src/apiserver/storage/unreadable-objects.js';
import { WatchRing } from '../../src/apiserver/storage/watch-ring.js';
import type { FakeClock } from '../../src/machinery/clock/index.js';
import { SeededRandom } from '../../src/machinery/clock/index.js';
import type { KubernetesObject, UnstructuredObject } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { createApiServerMetrics, ResourceLabels } from '../../src/rollkeeper/cli/api-server-metrics.js';
import type { PassingKeys } from './support/passing-keys.js';
import { describePassingKeys } from './support/passing-keys.js';

const never = new AbortController().signal;
const ROLES = 'roles.rbac.authorization.k8s.io';

function entry(index: number, previous: number): LogEntry {
  return {
    type: 'created',
    key: { resource: `things-${index}`, namespace: `ns-${index}`, name: 'thing' },
    revision: index + 1,
    previousRevision: previous,
    text: '{}',
    writeId: String(index + 1),
    previousWriteId: String(previous),
  };
}

function aDefinition(index: number): Definition {
  const names = {
    plural: `things-${index}`,
    singular: 'thing',
    kind: `Thing${index}`,
    listKind: 'ThingList',
  };
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object' } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things-${index}.group-${index}.com`, uid: `uid-${index}`, generation: 1 },
    spec: {
      group: `group-${index}.com`,
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
    status: {
      acceptedNames: names,
      conditions: [{ type: 'Established', status: 'True' }],
      storedVersions: ['v1'],
    },
  } as unknown as Definition;
}

/** A registry on memory, with admission and its quotas. */
function aRegistry(clock: FakeClock) {
  const memory = new MemoryStorage({ clock, maxLogEntries: 20 });
  const followed = new FollowedResources(memory, { clock, logger: silentLogger });
  const { storage } = followed;
  const common = {
    storage,
    kinds: createKindRegistry(),
    schemas: createSchemaRegistry(),
    clock,
    random: new SeededRandom(1),
    logger: silentLogger,
  };
  const admission = new Admission({
    ...common,
    followed,
    access: { decide: () => ({ allowed: false, reason: '' }) },
    converter: { inFormOf: (_wanted, _own, object) => Promise.resolve(object) },
  });
  const tokens = new ServiceAccountTokens(createSigningKey(), storage, clock);
  return { memory, followed, context: { ...common, admission, events: new SharedEvents(), tokens } };
}

const SORTS: readonly PassingKeys[] = [
  {
    name: 'entries of the watch ring, and of what is known of the log’s length',
    make(clock) {
      const limits = { maxEntries: 20, maxTextLength: 10_000, wakeEveryMs: 0 };
      const ring = new WatchRing({ revision: 0, writeId: '0' }, limits, clock);
      const length = new LogLength({ maxEntries: 20, maxLength: 10_000_000 });
      const use = (index: number): void => {
        const one = entry(index, ring.last);
        ring.append([one]);
        length.add([one]);
      };
      return { kept: [ring, length], use, fill: 100 };
    },
  },
  {
    name: 'watchers of objects, and the events that they share',
    make(clock) {
      const storage = new MemoryStorage({ clock, maxLogEntries: 20 });
      const events = new SharedEvents();
      const use = async (index: number): Promise<void> => {
        const stop = new AbortController();
        const resource = `things-${index}`;
        const after = await storage.currentRevision();
        const watching = storage.watch({ resource, after }, stop.signal)[Symbol.asyncIterator]();
        const next = watching.next();
        const key = { resource, namespace: 'ns', name: 'thing' };
        const object = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'thing', namespace: 'ns' } };
        const { revision } = await storage.create(key, object);
        for (const event of (await next).value ?? []) events.of(event);
        await storage.delete(key, revision);
        stop.abort();
        await watching.next().catch(() => undefined);
      };
      return { kept: [storage, events], use, fill: 150 };
    },
  },
  {
    name: 'followed objects, by name and by namespace',
    make(clock) {
      const store = new MemoryStorage({ clock, maxLogEntries: 20 });
      const followed = new FollowedResources(store, { clock, logger: silentLogger });
      const { storage } = followed;
      const roles = followed.objects(ROLES);
      void followed.run(never);
      const use = async (index: number): Promise<void> => {
        const key = { resource: ROLES, namespace: `ns-${index}`, name: `role-${index}` };
        const object: KubernetesObject = {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { namespace: key.namespace, name: key.name },
        };
        const { revision } = await storage.create(key, object);
        await storage.delete(key, revision);
        roles.list(key.namespace);
        await clock.advance(0);
      };
      return { kept: [roles, followed], use, fill: 30 };
    },
  },
  {
    name: 'objects that cannot be understood, and names of keys in Redis',
    make() {
      const objects = new UnreadableObjects(silentLogger);
      const keys = new RedisKeys('test:');
      const use = (index: number): void => {
        const key = { resource: `things-${index}`, namespace: `ns-${index}`, name: 'thing' };
        keys.of(key.resource);
        objects.add(key, index, 'no object');
        objects.remove(key);
      };
      return { kept: [objects, keys], use, fill: 5000 };
    },
  },
  {
    name: 'definitions of custom resources, with their kinds, schemas and documents',
    most: 2000,
    make() {
      const kinds = createKindRegistry();
      const schemas = createSchemaRegistry();
      const served = new ServedKinds(kinds, schemas);
      const documents = new OpenApiDocuments(kinds, schemas);
      const use = (index: number): void => {
        const definition = aDefinition(index);
        served.put(definition);
        served.remove(definition.metadata.name);
      };
      return { kept: [served, kinds, schemas, documents], use };
    },
  },
  {
    name: 'namespaces with a quota and what it has reserved',
    most: 2000,
    make(clock) {
      const { context, followed, memory } = aRegistry(clock);
      void followed.run(never);
      const kindOf = (resource: string) => context.kinds.find('', 'v1', resource)!;
      const use = async (index: number): Promise<void> => {
        const namespace = `ns-${index}`;
        const put = (resource: string, kind: string, within: string, name: string, spec: object) =>
          context.storage.create({ resource, namespace: within, name }, {
            apiVersion: 'v1',
            kind,
            metadata: { name, namespace: within, uid: `${name}-${index}` },
            spec,
          } as never);
        const space = await put('namespaces', 'Namespace', '', namespace, {});
        await put('resourcequotas', 'ResourceQuota', namespace, 'q', { hard: { configmaps: '1' } });
        const kind = kindOf('configmaps');
        const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } } as UnstructuredObject;
        await createObject(context, { kind, namespace }, config, { dryRun: false });
        await deleteObject(context, { kind, namespace, name: 'c' }, {}, { dryRun: false });
        const quota = { resource: 'resourcequotas', namespace, name: 'q' };
        await context.storage.delete(quota, (await context.storage.get(quota))!.revision);
        await context.storage.delete(
          { resource: 'namespaces', namespace: '', name: namespace },
          space.revision,
        );
        await clock.advance(0);
      };
      return { kept: [context.admission, followed, memory], use, fill: 100 };
    },
  },
  {
    name: 'room that users have for bodies and answers, and wait for',
    make(clock) {
      const budget = new ByteBudget({ limit: 100, clock, patienceMs: 1000, stallMs: 30_000 });
      const use = async (index: number): Promise<void> => {
        const holder = { flow: `user-${index}`, giveUp: () => undefined };
        const leaves = new AbortController();
        const first = await budget.reserve(60, holder, never);
        const second = budget.reserve(60, { ...holder, flow: `other-${index}` }, never);
        const third = budget.reserve(60, { ...holder, flow: `third-${index}` }, leaves.signal);
        leaves.abort(new Error('gone'));
        await third.catch(() => undefined);
        first.release();
        (await second).release();
      };
      return { kept: budget, use };
    },
  },
  {
    name: 'labels of metrics, of resources that were served and defined no more',
    make() {
      const labels = { requests: new ResourceLabels(30), stores: new ResourceLabels(30) };
      const metrics = createApiServerMetrics(createMetrics(), labels);
      const use = (index: number): Promise<unknown> | undefined => {
        const request: ServedRequest = {
          ...{ verb: 'GET', group: `group-${index}.com`, version: 'v1', resource: `things-${index}` },
          subresource: '',
          scope: 'namespace',
        };
        metrics.served(request, 200, 1);
        metrics.received(request, 1);
        metrics.terminated(request, 429);
        metrics.deprecated(request);
        metrics.stored('get', request.resource, 'ok', 1);
        metrics.authenticated('success', `user-${index}`, 1);
        // The SDK bounds the series between two collections alone.
        if (index % 100 === 0) return metrics.serialize();
        return undefined;
      };
      const kept = async (): Promise<number> => (await metrics.serialize()).split('\n').length;
      return { kept, use, fill: 100 };
    },
  },
];

describePassingKeys(SORTS);

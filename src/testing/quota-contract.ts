import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Admission, SERVER } from '../apiserver/access/admission/index.js';
import { createSigningKey, ServiceAccountTokens } from '@rollkeeper/apiserver/auth';
import { createKindRegistry, createSchemaRegistry } from '@rollkeeper/apiserver';
import type { Storage } from '@rollkeeper/apiserver';
import { FollowedResources } from '../apiserver/storage/index.js';
import { createObject, deleteObject, updateObject } from '../apiserver/objects/registry/index.js';
import type { RegistryContext } from '../apiserver/objects/registry/index.js';
import { SharedEvents } from '../apiserver/objects/registry/shared-events.js';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import { cloneJson } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';

const NAMESPACE = 'shop';
const WRITERS = 32;

/** The contract of quotas on a storage. Each call of `make` returns an empty one that runs. */
export function runQuotaContract(
  name: string,
  make: () => Promise<{ readonly storage: Storage; stop(): Promise<void> }>,
): void {
  describe(`quotas on ${name}`, () => {
    let context: RegistryContext;
    let stop: () => Promise<void>;

    const kindOf = (resource: string) => context.kinds.find('', 'v1', resource)!;
    const create = (resource: string, object: object, options = { dryRun: false }) => {
      const kind = kindOf(resource);
      const namespace = kind.type.namespaced ? NAMESPACE : '';
      const whole = { apiVersion: 'v1', kind: kind.type.kind, ...object } as UnstructuredObject;
      return createObject(context, { kind, namespace }, whole, options);
    };
    const createConfigMap = (index: number, options?: { dryRun: boolean }) =>
      create('configmaps', { metadata: { name: `c-${index}` } }, options);
    const remove = (resource: string, object: string) => {
      const target = { kind: kindOf(resource), namespace: NAMESPACE, name: object };
      return deleteObject(context, target, {}, { dryRun: false });
    };
    const createQuota = (hard: object, quota = 'q') =>
      create('resourcequotas', { metadata: { name: quota }, spec: { hard } });
    const used = async (quota = 'q'): Promise<unknown> => {
      const key = { resource: 'resourcequotas', namespace: NAMESPACE, name: quota };
      const found = (await context.storage.get(key))?.object;
      return (found?.status as { used?: unknown } | undefined)?.used;
    };
    const all = <T>(work: (index: number) => Promise<T>) =>
      Promise.allSettled(Array.from({ length: WRITERS }, (_, index) => work(index)));

    beforeEach(async () => {
      const made = await make();
      stop = () => made.stop();
      const clock = new SystemClock();
      const followed = new FollowedResources(made.storage, { clock, logger: silentLogger });
      const { storage } = followed;
      const common = {
        storage,
        kinds: createKindRegistry(),
        schemas: createSchemaRegistry(),
        clock,
        random: new SystemRandom(),
        logger: silentLogger,
      };
      const admission = new Admission({
        ...common,
        followed,
        access: { decide: () => ({ allowed: false, reason: '' }) },
        converter: { inFormOf: (_wanted, _own, object) => Promise.resolve(object) },
      });
      const tokens = new ServiceAccountTokens(createSigningKey(), storage, clock);
      context = { ...common, admission, events: new SharedEvents(), tokens };
      await followed.load();
      await create('namespaces', { metadata: { name: NAMESPACE } });
    });

    afterEach(() => stop());

    it(`let ${WRITERS} at once have just what there is`, async () => {
      await createQuota({ configmaps: '10' });
      const outcomes = await all((index) => createConfigMap(index));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
      const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      for (const { message } of refusals as Error[])
        expect(message).toMatch(
          /^configmaps "c-\d+" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=10, limited: configmaps=10$/,
        );
      expect(await used()).toEqual({ configmaps: '10' });
      const { items } = await context.storage.list('configmaps', { namespace: NAMESPACE });
      expect(items).toHaveLength(10);
    });

    it('give back what is removed, and what was not stored after all', async () => {
      await createQuota({ configmaps: '40', 'count/configmaps': '40' });
      await all(() => createConfigMap(1));
      expect(await used()).toEqual({ configmaps: '1', 'count/configmaps': '1' });
      await all((index) => createConfigMap(index));
      await all((index) => remove('configmaps', `c-${index}`));
      expect(await used()).toEqual({ configmaps: '0', 'count/configmaps': '0' });
    });

    it('count what was there before them, and what they are changed to count', async () => {
      await createConfigMap(1);
      await createQuota({ configmaps: '2' });
      expect(await used()).toEqual({ configmaps: '1' });
      const target = { kind: kindOf('resourcequotas'), namespace: NAMESPACE, name: 'q' };
      const raise = (current: Readonly<UnstructuredObject>): UnstructuredObject => ({
        ...cloneJson<UnstructuredObject>(current),
        spec: { hard: { configmaps: '1', secrets: '5' } },
      });
      await updateObject(context, target, raise, { subresource: '', dryRun: false });
      expect(await used()).toEqual({ configmaps: '1', secrets: '0' });
      await expect(createConfigMap(2)).rejects.toThrow(/exceeded quota: q/);
    });

    it('count around what is in the store and is not what its kind is', async () => {
      const key = { resource: 'pods', namespace: NAMESPACE, name: 'broken' };
      const metadata = { name: 'broken', namespace: NAMESPACE, uid: 'broken' };
      const broken = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: 5 } };
      await context.storage.create(key, broken);
      await createQuota({ pods: '1', 'requests.cpu': '1' });
      const resources = { requests: { cpu: '1' } };
      const pod = (name: string) =>
        create('pods', { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i', resources }] } });
      await pod('first');
      expect(await used()).toEqual({ pods: '1', 'requests.cpu': '1' });
      await expect(pod('second')).rejects.toThrow(/exceeded quota: q/);
    });

    it('count again before they refuse a request', async () => {
      await createQuota({ configmaps: '1' });
      const key = { resource: 'resourcequotas', namespace: NAMESPACE, name: 'q' };
      const { object, revision } = (await context.storage.get(key))!;
      const status = { hard: { configmaps: '1' }, used: { configmaps: '1' } };
      await context.storage.update(key, { ...object, status }, revision);
      await createConfigMap(1);
      expect(await used()).toEqual({ configmaps: '1' });
    });

    it('all have to agree, and one that refuses leaves the others as they were', async () => {
      await createQuota({ configmaps: '5' }, 'a');
      await createQuota({ 'count/configmaps': '0' }, 'b');
      await expect(createConfigMap(1)).rejects.toThrow(/exceeded quota: b/);
      expect(await used('a')).toEqual({ configmaps: '0' });
    });

    it('bind a dry run, which uses nothing', async () => {
      await createQuota({ configmaps: '1' });
      await createConfigMap(1, { dryRun: true });
      expect(await used()).toEqual({ configmaps: '0' });
      await createConfigMap(1);
      await expect(createConfigMap(2, { dryRun: true })).rejects.toThrow(/exceeded quota/);
    });

    it('let a pod that has come to its end make room for another', async () => {
      await createQuota({ pods: '1' });
      const pod = (podName: string) =>
        create('pods', { metadata: { name: podName }, spec: { containers: [{ name: 'c', image: 'i' }] } });
      await pod('first');
      await expect(pod('second')).rejects.toThrow(/exceeded quota: q, requested: pods=1, used: pods=1/);
      const target = { kind: kindOf('pods'), namespace: NAMESPACE, name: 'first' };
      const end = (current: Readonly<UnstructuredObject>): UnstructuredObject => ({
        ...cloneJson<UnstructuredObject>(current),
        status: { phase: 'Succeeded' },
      });
      await updateObject(context, target, end, { subresource: 'status', dryRun: false, caller: SERVER });
      expect(await used()).toEqual({ pods: '0' });
      await pod('second');
      await remove('pods', 'first');
      expect(await used()).toEqual({ pods: '1' });
    });
  });
}

import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, SeededRandom } from '../../../machinery/clock/index.js';
import { qualifiedResource } from '../../../machinery/kubernetes/index.js';
import type { UnstructuredObject } from '../../../machinery/kubernetes/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { Admission } from '../../access/admission/index.js';
import { createSigningKey, ServiceAccountTokens } from '../../access/auth/index.js';
import { badRequest } from '../../schema/errors/index.js';
import { createKindRegistry } from '../../kinds/index.js';
import { createSchemaRegistry } from '../../schema/index.js';
import { FollowedResources, MemoryStorage, StorageUnavailableError } from '../../storage/index.js';
import type { StorageKey, StoredObject } from '../../storage/index.js';
import { SharedEvents } from './shared-events.js';
import { deleteObject } from './delete-object.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';
import { updateObject } from './update-object.js';

const clock = new FakeClock();
const kinds = createKindRegistry();
const schemas = createSchemaRegistry();
const kind = kinds.find('apps', 'v1', 'replicasets')!;
const target: ObjectTarget = { kind, namespace: 'default', name: 'web' };
const key: StorageKey = { resource: qualifiedResource(kind.type), namespace: 'default', name: 'web' };
const OPTIONS = { subresource: '', dryRun: false } as const;

/** A storage whose `recall` returns what the test wants, outdated or not. */
class ForgetfulStorage extends MemoryStorage {
  remembered: StoredObject | undefined;
  reads = 0;
  updates = 0;
  failure: Error | undefined;

  async remember(): Promise<void> {
    this.remembered = await super.get(key);
  }

  override recall(): StoredObject | undefined {
    if (!this.remembered) return undefined;
    const { object, revision } = this.remembered;
    return { object: structuredClone(object), revision };
  }

  override get(asked: StorageKey): Promise<StoredObject | undefined> {
    if (asked.resource === key.resource) this.reads++;
    return super.get(asked);
  }

  override update: MemoryStorage['update'] = (...args) => {
    this.updates++;
    return this.failure ? Promise.reject(this.failure) : super.update(...args);
  };
}

let storage: ForgetfulStorage;
let context: RegistryContext;

beforeEach(async () => {
  storage = new ForgetfulStorage({ clock });
  context = {
    storage,
    kinds,
    schemas,
    clock,
    random: new SeededRandom(1),
    logger: silentLogger,
    admission: new Admission({
      storage,
      followed: new FollowedResources(storage, { clock, logger: silentLogger }),
      kinds,
      schemas,
      clock,
      random: new SeededRandom(1),
      logger: silentLogger,
      access: { decide: () => ({ allowed: false, reason: '' }) },
      converter: { inFormOf: (_wanted, _own, object) => Promise.resolve(object) },
    }),
    events: new SharedEvents(),
    tokens: new ServiceAccountTokens(createSigningKey(), storage, clock),
  };
  await storage.create(
    { resource: 'namespaces', namespace: '', name: 'default' },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } },
  );
  await storage.create(key, aReplicaSet('first'));
  await storage.remember();
});

describe('An update', () => {
  it('reads nothing when what is remembered is the current state', async () => {
    const updated = await annotate('mine', 'yes');
    expect(updated.metadata.annotations).toEqual({ mine: 'yes' });
    expect(storage.reads).toBe(0);
  });

  it('starts again from the current state when another process has written in between', async () => {
    await byAnother((object) => (object.metadata.annotations = { theirs: 'yes' }));
    const updated = await annotate('mine', 'yes');
    expect(updated.metadata.annotations).toEqual({ theirs: 'yes', mine: 'yes' });
  });

  it('never shows an error that rests on an outdated state', async () => {
    await byAnother((object) => (object.metadata.annotations = { allowed: 'yes' }));
    const updated = await change((object) => {
      if (!object.metadata.annotations?.allowed) throw badRequest('not allowed');
      object.metadata.annotations.mine = 'yes';
    });
    expect(updated.metadata.annotations).toEqual({ allowed: 'yes', mine: 'yes' });
  });

  it('shows the error that the current state leads to', async () => {
    await byAnother((object) => (object.metadata.annotations = { forbidden: 'yes' }));
    const changed = change((object) => {
      throw badRequest(`forbidden: ${object.metadata.annotations?.forbidden ?? 'no'}`);
    });
    await expect(changed).rejects.toMatchObject({ status: { message: 'forbidden: yes' } });
  });

  it('is no conflict if it is of the current version, because an older one is remembered', async () => {
    const { revision } = await byAnother((object) => (object.metadata.labels = { theirs: 'yes' }));
    const updated = await change((object) => (object.metadata.annotations = { mine: 'yes' }), revision);
    expect(updated.metadata.annotations).toEqual({ mine: 'yes' });
    expect(updated.metadata.labels).toEqual({ theirs: 'yes' });
  });

  it('is a conflict if it is of an older version, also when just that one is remembered', async () => {
    await byAnother((object) => (object.metadata.labels = { theirs: 'yes' }));
    const changed = change(
      (object) => (object.metadata.annotations = { mine: 'yes' }),
      storage.remembered?.revision,
    );
    await expect(changed).rejects.toMatchObject({ status: { code: 409, reason: 'Conflict' } });
  });

  it('changes the current state if it would change nothing of an outdated one', async () => {
    await byAnother((object) => (object.metadata.annotations = { value: 'theirs' }));
    const updated = await change((object) => delete object.metadata.annotations);
    expect(updated.metadata.annotations).toBeUndefined();
    expect((await storage.get(key))?.object.metadata.annotations).toBeUndefined();
  });

  it('shows, as a dry run, what would become of the current state', async () => {
    await byAnother((object) => (object.metadata.annotations = { theirs: 'yes' }));
    const tryUpdate = (current: Readonly<UnstructuredObject>) => annotated(current, 'mine', 'yes');
    const { object: shown } = await updateObject(context, target, tryUpdate, { ...OPTIONS, dryRun: true });
    expect(shown.metadata.annotations).toEqual({ theirs: 'yes', mine: 'yes' });
    expect(storage.updates).toBe(0);
  });

  it('finds nothing when another process has deleted the object', async () => {
    await deletedByAnother();
    await expect(annotate('mine', 'yes')).rejects.toMatchObject({ status: { code: 404 } });
  });

  it('changes the new object when another process has put one in the place of the old', async () => {
    await deletedByAnother();
    await storage.create(key, aReplicaSet('second'));
    const updated = await annotate('mine', 'yes');
    expect(updated.metadata).toMatchObject({ uid: 'second', annotations: { mine: 'yes' } });
  });

  it('finds what exists, whatever is remembered', async () => {
    storage.remembered = undefined;
    expect((await annotate('mine', 'yes')).metadata.annotations).toEqual({ mine: 'yes' });
  });

  it('with an unknown result is not written again', async () => {
    storage.failure = new StorageUnavailableError('no answer');
    await expect(annotate('mine', 'yes')).rejects.toMatchObject({ status: { code: 503 } });
    expect(storage.updates).toBe(1);
  });
});

describe('A deletion', () => {
  it('reads nothing when what is remembered is the current state', async () => {
    const { removed } = await remove({});
    expect(removed).toBe(true);
    expect(storage.reads).toBe(0);
    expect(await storage.get(key)).toBeUndefined();
  });

  it('holds its preconditions against the current state', async () => {
    const { revision } = await byAnother((object) => (object.metadata.labels = { theirs: 'yes' }));
    const { removed } = await remove({ preconditions: { resourceVersion: String(revision) } });
    expect(removed).toBe(true);
  });

  it('is refused if it is of another object of that name, also when the one meant is remembered', async () => {
    await deletedByAnother();
    await storage.create(key, aReplicaSet('second'));
    await expect(remove({ preconditions: { uid: 'first' } })).rejects.toMatchObject({
      status: { code: 409 },
    });
    expect((await storage.get(key))?.object.metadata.uid).toBe('second');
  });

  it('finds nothing when another process was faster', async () => {
    await deletedByAnother();
    await expect(remove({})).rejects.toMatchObject({ status: { code: 404 } });
  });

  it('waits for a finalizer that another process has put meanwhile', async () => {
    await byAnother((object) => (object.metadata.finalizers = ['example.com/theirs']));
    const { object, removed } = await remove({});
    expect(removed).toBe(false);
    expect(object.metadata.deletionTimestamp).toBeDefined();
  });

  it('does what is due to the current state if it would do nothing to an outdated one', async () => {
    const { revision } = await byAnother((object) => {
      object.metadata.finalizers = ['example.com/theirs'];
      object.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    });
    await storage.remember();
    await storage.delete(key, revision);
    await storage.create(key, aReplicaSet('second'));
    expect(await remove({})).toMatchObject({ removed: true, object: { metadata: { uid: 'second' } } });
  });

  it('shows the current state as a dry run', async () => {
    await byAnother((object) => (object.metadata.labels = { theirs: 'yes' }));
    const { object } = await deleteObject(context, target, {}, { dryRun: true });
    expect(object.metadata.labels).toEqual({ theirs: 'yes' });
    expect(await storage.get(key)).toBeDefined();
  });
});

function aReplicaSet(uid: string): UnstructuredObject {
  const labels = { app: 'web' };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web', namespace: 'default', uid, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    },
  };
}

/** @param version that the caller insists on */
async function change(
  make: (candidate: UnstructuredObject) => unknown,
  version?: number,
): Promise<UnstructuredObject> {
  const tryUpdate = (current: Readonly<UnstructuredObject>): UnstructuredObject => {
    const candidate = structuredClone(current) as UnstructuredObject;
    make(candidate);
    candidate.metadata.resourceVersion = version === undefined ? undefined : String(version);
    return candidate;
  };
  return (await updateObject(context, target, tryUpdate, OPTIONS)).object;
}

function annotated(current: Readonly<UnstructuredObject>, name: string, value: string): UnstructuredObject {
  const candidate = structuredClone(current) as UnstructuredObject;
  candidate.metadata.annotations = { ...candidate.metadata.annotations, [name]: value };
  return candidate;
}

async function annotate(name: string, value: string): Promise<UnstructuredObject> {
  const tryUpdate = (current: Readonly<UnstructuredObject>) => annotated(current, name, value);
  return (await updateObject(context, target, tryUpdate, OPTIONS)).object;
}

function remove(request: Parameters<typeof deleteObject>[2]): ReturnType<typeof deleteObject> {
  return deleteObject(context, target, request, { dryRun: false });
}

/** Makes a change that this process does not learn of. */
async function byAnother(
  make: (object: UnstructuredObject) => unknown,
): Promise<StoredObject<KubernetesObject>> {
  const current = (await MemoryStorage.prototype.get.call(storage, key))!;
  make(current.object);
  return MemoryStorage.prototype.update.call(storage, key, current.object, current.revision);
}

async function deletedByAnother(): Promise<void> {
  await storage.delete(key, storage.remembered!.revision);
}

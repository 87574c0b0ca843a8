import type { ApiClient } from '@rollkeeper/client/api-client';
import { delegatingClient, isConflict, isNotFound, listAll, unlessGone } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { TimeoutError, errorMessage } from '@rollkeeper/machinery/errors';
import type {
  DeepReadonly,
  KubernetesObject,
  ObjectRef,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import { keyOf, qualifiedResource } from '@rollkeeper/machinery/kubernetes';

/** Pause between two checks whether a deleted object still exists. */
const LOOK_PAUSE_MS = 50;
const TIMEOUT_MS = 120_000;
/** Verbs of a type whose objects can be found and deleted. */
const NEEDED = ['list', 'get', 'delete'];
/** They have no owners, and there are many. */
const EVENTS = ['events', 'events.events.k8s.io'];

interface MadeObject {
  readonly type: ResourceType;
  readonly ref: ObjectRef;
  readonly uid: string;
}

/** The objects that a test has made on a cluster that keeps running afterwards. */
export class MadeObjects {
  private made: MadeObject[] = [];

  /** @param client deletes them */
  constructor(
    private readonly client: ApiClient,
    private readonly clock: Clock,
  ) {}

  note(type: ResourceType, { metadata }: DeepReadonly<KubernetesObject>): void {
    const { name, namespace, uid } = metadata;
    // Reviews and the like are answered and not stored.
    if (!uid) return;
    this.made.push({ type, ref: namespace === undefined ? { name } : { namespace, name }, uid });
  }

  /** Wraps `client` to note what it creates. */
  clientOf(client: ApiClient): ApiClient {
    const create: ApiClient['create'] = async (type, object, options) => {
      const stored = await client.create(type, object, options);
      if (!options?.dryRun && options?.subresource === undefined) this.note(type, stored);
      return stored;
    };
    return { ...delegatingClient(client), create };
  }

  /**
   * Deletes all of them, the newest first, and what they own. Resolves when none of them exists any more.
   * @throws the server's refusal, or a TimeoutError naming what still exists; an AggregateError of several
   */
  async remove(timeoutMs = TIMEOUT_MS): Promise<void> {
    const deadlineMs = this.clock.monotonicNow() + timeoutMs;
    const failures: unknown[] = [];
    const made = this.made.reverse();
    this.made = [];
    const attempt = (work: Promise<void>): Promise<void> =>
      work.catch((error: unknown) => void failures.push(error));
    const owners = made.filter(mayOwn);
    for (const each of owners) await attempt(this.removeOne(each, deadlineMs));
    await attempt(this.removeOwned(owners, deadlineMs));
    for (const each of made) if (!owners.includes(each)) await attempt(this.removeOne(each, deadlineMs));
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new AggregateError(failures, told(failures));
  }

  private async removeOne(object: MadeObject, deadlineMs: number): Promise<void> {
    if (await this.delete(object)) await this.gone(object, deadlineMs);
  }

  /** @returns whether it was there */
  private async delete({ ref, type, uid }: MadeObject): Promise<boolean> {
    try {
      await this.client.delete(type, ref, { propagationPolicy: 'Background', preconditions: { uid } });
      return true;
    } catch (error) {
      // It no longer exists, and another object may have its name. The definition of its kind may have been deleted as
      // well.
      if (isNotFound(error) || isConflict(error)) return false;
      throw error;
    }
  }

  private async gone({ ref, type, uid }: MadeObject, deadlineMs: number): Promise<void> {
    const { client, clock } = this;
    for (;;) {
      const object = await unlessGone(client.get(type, ref));
      if (object?.metadata.uid !== uid) return;
      if (clock.monotonicNow() >= deadlineMs) throw new TimeoutError(remains(type, object));
      await clock.sleep(LOOK_PAUSE_MS);
    }
  }

  /**
   * A garbage collector learns of a new kind up to half a minute after its definition. It cannot look for owners whose
   * definition was deleted.
   */
  private async removeOwned(owners: readonly MadeObject[], deadlineMs: number): Promise<void> {
    if (owners.length === 0) return;
    const gone = new Set(owners.map(({ uid }) => uid));
    const namespaces = new Set(owners.map(({ ref }) => ref.namespace));
    const { resources } = await this.client.discover();
    const types = resources.filter(
      (type) =>
        NEEDED.every((verb) => type.verbs.includes(verb)) &&
        !EVENTS.includes(qualifiedResource(type)) &&
        (type.namespaced || namespaces.has(undefined)),
    );
    for (;;) {
      const owned: MadeObject[] = [];
      for (const type of types) owned.push(...(await this.ownedOf(type, namespaces, gone)));
      if (owned.length === 0) return;
      for (const each of owned) gone.add(each.uid);
      for (const each of owned) await this.delete(each);
      for (const each of owned) await this.gone(each, deadlineMs);
    }
  }

  /** The objects of a type that have owners, and none that is left. */
  private async ownedOf(
    type: ResourceType,
    namespaces: ReadonlySet<string | undefined>,
    gone: ReadonlySet<string>,
  ): Promise<MadeObject[]> {
    const { client } = this;
    const places = !type.namespaced || namespaces.has(undefined) ? [undefined] : [...namespaces];
    const found: MadeObject[] = [];
    for (const namespace of places) {
      const objects = await unlessGone(
        listAll<KubernetesObject>(client, type, {
          ...(namespace !== undefined && { namespace }),
          metadataOnly: true,
        }),
      );
      for (const { metadata } of objects ?? []) {
        const { name, namespace: in_, ownerReferences = [], uid = '' } = metadata;
        if (ownerReferences.length > 0 && ownerReferences.every((owner) => gone.has(owner.uid)))
          found.push({ type, ref: in_ === undefined ? { name } : { namespace: in_, name }, uid });
      }
    }
    return found;
  }
}

const OWN_NOTHING: ReadonlySet<string> = new Set(['namespaces', 'serviceaccounts', 'nodes']);
const OWN_NOTHING_GROUPS: ReadonlySet<string> = new Set([
  'rbac.authorization.k8s.io',
  'apiextensions.k8s.io',
  'admissionregistration.k8s.io',
]);

/** The objects that an operator needs in order to clean up behind its own are not among these, and go after them. */
function mayOwn({ type }: MadeObject): boolean {
  return !OWN_NOTHING.has(qualifiedResource(type)) && !OWN_NOTHING_GROUPS.has(type.group);
}

function remains({ kind }: ResourceType, { metadata }: KubernetesObject): string {
  const { finalizers = [] } = metadata;
  const why = finalizers.length === 0 ? '' : `; its finalizers are ${finalizers.join(', ')}`;
  return `${kind} ${keyOf(metadata)} was deleted and is still there${why}`;
}

function told(failures: readonly unknown[]): string {
  return `the cluster could not be cleaned up: ${failures.map(errorMessage).join('; ')}`;
}

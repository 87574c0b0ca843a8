import { errorMessage } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { cloneJson, objectOfKind, sameJson } from '@rollkeeper/machinery/kubernetes';
import { DueNames, LONGEST_PAUSE_MS } from '../due-names.js';
import { StatusError } from '../../../schema/errors/index.js';
import { CLEANUP_FINALIZER, storedResourceOf } from '../../../kinds/index.js';
import type { Definition, KindDefinition } from '../../../kinds/index.js';
import { updateObject } from '../../../objects/registry/index.js';
import type { DefinitionObserver, RegistryContext } from '../../../objects/registry/index.js';
import type { FollowedResource, FollowedResources } from '../../../storage/index.js';
import { deleteAllObjects, ObjectsLeftError } from './delete-all-objects.js';
import { decideDefinitionStatus, statusWhileTerminating } from './decide-status.js';
import { ServedKinds } from './served-kinds.js';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';
const RETRY_MS = 200;

/** A failed clean-up. */
interface FailedCleaning {
  readonly spec: Definition['spec'];
  readonly failures: number;
}

/**
 * Serves custom resources: accepts the names of definitions, keeps the served kinds in sync with them, and deletes the
 * objects of a definition before it is removed. Every API server on a store does all of this: the decisions are the
 * same, and the second one finds nothing left to do.
 */
export class CustomResources implements DefinitionObserver {
  private readonly served: ServedKinds;
  private readonly definitions: FollowedResource;
  /** Names of definitions that need a new status, or the deletion of their objects. */
  private readonly due: DueNames;
  private readonly cleaning = new Map<string, Promise<void>>();
  private readonly failed = new Map<string, FailedCleaning>();

  constructor(
    {
      followed,
      kinds,
      schemas,
      clock,
    }: Pick<RegistryContext, 'clock' | 'kinds' | 'schemas'> & { readonly followed: FollowedResources },
    private readonly context: () => RegistryContext,
  ) {
    this.served = new ServedKinds(kinds, schemas);
    this.due = new DueNames({
      clock,
      retryMs: RETRY_MS,
      look: (name, signal) => this.lookAfter(name, signal),
      failed: (name, error) => this.isToBeTriedAgain(name, error),
    });
    this.definitions = followed.of(DEFINITIONS);
    this.definitions.onChange(({ name }, definition) =>
      definition ? this.changed(objectOfKind(definition)) : this.gone(name),
    );
  }

  /** Does what definitions need until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await this.due.run(signal);
    await Promise.all(this.cleaning.values());
  }

  /** After a definition is written, the next request may use the resource. */
  async settle(object: KubernetesObject): Promise<void> {
    try {
      await this.apply(objectOfKind(object));
    } catch (error) {
      // The write itself succeeded; the follow-up is due.
      const { name } = object.metadata;
      this.context().logger.warn('the names of a custom resource definition could not be settled yet', {
        name,
        error: errorMessage(error),
      });
    }
  }

  /** Another server may have written the definition a moment ago. */
  async find(group: string, version: string, resource: string): Promise<KindDefinition | undefined> {
    if (!group.includes('.')) return undefined;
    const found = await this.definitions.lookUp('', `${resource}.${group}`);
    return found && this.context().kinds.find(group, version, resource);
  }

  private changed(definition: Readonly<Definition>): void {
    this.served.put(definition);
    const { name } = definition.metadata;
    if (this.decide(definition) || (isToBeCleaned(definition) && !this.hasFailed(definition)))
      this.due.add(name);
  }

  /** The next attempt at it comes by itself: what is written about a failure must not cause it. */
  private hasFailed({ metadata, spec }: Readonly<Definition>): boolean {
    const failed = this.failed.get(metadata.name);
    return failed !== undefined && sameJson(failed.spec, spec);
  }

  private gone(name: string): void {
    this.failed.delete(name);
    const group = this.served.remove(name);
    if (group !== undefined) for (const waiting of this.served.waitingIn(group)) this.due.add(waiting);
  }

  private isToBeTriedAgain(name: string, error: unknown): boolean {
    this.context().logger.warn('a custom resource definition could not be settled yet', {
      name,
      error: errorMessage(error),
    });
    // One that is not valid any more has to be changed first.
    return !hasCode(error, 422);
  }

  private async lookAfter(name: string, signal: AbortSignal): Promise<void> {
    const found = await this.definitions.lookUp('', name);
    if (!found) return;
    const definition: Definition = objectOfKind(found);
    try {
      // Another definition with the same kind may have been deleted.
      this.served.put(definition);
      await this.apply(definition);
    } finally {
      if (isToBeCleaned(definition) && !this.cleaning.has(name)) this.startCleaning(definition, signal);
    }
  }

  private startCleaning(definition: Readonly<Definition>, signal: AbortSignal): void {
    const { name } = definition.metadata;
    const work = this.cleanUp(definition, signal).finally(() => this.cleaning.delete(name));
    this.cleaning.set(name, work);
  }

  private decide(definition: Readonly<Definition>): Definition['status'] {
    const taken = this.served.takenBeside(definition.metadata.name, definition.spec.group);
    return decideDefinitionStatus(definition, taken, this.context().clock.now());
  }

  /** Writes the status of a definition that is not as it should be, and lets it go when nothing holds it. */
  private async apply(definition: Readonly<Definition>): Promise<void> {
    const { name } = definition.metadata;
    try {
      if (this.decide(definition)) {
        const updated = await this.update(name, 'status', (current) => {
          const status = this.decide(current);
          return status ? { ...current, status } : current;
        });
        // Another server may have been faster, and the watch may not have shown it yet.
        const key = { resource: DEFINITIONS, namespace: '', name };
        this.definitions.tell(key, updated, Number(updated.metadata.resourceVersion));
      }
      if (isToBeCleaned(definition) && !(await this.hasObjects(definition))) await this.letGo(name);
    } catch (error) {
      // The definition was deleted meanwhile.
      if (!hasCode(error, 404)) throw error;
    }
  }

  private async hasObjects(definition: Readonly<Definition>): Promise<boolean> {
    const resource = this.ownResource(definition);
    if (resource === undefined) return false;
    const { items } = await this.context().storage.list(resource, { limit: 1 });
    return items.length > 0;
  }

  /** The place in the store that has only the objects of this definition. */
  private ownResource(definition: Readonly<Definition>): string | undefined {
    const resource = storedResourceOf(definition);
    return resource === undefined || this.context().kinds.isBuiltIn(resource) ? undefined : resource;
  }

  /** Removes the finalizer. Several servers may try: the first one succeeds. */
  private async letGo(name: string): Promise<void> {
    try {
      await this.update(name, '', (current) => {
        const finalizers = current.metadata.finalizers?.filter((entry) => entry !== CLEANUP_FINALIZER);
        return { ...current, metadata: { ...current.metadata, finalizers } };
      });
    } catch (error) {
      if (!hasCode(error, 404)) throw error;
    }
  }

  private async update(
    name: string,
    subresource: '' | 'status',
    change: (current: Definition) => Definition,
  ): Promise<UnstructuredObject> {
    const context = this.context();
    const kind = context.kinds.findByKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition')!;
    const { object } = await updateObject(
      context,
      { kind, namespace: '', name },
      (current) => {
        const changed = change(objectOfKind(cloneJson(current)));
        // A concurrent change is no reason to give up: the change is applied to the newest state.
        return { ...changed, metadata: { ...changed.metadata, resourceVersion: undefined } };
      },
      { subresource, dryRun: false },
    );
    return object;
  }

  /**
   * Deletes the objects, waits until the last one is deleted, and releases the definition; or reports why not, and retries
   * later.
   */
  private async cleanUp(definition: Readonly<Definition>, signal: AbortSignal): Promise<void> {
    const { name } = definition.metadata;
    try {
      if (this.ownResource(definition) !== undefined)
        await deleteAllObjects(this.context(), definition, signal);
      await this.letGo(name);
      this.failed.delete(name);
    } catch (error) {
      if (signal.aborted) return;
      const failures = this.failed.get(name)?.failures ?? 0;
      this.failed.set(name, { spec: definition.spec, failures: failures + 1 });
      await this.showFailure(name, error);
      const pauseMs = doublingDelayMs(failures, { firstMs: RETRY_MS, longestMs: LONGEST_PAUSE_MS });
      this.tryLater(name, pauseMs, signal);
    }
  }

  private async showFailure(name: string, error: unknown): Promise<void> {
    const { clock, logger } = this.context();
    const problem = errorMessage(error);
    logger.warn('the objects of a deleted definition could not be deleted yet', { name, error: problem });
    const failure =
      error instanceof ObjectsLeftError
        ? {
            reason: 'InstanceDeletionCheck',
            message: `could not confirm zero CustomResources remaining: ${problem}`,
          }
        : { reason: 'InstanceDeletionFailed', message: `could not issue all deletes: ${problem}` };
    try {
      await this.update(name, 'status', (current) => ({
        ...current,
        status: statusWhileTerminating(current, clock.now(), failure),
      }));
    } catch (unwritten) {
      if (!hasCode(unwritten, 404))
        logger.warn('the status of a deleted definition could not be written', {
          name,
          error: errorMessage(unwritten),
        });
    }
  }

  private tryLater(name: string, pauseMs: number, signal: AbortSignal): void {
    void this.context()
      .clock.sleep(pauseMs, signal)
      .then(
        () => this.due.add(name),
        () => undefined,
      );
  }
}

function isToBeCleaned({ metadata }: Readonly<Definition>): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(CLEANUP_FINALIZER);
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof StatusError && error.status.code === code;
}

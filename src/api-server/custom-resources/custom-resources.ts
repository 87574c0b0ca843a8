import { errorMessage } from '../../base/errors/index.js';
import type { KubernetesObject, UnstructuredObject } from '../../base/kubernetes/index.js';
import { cloneJson } from '../../base/kubernetes/index.js';
import { StatusError } from '../errors/index.js';
import { CLEANUP_FINALIZER } from '../kinds/index.js';
import type { Definition, KindDefinition } from '../kinds/index.js';
import { updateObject } from '../registry/index.js';
import type { DefinitionObserver, RegistryContext } from '../registry/index.js';
import type { StorageList } from '../storage/index.js';
import { deleteAllObjects } from './delete-all-objects.js';
import { decideDefinitionStatus, isEstablished } from './decide-status.js';
import { ServedKinds } from './served-kinds.js';

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';
const RETRY_MS = 200;
/** Characters of what is read together. */
const PAGE_LENGTH = 4 * 1024 * 1024;

/**
 * Serves what users define: gives definitions their names, keeps the kinds in step with them, and deletes the objects of
 * a definition before it goes. Every API server on a store does all of it: the decisions are the same, and whoever is
 * second finds nothing left to do.
 */
export class CustomResources implements DefinitionObserver {
  private readonly served: ServedKinds;
  private readonly cleaning = new Map<string, Promise<void>>();

  constructor(
    { kinds, schemas }: Pick<RegistryContext, 'kinds' | 'schemas'>,
    private readonly context: () => RegistryContext,
  ) {
    this.served = new ServedKinds(kinds, schemas);
  }

  /** Serves the definitions that are there. */
  async load(): Promise<void> {
    await this.listAll();
  }

  /** Follows the definitions until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.context();
    while (!signal.aborted) {
      try {
        await this.follow(signal);
      } catch (error) {
        if (signal.aborted) break;
        logger.warn('the watch of custom resource definitions broke, starting again', {
          error: errorMessage(error),
        });
      }
      if (!signal.aborted) await clock.sleep(RETRY_MS, signal).catch(() => undefined);
    }
    await Promise.all(this.cleaning.values());
  }

  /** A write of this process counts at once: whoever made it may use the resource with the next request. */
  async written(object: KubernetesObject): Promise<void> {
    try {
      await this.settle(object as Definition);
    } catch (error) {
      // The watch told of something that is over by now.
      if (isNotFound(error)) return;
      // The write itself stands; the watch tells of it again.
      const { name } = object.metadata;
      this.context().logger.warn('the names of a custom resource definition could not be settled yet', {
        name,
        error: errorMessage(error),
      });
    }
  }

  removed(name: string, revision: number): void {
    this.served.forget(name, revision, { isTold: false });
  }

  /** Another server may have written the definition a moment ago. */
  async find(group: string, version: string, resource: string): Promise<KindDefinition | undefined> {
    if (!group.includes('.')) return undefined;
    const name = `${resource}.${group}`;
    const found = await this.context().storage.get({ resource: DEFINITIONS, namespace: '', name });
    if (!found) return undefined;
    this.served.observe(found.object as Definition);
    return this.context().kinds.find(group, version, resource);
  }

  private async settle(definition: Readonly<Definition>): Promise<void> {
    this.served.observe(definition);
    const { name } = definition.metadata;
    const nowMs = this.context().clock.now();
    const decide = (current: Readonly<Definition>): Definition['status'] =>
      decideDefinitionStatus(current, this.served.takenBeside(name, current.spec?.group ?? ''), nowMs);
    if (decide(definition) !== undefined) {
      const updated = await this.update(name, 'status', (current) => {
        const status = decide(current);
        return status ? { ...current, status } : current;
      });
      this.served.observe(updated as Definition);
    }
    if (isToBeCleaned(definition) && !(await this.hasObjects(definition))) await this.letGo(name);
  }

  private async hasObjects({ metadata }: Readonly<Definition>): Promise<boolean> {
    // The name of a definition is the qualified resource of its objects.
    const { items } = await this.context().storage.list(metadata.name, { limit: 1 });
    return items.length > 0;
  }

  /** Of several who let it go, the first one does. */
  private async letGo(name: string): Promise<void> {
    try {
      await this.update(name, '', (current) => {
        const finalizers = current.metadata.finalizers?.filter((entry) => entry !== CLEANUP_FINALIZER);
        return { ...current, metadata: { ...current.metadata, finalizers } };
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  private async update(
    name: string,
    subresource: '' | 'status',
    change: (current: Definition) => Definition,
  ): Promise<UnstructuredObject> {
    const context = this.context();
    const kind = context.kinds.findByKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition')!;
    return updateObject(
      context,
      { kind, namespace: '', name },
      (current) => {
        const changed = change(cloneJson(current) as Definition);
        // Whoever was faster is no reason to give up: the change is made to the newest state.
        return { ...changed, metadata: { ...changed.metadata, resourceVersion: undefined } };
      },
      { subresource, dryRun: false },
    );
  }

  private async follow(signal: AbortSignal): Promise<void> {
    const after = await this.listAll(signal);
    for await (const events of this.context().storage.watch({ resource: DEFINITIONS, after }, signal)) {
      for (const event of events) {
        if (event.type === 'progress') continue;
        const definition = event.object as Definition;
        if (event.type === 'deleted') await this.gone(definition);
        else await this.seen(definition, signal);
      }
    }
  }

  private async seen(definition: Definition, signal: AbortSignal): Promise<void> {
    await this.written(definition);
    const { name } = definition.metadata;
    if (!isToBeCleaned(definition) || this.cleaning.has(name)) return;
    const work = this.cleanUp(definition, signal).finally(() => this.cleaning.delete(name));
    this.cleaning.set(name, work);
  }

  private async gone({ metadata, spec }: Readonly<Definition>): Promise<void> {
    this.served.forget(metadata.name, Number(metadata.resourceVersion), { isTold: true });
    const { storage } = this.context();
    for (const name of this.served.waitingIn(spec?.group ?? '')) {
      const waiting = await storage.get({ resource: DEFINITIONS, namespace: '', name });
      if (waiting) await this.written(waiting.object);
    }
  }

  /** Deletes the objects, waits until the last one is gone, and lets the definition go. Again and again, until it is done. */
  private async cleanUp(definition: Definition, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.context();
    const { name } = definition.metadata;
    while (!signal.aborted) {
      try {
        if (isEstablished(definition)) await deleteAllObjects(this.context(), definition, signal);
        await this.letGo(name);
        return;
      } catch (error) {
        if (signal.aborted) return;
        logger.warn('the objects of a deleted definition could not be deleted yet', {
          name,
          error: errorMessage(error),
        });
        await clock.sleep(RETRY_MS, signal).catch(() => undefined);
      }
    }
  }

  /** Page by page: a definition may be large. Returns the revision that is known then. */
  private async listAll(signal?: AbortSignal): Promise<number> {
    const gone = new Set(this.served.names);
    let page: StorageList | undefined;
    do {
      page = await this.context().storage.list(DEFINITIONS, {
        maxTextLength: PAGE_LENGTH,
        continueFrom: page?.next,
      });
      for (const { object } of page.items) {
        gone.delete(object.metadata.name);
        if (signal) await this.seen(object as Definition, signal);
        else this.served.observe(object as Definition);
      }
    } while (page.next);
    for (const name of gone) this.served.forget(name, page.revision, { isTold: true });
    return page.revision;
  }
}

function isToBeCleaned({ metadata }: Readonly<Definition>): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(CLEANUP_FINALIZER);
}

function isNotFound(error: unknown): boolean {
  return error instanceof StatusError && error.status.code === 404;
}

import type { Logger } from '../../base/logging/index.js';
import { NAMESPACES, qualifiedResource } from '../../base/kubernetes/index.js';
import type { Clock } from '../../base/clock/index.js';
import type { KubernetesObject, Namespace } from '../../base/kubernetes/index.js';
import { errorMessage } from '../../base/errors/index.js';
import { forbidden, notFound } from '../errors/index.js';
import type { KindDefinition } from '../kinds/index.js';
import type { Storage, StorageList } from '../storage/index.js';

const RETRY_MS = 200;
/** Characters of what is read together. */
const PAGE_LENGTH = 1024 * 1024;

interface KnownNamespace {
  readonly revision: number;
  readonly terminating: boolean;
}

/**
 * Refuses creations in namespaces that do not exist or are going away (the genuine server's admission plugin of
 * that name). Knows the namespaces from a watch, so that a creation costs no extra read; what the watch has not
 * shown yet is looked up.
 */
export class NamespaceLifecycle {
  private readonly known = new Map<string, KnownNamespace>();

  constructor(
    private readonly storage: Storage,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Follows the namespaces until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.logger.warn('the watch of namespaces broke, starting again', { error: errorMessage(error) });
      }
      if (!signal.aborted) await this.clock.sleep(RETRY_MS, signal).catch(() => undefined);
    }
  }

  /** Tells of a write at once, so that this process never acts on its own yesterday. */
  observe(namespace: KubernetesObject): void {
    const { status, metadata } = namespace as Namespace;
    const revision = Number(metadata.resourceVersion);
    // The watch tells late what our own writes have told already.
    if ((this.known.get(metadata.name)?.revision ?? 0) > revision) return;
    const terminating = metadata.deletionTimestamp !== undefined || status?.phase === 'Terminating';
    this.known.set(metadata.name, { revision, terminating });
  }

  forget(name: string): void {
    this.known.delete(name);
  }

  /** @throws StatusError 404 or 403 when nothing may be created in `namespace` now */
  async admitCreate(kind: KindDefinition, namespace: string, name: string): Promise<void> {
    if (!kind.type.namespaced) return;
    if (!this.known.has(namespace)) await this.lookUp(namespace);
    const found = this.known.get(namespace);
    if (!found) throw notFound({ group: '', resource: 'namespaces' }, namespace);
    if (!found.terminating) return;
    const message = `unable to create new content in namespace ${namespace} because it is being terminated`;
    throw forbidden(kind.type, name, message, [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ]);
  }

  private async lookUp(name: string): Promise<void> {
    const found = await this.storage.get({ resource: qualifiedResource(NAMESPACES), namespace: '', name });
    if (found) this.observe(found.object);
  }

  private async follow(signal: AbortSignal): Promise<void> {
    const resource = qualifiedResource(NAMESPACES);
    const after = await this.listAll(resource);
    for await (const events of this.storage.watch({ resource, after }, signal)) {
      for (const event of events) {
        if (event.type === 'deleted') this.forget(event.key.name);
        else if (event.type !== 'progress') this.observe(event.object);
      }
    }
  }

  /** Page by page: a namespace may be large. Returns the revision that is known then. */
  private async listAll(resource: string): Promise<number> {
    this.known.clear();
    let page: StorageList | undefined;
    do {
      page = await this.storage.list(resource, { maxTextLength: PAGE_LENGTH, continueFrom: page?.next });
      for (const { object } of page.items) this.observe(object);
    } while (page.next);
    return page.revision;
  }
}

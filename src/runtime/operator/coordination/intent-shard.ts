import { abortable } from '@rollkeeper/machinery/cancellation';
import { SupersededError, TimeoutError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import {
  ConfigMap,
  apiVersionOf,
  newestOfEach,
  parseJson,
  stringifyJson,
} from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isAlreadyExists, isConflict, isNotFound, unlessGone } from '@rollkeeper/client/api-client';
import type { UnansweredWrite } from '../../activation/index.js';
import type { LeaderTerm } from '../../work-queue/index.js';
import { mayBegin } from '../../work-queue/index.js';
import { ExpiringMap } from '@rollkeeper/machinery/clock';
import { CACHES_SHOW_WITHIN_MS } from '../../defaults.js';

export type LedgerClient = Pick<ApiClient, 'get' | 'create' | 'update'>;

/** The state that one leader leaves for the next. By actor: `controller key`. */
export interface LedgerContent {
  readonly intents: Map<string, unknown>;
  /** Written by a clean stop only: see {@link IntentShard.handOver}. */
  readonly unanswered: Map<string, readonly UnansweredWrite[]>;
}

interface StoredLedger extends KubernetesObject {
  data?: Record<string, string>;
}

/** The term that wrote last: `<epoch> <holder>`. */
const TERM_ANNOTATION = 'rollkeeper.dev/term';
/** A write fails after this many conflicts, and the sync is retried. */
const MAX_CONFLICTS = 5;
/** A ConfigMap holds 1 MiB; the rest is for its metadata. Characters. */
const LARGEST = 900_000;

/**
 * The intents of a share of all actors, in one ConfigMap. Every write names the resourceVersion that it follows and the
 * term that it belongs to, so that a former leader cannot store an intent once the next one has begun. Intents that are
 * stored at the same time share one write. Each write takes along which versions were written lately, also by former
 * leaders: the caches of the next one must show them.
 */
export class IntentShard {
  private term: LeaderTerm | undefined;
  private stored: StoredLedger | undefined;
  private content = emptyContent();
  private readonly written: WrittenVersions;
  private isDirty = false;
  private writing: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private beginning: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly client: LedgerClient,
    private readonly ref: { readonly namespace: string; readonly name: string },
    nowMs: () => number,
  ) {
    this.written = new WrittenVersions(nowMs);
  }

  /** The newest versions that were written lately, by the namespace of the keys. */
  get writtenVersions(): ReadonlyMap<string, ResourceVersions> {
    return this.written.all();
  }

  /** The actors that have intents. */
  get actors(): readonly string[] {
    return [...this.content.intents.keys()];
  }

  /** Whether something is not stored yet. */
  get hasChanged(): boolean {
    return this.isDirty;
  }

  /**
   * Begins a term: after it, no former one can write here. Returns what was left behind.
   * @throws SupersededError if a newer term has begun
   */
  begin(term: LeaderTerm, signal: AbortSignal): Promise<LedgerContent> {
    // One at a time: an earlier one that still waits for an answer would put what it has read in the place of ours.
    const begun = this.beginning.then(() => this.beginNow(term, signal));
    this.beginning = begun.catch(() => undefined);
    return begun;
  }

  private async beginNow(term: LeaderTerm, signal: AbortSignal): Promise<LedgerContent> {
    signal.throwIfAborted();
    // A write of an earlier term of this process may be under way.
    await abortable(this.writing, signal);
    this.term = term;
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const stored = await unlessGone(this.client.get<StoredLedger>(ConfigMap, this.ref, { signal }));
      if (stored) this.assertCounts(stored);
      this.stored = stored;
      const left = contentOf(stored);
      this.content = { ...emptyContent(), intents: new Map(left.intents) };
      for (const [namespace, versions] of writtenIn(stored)) this.written.note(namespace, versions);
      this.isDirty = false;
      // Without intents there is nothing to guard.
      if (!stored) return left;
      if (await this.attempt(signal)) return left;
    }
    throw this.contended();
  }

  /** Stores it before it resolves. @throws SupersededError */
  async put(actor: string, intents: unknown): Promise<void> {
    const all = this.content.intents;
    const [had, before] = [all.has(actor), all.get(actor)];
    all.set(actor, intents);
    this.isDirty = true;
    try {
      await this.commit();
    } catch (error) {
      // The sync fails and does not act on them.
      if (all.get(actor) === intents)
        if (had) all.set(actor, before);
        else all.delete(actor);
      throw error;
    }
  }

  /** Not stored at once: an intent that outlives its purpose is recognized as settled. */
  drop(actor: string): void {
    if (this.content.intents.delete(actor)) this.isDirty = true;
  }

  /** Goes along with the next write. */
  noteWritten(namespace: string, versions: ResourceVersions): void {
    this.written.note(namespace, versions);
  }

  /** Stores what has changed since. @throws SupersededError */
  async flush(): Promise<void> {
    if (this.isDirty) await this.commit();
  }

  /** Stores, for the next leader, what else it has to know. @throws SupersededError */
  async handOver({ unanswered }: Omit<LedgerContent, 'intents'>): Promise<void> {
    this.content = { intents: this.content.intents, unanswered };
    const isEmpty = this.content.intents.size + this.writtenVersions.size + unanswered.size === 0;
    if (isEmpty && !this.stored) return;
    this.isDirty = true;
    await this.commit();
  }

  /** Resolves once everything up to now is stored; joins a write that has not started yet. */
  private commit(): Promise<void> {
    this.next ??= this.writing.then(async () => {
      this.next = undefined;
      const write = this.write();
      this.writing = write.catch(() => undefined);
      await write;
    });
    return this.next;
  }

  private async write(): Promise<void> {
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      if (await this.attempt()) return;
      const stored = await unlessGone(this.client.get<StoredLedger>(ConfigMap, this.ref));
      // If a newer term wrote it, its version must not be remembered: the next write would replace it.
      if (stored) this.assertCounts(stored);
      this.stored = stored;
    }
    throw this.contended();
  }

  /** Whether the write succeeded; not if another was faster, or has removed it. */
  private async attempt(signal?: AbortSignal): Promise<boolean> {
    const wasDirty = this.isDirty;
    const object = this.objectNow();
    this.isDirty = false;
    try {
      this.stored = this.stored
        ? await this.client.update<StoredLedger>(ConfigMap, object, { signal })
        : await this.client.create<StoredLedger>(ConfigMap, object, { signal });
      return true;
    } catch (error) {
      this.isDirty ||= wasDirty;
      if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) {
        // A namespace that is missing looks the same, and ends in `contended`.
        if (isNotFound(error)) this.stored = undefined;
        return false;
      }
      throw error;
    }
  }

  private objectNow(): StoredLedger {
    const { epoch = 0, holder = '' } = this.term ?? {};
    const { intents, unanswered } = this.content;
    const data: Record<string, string> = {};
    if (intents.size > 0) data['intents'] = textOf(intents);
    if (unanswered.size > 0) data['unanswered'] = textOf(unanswered);
    const length = Object.values(data).reduce((sum, text) => sum + text.length, 0);
    const written = textOf(this.writtenVersions);
    // They are a precaution, and intents have to be stored.
    if (written !== '{}' && length + written.length <= LARGEST) data['seen'] = written;
    if (length > LARGEST)
      throw new RangeError(
        `the intents of all syncs under way do not fit into the ConfigMap ${this.ref.namespace}/${this.ref.name}: ${length} characters`,
      );
    const metadata = {
      ...(this.stored?.metadata ?? this.ref),
      annotations: { ...this.stored?.metadata.annotations, [TERM_ANNOTATION]: `${epoch} ${holder}` },
    };
    return { apiVersion: apiVersionOf(ConfigMap), kind: ConfigMap.kind, metadata, data };
  }

  /** @throws SupersededError if it was written by a newer term than ours */
  private assertCounts({ metadata }: StoredLedger): void {
    const [text = '0', holder = ''] = (metadata.annotations?.[TERM_ANNOTATION] ?? '').split(' ');
    const epoch = Number(text) || 0;
    if (!mayBegin({ epoch, holder }, this.term ?? { epoch: 0, holder: '' }))
      throw new SupersededError(`the intents are kept by ${holder} since epoch ${epoch}`, { epoch });
  }

  private contended(): TimeoutError {
    const { name, namespace } = this.ref;
    return new TimeoutError(
      `the ConfigMap ${namespace}/${name} could not be written: it was changed by others ${MAX_CONFLICTS} times while we tried, or there is no such namespace`,
    );
  }
}

function emptyContent(): LedgerContent {
  return { intents: new Map(), unanswered: new Map() };
}

function textOf(map: ReadonlyMap<string, unknown>): string {
  return stringifyJson(Object.fromEntries(map));
}

function contentOf(stored: StoredLedger | undefined): LedgerContent {
  return { intents: mapIn(stored, 'intents'), unanswered: mapIn(stored, 'unanswered') };
}

function writtenIn(stored: StoredLedger | undefined): ReadonlyMap<string, ResourceVersions> {
  return mapIn(stored, 'seen');
}

/** A value that cannot be read counts as nothing: a ConfigMap that a person has changed must not stop every replica. */
function mapIn<T>(stored: StoredLedger | undefined, field: string): Map<string, T> {
  try {
    const value = parseJson(stored?.data?.[field] ?? '{}');
    return new Map(Object.entries(value as Record<string, T>));
  } catch {
    return new Map();
  }
}

/** The newest versions that were written lately, by the namespace of the keys. */
export class WrittenVersions {
  private readonly byNamespace: ExpiringMap<ResourceVersions>;

  constructor(nowMs: () => number) {
    this.byNamespace = new ExpiringMap(nowMs, CACHES_SHOW_WITHIN_MS);
  }

  note(namespace: string, versions: ResourceVersions): void {
    if (Object.keys(versions).length === 0) return;
    const earlier = this.byNamespace.get(namespace) ?? {};
    this.byNamespace.set(namespace, newestOfEach(earlier, versions), CACHES_SHOW_WITHIN_MS);
  }

  /** The versions that count. */
  all(): ReadonlyMap<string, ResourceVersions> {
    return new Map(this.byNamespace.all());
  }
}

import type { Clock } from '@rollkeeper/machinery/clock';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type {
  DirectAnswer,
  DirectRequest,
  SigningKey,
  Storage,
  StorageKey,
  WebhookCaller,
} from '@rollkeeper/apiserver';
import {
  DirectApi,
  MemoryStorage,
  createKindRegistry,
  createSchemaRegistry,
  createSigningKey,
} from '@rollkeeper/apiserver';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { SimulatedProcess } from './process.js';

/** One change of the store, in its order. */
export interface StoredChange {
  /** `deployments.apps`, `pods`. */
  readonly resource: string;
  readonly deleted: boolean;
  readonly revision: number;
  /** With its resourceVersion. Not to be changed. */
  readonly object: KubernetesObject;
}

/** Keeps compacted events longer than any fault lasts, unless a fault compacts them. */
const LOG_AGE_MS = 3_600_000;
const SECRET_BYTES = 32;
/** Signs no token of a simulation, and takes a while to make. */
let signingKey: SigningKey | undefined;

/** A simulation has no network. */
const NO_WEBHOOKS: WebhookCaller = { post: () => Promise.reject(new Error('no such host')) };

/** The embedded API server of a simulation: its real handlers on a store in memory, in a process of its own. */
export class SimulatedApi {
  readonly storage: Storage;
  private readonly api: DirectApi;
  private readonly stopper = new AbortController();
  private readonly background: Promise<unknown>[] = [];

  /**
   * @param onChange called with each change, before its writer has the answer
   * @param webhookCaller asks the webhooks of its configurations. @default none of them answers
   */
  constructor(
    readonly process: SimulatedProcess,
    private readonly onChange: (change: StoredChange) => void,
    webhookCaller: WebhookCaller = NO_WEBHOOKS,
  ) {
    const { clock, random } = process;
    this.storage = this.watched(
      new MemoryStorage({ clock, maxLogAgeMs: LOG_AGE_MS, secret: Buffer.alloc(SECRET_BYTES, 7) }),
    );
    this.api = new DirectApi({
      storage: this.storage,
      kinds: createKindRegistry(undefined, { hasMetrics: false }),
      schemas: createSchemaRegistry(),
      ...{ clock, random, logger: silentLogger },
      signingKey: (signingKey ??= createSigningKey()),
      ...{ interfaces: {}, webhookCaller },
    });
  }

  get clock(): Clock {
    return this.process.clock;
  }

  /** Creates what a server creates at its start. */
  async start(): Promise<void> {
    const { signal } = this.stopper;
    this.background.push(this.storage.run(signal));
    await this.api.prepare(signal);
  }

  async stop(): Promise<void> {
    this.stopper.abort();
    await Promise.all([...this.background, this.api.ended()]);
  }

  answer(request: DirectRequest): Promise<DirectAnswer> {
    return this.api.answer(request);
  }

  private watched(storage: Storage): Storage {
    const told = async <T extends { readonly revision: number; readonly object: KubernetesObject }>(
      { resource }: StorageKey,
      deleted: boolean,
      write: Promise<T>,
    ): Promise<T> => {
      const stored = await write;
      const { object, revision } = stored;
      this.onChange({ resource, deleted, revision, object });
      return stored;
    };
    return new Proxy(storage, {
      get: (target, name: keyof Storage) => {
        if (name === 'create')
          return ((key, object) => told(key, false, target.create(key, object))) satisfies Storage['create'];
        if (name === 'update')
          return ((key, object, revision) =>
            told(key, false, target.update(key, object, revision))) satisfies Storage['update'];
        if (name === 'delete')
          return ((key, revision) =>
            told(key, true, target.delete(key, revision))) satisfies Storage['delete'];
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
      },
    });
  }
}

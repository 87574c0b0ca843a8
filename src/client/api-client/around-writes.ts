import type { KubernetesObject, ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import type {
  ApiClient,
  DeleteCollectionOptions,
  DeleteOptions,
  DeleteResult,
  PatchType,
  WriteOptions,
} from './api-client.js';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { WriteAnswer } from './write-answer.js';
import { writeAnswerOf } from './write-answer.js';

/** The facts about a write known before it is sent. */
export interface ApiWrite {
  readonly verb: 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';
  readonly type: ResourceType;
  /** `name` is empty for a collection, and may be for a creation with generateName. */
  readonly ref: ObjectRef;
  readonly subresource?: string;
  /** The required resourceVersion of the object, if the write has one. */
  readonly replaces?: string;
}

/** Runs around every write: `send` sends it and returns the object in the answer, if there is one. */
type WriteInterceptor = <T extends KubernetesObject | undefined>(
  write: ApiWrite,
  send: () => Promise<T>,
) => Promise<T>;

/** Base of the decorators: `client` with `intercept` around each write. Reads are passed through. */
export class WriteInterceptingClient implements ApiClient {
  readonly get: ApiClient['get'];
  readonly list: ApiClient['list'];
  readonly watch: ApiClient['watch'];
  readonly logs: ApiClient['logs'];
  readonly exec: ApiClient['exec'];
  readonly portForward: ApiClient['portForward'];
  readonly discover: ApiClient['discover'];
  readonly ping: ApiClient['ping'];
  readonly verifiesNames: ApiClient['verifiesNames'];

  constructor(
    private readonly client: ApiClient,
    private readonly intercept: WriteInterceptor,
  ) {
    this.get = client.get.bind(client);
    this.list = client.list.bind(client);
    this.watch = client.watch.bind(client);
    this.logs = (...args) => client.logs(...args);
    this.exec = (...args) => client.exec(...args);
    this.verifiesNames = client.verifiesNames.bind(client);
    this.portForward = (...args) => client.portForward(...args);
    this.discover = client.discover.bind(client);
    this.ping = client.ping.bind(client);
  }

  create<T extends KubernetesObject>(type: ResourceType, object: T, options?: WriteOptions): Promise<T> {
    const write = { verb: 'create', type, ref: object.metadata, subresource: options?.subresource } as const;
    return this.intercept<T>(write, () => this.client.create(type, object, options));
  }

  update<T extends KubernetesObject>(type: ResourceType, object: T, options?: WriteOptions): Promise<T> {
    const { resourceVersion: replaces } = object.metadata;
    const write = {
      verb: 'update',
      type,
      ref: object.metadata,
      subresource: options?.subresource,
      replaces,
    } as const;
    return this.intercept<T>(write, () => this.client.update(type, object, options));
  }

  patch<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: { readonly type: PatchType; readonly body: unknown },
    options?: WriteOptions,
  ): Promise<T> {
    const write = { verb: 'patch', type, ref, subresource: options?.subresource } as const;
    return this.intercept<T>(write, () => this.client.patch(type, ref, patch, options));
  }

  async delete<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    options?: DeleteOptions,
  ): Promise<DeleteResult<T>> {
    const send = async (): Promise<T | undefined> => (await this.client.delete<T>(type, ref, options)).object;
    const replaces = options?.preconditions?.resourceVersion;
    const object = await this.intercept({ verb: 'delete', type, ref, replaces }, send);
    return object === undefined ? {} : { object };
  }

  async deleteCollection(type: ResourceType, options: DeleteCollectionOptions = {}): Promise<void> {
    const ref = { namespace: options.namespace, name: '' };
    await this.intercept({ verb: 'deletecollection', type, ref }, async () => {
      await this.client.deleteCollection(type, options);
      return undefined;
    });
  }
}

/** Every method of `client` as a plain object, for decorators that override a few. */
export function delegatingClient(client: ApiClient): ApiClient {
  return {
    get: client.get.bind(client),
    list: client.list.bind(client),
    watch: client.watch.bind(client),
    logs: (...args) => client.logs(...args),
    exec: (...args) => client.exec(...args),
    portForward: (...args) => client.portForward(...args),
    create: client.create.bind(client),
    update: client.update.bind(client),
    patch: client.patch.bind(client),
    delete: client.delete.bind(client),
    deleteCollection: client.deleteCollection.bind(client),
    discover: client.discover.bind(client),
    ping: client.ping.bind(client),
    verifiesNames: client.verifiesNames.bind(client),
  };
}

/** Called with the resourceVersion that a write produced, under the type's `qualifiedResource`. */
export type RecordWrite = (qualifiedResource: string, resourceVersion: string) => void;

/** Called with a write that has no conclusive answer, and its outcome. */
export type NoteUnanswered = (write: ApiWrite, answer: Exclude<WriteAnswer, 'refused'>) => void;

/**
 * Wraps `client` so that `record` gets every resourceVersion returned by a write. A write to a subresource (status,
 * scale) counts for its type; a deletion that leaves nothing has no version.
 * @param noteUnanswered called with every write that may have been stored without our knowledge. @default no-op
 */
export function withOwnWrites(
  client: ApiClient,
  record: RecordWrite,
  noteUnanswered?: NoteUnanswered,
): ApiClient {
  return new WriteInterceptingClient(client, async (write, send) => {
    const object = await send().catch((error: unknown) => {
      const answer = writeAnswerOf(error);
      if (answer !== 'refused') noteUnanswered?.(write, answer);
      throw error;
    });
    // The answer to a binding is a Status, whose metadata has no resourceVersion.
    const answer: { metadata?: { resourceVersion?: string } } | undefined = object;
    const resourceVersion = answer?.metadata?.resourceVersion;
    if (resourceVersion) record(qualifiedResource(write.type), resourceVersion);
    return object;
  });
}

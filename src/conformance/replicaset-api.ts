import type { ApiClient, DeleteResult, ListPage, WatchEvent } from '../api-client/api-client.js';
import { ApiStatusError } from '../api-client/api-status-error.js';
import { UnsupportedError } from '../errors/index.js';
import type {
  DeepReadonly,
  KubernetesObject,
  ObjectRef,
  Pod,
  ReplicaSet,
  ReplicaSetStatus,
  ResourceType,
} from '../kubernetes/index.js';

/**
 * The API as one sync of a recorded ReplicaSet case needs it: answers, and remembers what was written. Pod
 * creations after the first `createFailsAfter` are refused as by a quota.
 */
export class ReplicaSetCaseApi implements ApiClient {
  readonly created: string[] = [];
  readonly deleted: string[] = [];
  readonly adopted: string[] = [];
  readonly released: string[] = [];
  status: DeepReadonly<ReplicaSetStatus> | undefined;

  constructor(
    private readonly replicaSet: DeepReadonly<ReplicaSet>,
    private readonly pods: readonly DeepReadonly<Pod>[],
    private readonly createFailsAfter = Infinity,
  ) {
    this.status = replicaSet.status;
  }

  async get<T extends KubernetesObject>(type: ResourceType, ref: ObjectRef): Promise<T> {
    const found = [this.replicaSet, ...this.pods].find(
      ({ kind, metadata }) => kind === type.kind && metadata.name === ref.name,
    );
    if (!found) throw new ApiStatusError({ code: 404, reason: 'NotFound' });
    return structuredClone(found) as unknown as T;
  }

  async create<T extends KubernetesObject>(_type: ResourceType, pod: T): Promise<T> {
    if (this.created.length >= this.createFailsAfter) {
      throw new ApiStatusError({ code: 403, reason: 'Forbidden', message: 'exceeded quota' });
    }
    this.created.push(pod.metadata.name);
    return pod;
  }

  async update<T extends KubernetesObject>(_type: ResourceType, object: T): Promise<T> {
    this.status = (object as unknown as ReplicaSet).status;
    return object;
  }

  async patch<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: { readonly body: unknown },
  ): Promise<T> {
    const isRelease = JSON.stringify(patch.body).includes('"$patch":"delete"');
    (isRelease ? this.released : this.adopted).push(ref.name);
    return this.get<T>(type, ref);
  }

  async delete<T extends KubernetesObject>(_type: ResourceType, ref: ObjectRef): Promise<DeleteResult<T>> {
    this.deleted.push(ref.name);
    return {};
  }

  list<T>(): Promise<ListPage<T>> {
    return Promise.reject(new UnsupportedError('a recorded case has no list'));
  }

  watch<T>(): AsyncIterable<WatchEvent<T>> {
    throw new UnsupportedError('a recorded case has no watch');
  }

  discover(): Promise<never> {
    return Promise.reject(new UnsupportedError('a recorded case has no discovery'));
  }

  async ping(): Promise<void> {}
}

import type { ApiClient, EventRecorder } from '../../kit/index.js';
import {
  apiStatusOf,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
} from '../../kit/index.js';
import { errorMessage } from '../../base/errors/index.js';
import type { DeepReadonly, Pod, ReplicaSet } from '../../base/kubernetes/index.js';
import { PODS, isControlledBy } from '../../base/kubernetes/index.js';
import { podFromTemplate } from './pod-from-template.js';
import type { DeleteIntent } from './pod-intents.js';
import { FAILED_CREATE, FAILED_DELETE } from './status.js';

/** What became of one creation. */
export type CreateOutcome = { readonly name: string } & (
  | { readonly kind: 'created' }
  /** It was there already, and is ours: an earlier attempt had worked. */
  | { readonly kind: 'exists' }
  /** Somebody else's pod has this name. */
  | { readonly kind: 'taken' }
  /** The server said no: it does not exist. */
  | { readonly kind: 'refused'; readonly error: unknown }
  /** The namespace is going away: nothing to do, and nothing to report. */
  | { readonly kind: 'pointless' }
  /** No answer, so it may exist or not. */
  | { readonly kind: 'unknown'; readonly error: unknown }
);

/** What became of one deletion. `refused`: the pod is still there; `unknown`: it may be. */
export type DeleteOutcome = { readonly pod: DeleteIntent } & (
  { readonly kind: 'deleted' | 'gone' } | { readonly kind: 'refused' | 'unknown'; readonly error: unknown }
);

/** The writes to a ReplicaSet's pods, one at a time, each with its event. Reports by outcome; does not reject. */
export class PodControl {
  constructor(
    private readonly replicaSet: DeepReadonly<ReplicaSet>,
    private readonly client: ApiClient,
    private readonly events: EventRecorder,
    private readonly signal: AbortSignal,
  ) {}

  async tryCreate(name: string): Promise<CreateOutcome> {
    try {
      this.signal.throwIfAborted();
      await this.client.create<Pod>(PODS, podFromTemplate(this.replicaSet, name), { signal: this.signal });
      this.events.record(this.replicaSet, {
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message: `Created pod: ${name}`,
      });
      return { kind: 'created', name };
    } catch (error) {
      if (isAlreadyExists(error)) return this.whoseIs(name);
      if (isNamespaceTerminating(error)) return { kind: 'pointless', name };
      this.recordFailure(FAILED_CREATE, `Error creating: ${errorMessage(error)}`);
      return { kind: isRefusal(error) ? 'refused' : 'unknown', name, error };
    }
  }

  async tryDelete(pod: DeleteIntent): Promise<DeleteOutcome> {
    try {
      this.signal.throwIfAborted();
      const ref = { namespace: this.replicaSet.metadata.namespace, name: pod.name };
      await this.client.delete<Pod>(PODS, ref, { preconditions: { uid: pod.uid }, signal: this.signal });
      this.events.record(this.replicaSet, {
        type: 'Normal',
        reason: 'SuccessfulDelete',
        message: `Deleted pod: ${pod.name}`,
      });
      return { kind: 'deleted', pod };
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return { kind: 'gone', pod };
      this.recordFailure(FAILED_DELETE, `Error deleting: ${errorMessage(error)}`);
      return { kind: isRefusal(error) ? 'refused' : 'unknown', pod, error };
    }
  }

  /** The pod of this name past the cache, if it exists and is ours. */
  async lookUp(name: string): Promise<Pod | undefined> {
    try {
      const ref = { namespace: this.replicaSet.metadata.namespace, name };
      const pod = await this.client.get<Pod>(PODS, ref, { signal: this.signal });
      return isControlledBy(pod, this.replicaSet) ? pod : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  private async whoseIs(name: string): Promise<CreateOutcome> {
    try {
      return { kind: (await this.lookUp(name)) ? 'exists' : 'taken', name };
    } catch (error) {
      return { kind: 'unknown', name, error };
    }
  }

  private recordFailure(reason: string, message: string): void {
    if (this.signal.aborted) return;
    this.events.record(this.replicaSet, { type: 'Warning', reason, message });
  }
}

/** Whether the server answered that it did nothing. Its 5xx and a lost connection leave that open. */
function isRefusal(error: unknown): boolean {
  const code = apiStatusOf(error)?.code;
  return code !== undefined && code < 500 && code !== 408;
}

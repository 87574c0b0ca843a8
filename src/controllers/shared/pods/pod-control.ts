import type { ApiClient, EventRecorder } from '@rollkeeper/runtime';
import {
  apiStatusOf,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  unlessGone,
} from '@rollkeeper/runtime';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { Pod, isControlledBy } from '@rollkeeper/machinery/kubernetes';

/** A pod could not be created: quota, admission, an invalid template. */
export const FAILED_CREATE = 'FailedCreate';
/** A pod could not be deleted. */
export const FAILED_DELETE = 'FailedDelete';

/** Outcome of one creation. */
export type CreateOutcome = { readonly name: string } & (
  | { readonly kind: 'created' }
  /** It existed already, and is ours: an earlier attempt had succeeded. The version is that of the pod as it was read. */
  | { readonly kind: 'exists'; readonly resourceVersion: string | undefined }
  /** Another owner's pod has this name. */
  | { readonly kind: 'taken' }
  /** The server refused: it does not exist. */
  | { readonly kind: 'refused'; readonly error: unknown }
  /** The namespace is terminating: nothing to do, and nothing to report. */
  | { readonly kind: 'pointless' }
  /** No answer, so it may exist or not. */
  | { readonly kind: 'unknown'; readonly error: unknown }
);

/** A pod to delete: with its UID, so that a successor of the same name is safe. */
export interface DoomedPod {
  readonly uid: string;
  readonly name: string;
}

/** Outcome of one deletion. `refused`: the pod still exists; `unknown`: it may. */
export type DeleteOutcome = { readonly pod: DoomedPod } & (
  { readonly kind: 'deleted' | 'gone' } | { readonly kind: 'refused' | 'unknown'; readonly error: unknown }
);

export interface PodControlDependencies {
  readonly client: ApiClient;
  readonly events: EventRecorder;
  readonly signal: AbortSignal;
  /** The texts of its events. @default those of most controllers */
  readonly words?: PodWords;
}

/** `undefined` instead of an error means success. */
export type PodWords = (verb: 'create' | 'delete', pod: string, error: string | undefined) => string;

const MOST_CONTROLLERS_WORDS: PodWords = (verb, pod, error) => {
  if (error !== undefined) return `Error ${verb === 'create' ? 'creating' : 'deleting'}: ${error}`;
  return `${verb === 'create' ? 'Created' : 'Deleted'} pod: ${pod}`;
};

/** Writes an owner's pods, one at a time, each with its event. Reports by outcome; does not reject. */
export class PodControl {
  private readonly words: PodWords;

  constructor(
    private readonly owner: DeepReadonly<KubernetesObject>,
    private readonly dependencies: PodControlDependencies,
  ) {
    this.words = dependencies.words ?? MOST_CONTROLLERS_WORDS;
  }

  async tryCreate(pod: Pod): Promise<CreateOutcome> {
    const { client, signal } = this.dependencies;
    const { name } = pod.metadata;
    try {
      signal.throwIfAborted();
      await client.create<Pod>(Pod, pod, { signal });
      this.record('Normal', 'SuccessfulCreate', this.words('create', name, undefined));
      return { kind: 'created', name };
    } catch (error) {
      if (isAlreadyExists(error)) return this.whoseIs(name);
      if (isNamespaceTerminating(error)) return { kind: 'pointless', name };
      this.recordFailure(FAILED_CREATE, this.words('create', name, errorMessage(error)));
      return { kind: isRefusal(error) ? 'refused' : 'unknown', name, error };
    }
  }

  async tryDelete(pod: DoomedPod): Promise<DeleteOutcome> {
    const { client, signal } = this.dependencies;
    try {
      signal.throwIfAborted();
      const ref = { namespace: this.owner.metadata.namespace, name: pod.name };
      await client.delete<Pod>(Pod, ref, { preconditions: { uid: pod.uid }, signal });
      this.record('Normal', 'SuccessfulDelete', this.words('delete', pod.name, undefined));
      return { kind: 'deleted', pod };
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return { kind: 'gone', pod };
      this.recordFailure(FAILED_DELETE, this.words('delete', pod.name, errorMessage(error)));
      return { kind: isRefusal(error) ? 'refused' : 'unknown', pod, error };
    }
  }

  /** The pod of this name from the server, if it exists and is ours. */
  async lookUp(name: string): Promise<Pod | undefined> {
    const { client, signal } = this.dependencies;
    const ref = { namespace: this.owner.metadata.namespace, name };
    const pod = await unlessGone(client.get<Pod>(Pod, ref, { signal }));
    return pod && isControlledBy(pod, this.owner) ? pod : undefined;
  }

  private async whoseIs(name: string): Promise<CreateOutcome> {
    try {
      const pod = await this.lookUp(name);
      return pod
        ? { kind: 'exists', name, resourceVersion: pod.metadata.resourceVersion }
        : { kind: 'taken', name };
    } catch (error) {
      return { kind: 'unknown', name, error };
    }
  }

  private record(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.dependencies.events.record(this.owner, { type, reason, message });
  }

  private recordFailure(reason: string, message: string): void {
    if (!this.dependencies.signal.aborted) this.record('Warning', reason, message);
  }
}

/** Whether the server answered that it did nothing. A 5xx or a lost connection leaves that open. */
export function isRefusal(error: unknown): boolean {
  const code = apiStatusOf(error)?.code;
  return code !== undefined && code < 500 && code !== 408;
}

/** The outcomes of the attempted items, in order; the rest was never attempted. */
export interface SlowStartResult<Item, Outcome> {
  readonly outcomes: readonly Outcome[];
  readonly untried: readonly Item[];
}

/**
 * Tries 1 item, then 2, 4, 8 … at once, and stops after the first batch with a failure: a quota that refuses one pod
 * will refuse 500. `run` reports a failure by its outcome and does not reject.
 */
export async function slowStartBatch<Item, Outcome>(
  items: readonly Item[],
  run: (item: Item) => Promise<Outcome>,
  isFailure: (outcome: Outcome) => boolean,
): Promise<SlowStartResult<Item, Outcome>> {
  const outcomes: Outcome[] = [];
  for (let size = 1; outcomes.length < items.length; size *= 2) {
    const batch = items.slice(outcomes.length, outcomes.length + size);
    const results = await Promise.all(batch.map((item) => run(item)));
    outcomes.push(...results);
    if (results.some(isFailure)) break;
  }
  return { outcomes, untried: items.slice(outcomes.length) };
}

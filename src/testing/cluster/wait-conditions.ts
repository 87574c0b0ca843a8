import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';

/** The object's current state; `undefined` if there is none. */
export type WaitCondition<T extends KubernetesObject = KubernetesObject> = (
  object: DeepReadonly<T> | undefined,
) => unknown;

interface ReadableStatus extends KubernetesObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

/**
 * The conditions of `kubectl wait --for` (`create`, `delete`, `condition=Available`, `condition=Ready=False`), and
 * `rollout`, the condition of `kubectl rollout status`.
 * @throws InvalidOptionError
 */
export function conditionOf(text: string): WaitCondition {
  if (text === 'create') return (object) => object !== undefined;
  if (text === 'delete') return (object) => object === undefined;
  if (text === 'rollout') return isRolledOut;
  const [word, type, status = 'True', ...rest] = text.split('=');
  if (word !== 'condition' || !type || rest.length > 0)
    throw new InvalidOptionError(
      'condition',
      `"${text}" is not one of create, delete, rollout, condition=TYPE and condition=TYPE=STATUS`,
    );
  return (object) => hasCondition(object, type, status);
}

function hasCondition(
  readable: DeepReadonly<ReadableStatus> | undefined,
  type: string,
  status: string,
): boolean {
  if (!readable || !isObserved(readable)) return false;
  const equal = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
  return (readable.status?.conditions ?? []).some(
    (condition) => equal(condition.type, type) && equal(condition.status, status),
  );
}

/** Whether the status reflects the current spec, for kinds with observedGeneration. */
function isObserved({ metadata, status }: DeepReadonly<ReadableStatus>): boolean {
  const { observedGeneration } = status ?? {};
  return observedGeneration === undefined || observedGeneration >= (metadata.generation ?? 0);
}

function isRolledOut(object: DeepReadonly<KubernetesObject> | undefined): boolean {
  const { spec, status } = (object ?? {}) as Partial<DeepReadonly<ReadableStatus>>;
  if (!object || status?.observedGeneration === undefined || !isObserved(object)) return false;
  const wanted = spec?.replicas ?? 1;
  const { availableReplicas = 0, replicas = 0, updatedReplicas = 0 } = status;
  return updatedReplicas >= wanted && replicas <= updatedReplicas && availableReplicas >= updatedReplicas;
}

/** The last state in a few words, for a timeout's message. */
export function describeState(object: DeepReadonly<KubernetesObject> | undefined): string {
  if (!object) return 'it does not exist';
  const { spec, status } = object as DeepReadonly<ReadableStatus>;
  const counts =
    spec?.replicas === undefined
      ? []
      : [
          `${status?.availableReplicas ?? 0} of ${spec.replicas} replicas available, ${status?.updatedReplicas ?? 0} updated`,
        ];
  const conditions = (status?.conditions ?? []).map(
    ({ message, reason, status: value, type }) =>
      `${type}=${value}${reason === undefined ? '' : ` ${reason}`}${message ? ` (${message})` : ''}`,
  );
  const words = [...counts, ...conditions];
  return words.length === 0
    ? `it is at resourceVersion ${object.metadata.resourceVersion}`
    : words.join('; ');
}

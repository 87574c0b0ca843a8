import type { DeepReadonly, KubernetesObject, Pod } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { isShortText, readJson } from '../read-json.js';

/** On a ReplicaSet: which pods go when it shrinks to a certain size. */
export const FIRST_TO_GO = 'rollkeeper.dev/first-to-go';

/** The pods that a ReplicaSet gives up first, and the size that this is about: at any other size it means nothing. */
export interface FirstToGo {
  readonly replicas: number;
  /** UIDs by name. */
  readonly pods: Readonly<Record<string, string>>;
  /** Before pods that are not ready as well, because a person named them. @default after those */
  readonly beforeUnready?: true;
}

export function firstToGo(
  replicas: number,
  pods: readonly DeepReadonly<Pod>[],
  options: Pick<FirstToGo, 'beforeUnready'> = {},
): FirstToGo {
  const named = pods.map(({ metadata }) => [metadata.name, metadata.uid ?? ''] as const);
  return { replicas, pods: Object.fromEntries(named), ...options };
}

export function renderFirstToGo(first: FirstToGo): string {
  return stringifyJson(first);
}

/** `undefined` where there is nothing, nothing that can be read, or what is about another size. */
export function readFirstToGo(
  { metadata }: DeepReadonly<KubernetesObject>,
  replicas: number,
): FirstToGo | undefined {
  const read = readJson(metadata.annotations?.[FIRST_TO_GO]);
  return isFirstToGo(read) && read.replicas === replicas ? read : undefined;
}

function isFirstToGo(value: unknown): value is FirstToGo {
  if (!isJsonObject(value) || !Number.isSafeInteger(value['replicas'])) return false;
  const { beforeUnready, pods } = value;
  if (beforeUnready !== undefined && beforeUnready !== true) return false;
  return isJsonObject(pods) && Object.values(pods).every((uid) => isShortText(uid));
}

/** By name and UID: another pod of the name is not meant. */
export function isNamed({ pods }: Pick<FirstToGo, 'pods'>, { metadata }: DeepReadonly<Pod>): boolean {
  return Object.hasOwn(pods, metadata.name) && pods[metadata.name] === (metadata.uid ?? '');
}

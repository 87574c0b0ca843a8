import type { Container } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, PodSpec, ResourceType, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { UserInfo } from '../auth/index.js';
import { forbidden } from '../errors/index.js';
import type { StatusError } from '../errors/index.js';
import type { KindDefinition } from '../kinds/index.js';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** On whose behalf something is written. */
export interface Caller {
  readonly user: UserInfo;
  /** Tells the client, with the answer, what it should know. */
  warn(text: string): void;
}

/** The server itself, when it makes what it needs. */
export const SERVER: Caller = {
  user: { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] },
  warn: () => undefined,
};

/** What a subresource is sent, where that is no object of the kind: a Scale, a Binding, the options of a connection. */
export interface SentType {
  readonly type: ResourceType;
  /** Name of its schema. @default it has none, and comes as it was sent */
  readonly schema?: string;
}

/** A write, or a connection, that asks to be let in. */
export interface Attributes {
  readonly operation: Operation;
  /** The kind of the resource in the path. */
  readonly kind: KindDefinition;
  /** Empty: the object itself. */
  readonly subresource: string;
  /** Empty: cluster scope. */
  readonly namespace: string;
  /** Empty for a creation whose name is still to be generated. */
  readonly name: string;
  /** What `object` and `oldObject` are. @default objects of the kind */
  readonly sent?: SentType;
  /** The new state, which mutating plug-ins change in place. Absent in deletions. */
  readonly object?: UnstructuredObject;
  /** The state before. Absent in creations. */
  readonly oldObject?: Readonly<UnstructuredObject>;
  readonly dryRun: boolean;
  readonly caller: Caller;
}

/** A write that has a new state. */
export type WriteAttributes = Attributes & { readonly object: UnstructuredObject };

/** 403, in the words of a genuine server: a name that is still to be generated is called by its beginning. */
export function refused(
  { kind, name, object }: Attributes,
  problem: string,
  causes?: Parameters<typeof forbidden>[3],
): StatusError {
  const { name: own, generateName } = object?.metadata ?? {};
  return forbidden(kind.type, name || own || generateName || 'Unknown', problem, causes);
}

/** The containers of a pod that may not have been validated yet: then the lists may be missing. */
export function containersOf(
  spec: Decoded<PodSpec> | undefined,
): Record<'containers' | 'initContainers', Decoded<Container>[]> {
  const { containers = [], initContainers = [] } = spec ?? {};
  return { containers, initContainers };
}

import type { Container } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, PodSpec, ResourceType, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { UserInfo } from '../auth/index.js';
import { forbidden } from '../../schema/errors/index.js';
import type { StatusError } from '../../schema/errors/index.js';
import type { KindDefinition } from '../../kinds/index.js';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** The author of a write. */
export interface Caller {
  readonly user: UserInfo;
  /** The verb of the request, as rules name it. @default none: the server writes by itself */
  readonly verb?: string;
  /** Adds a warning to the answer. */
  warn(text: string): void;
}

/** The server itself, when it creates its own objects. */
export const SERVER: Caller = {
  user: { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] },
  warn: () => undefined,
};

/** The body of a subresource, if it is not an object of the kind: a Scale, a Binding, connection options. */
export interface SentType {
  readonly type: ResourceType;
  /** Name of its schema. @default none: passed through */
  readonly schema?: string;
}

/** A write, or a connection, to be admitted. */
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
  /** The text that refusals show in place of a name that has only just been generated. */
  readonly shownAs?: string;
  /** The type of `object` and `oldObject`. @default the kind */
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

/** 403, in the words of a genuine server: a name still to be generated is shown by its prefix. */
export function refused(
  { kind, name, object, shownAs }: Attributes,
  problem: string,
  causes?: Parameters<typeof forbidden>[3],
): StatusError {
  const { name: own, generateName } = object?.metadata ?? {};
  return forbidden(kind.type, shownAs || name || own || generateName || 'Unknown', problem, causes);
}

/** The containers of a pod that may not have been validated yet, so the lists may be missing. */
export function containersOf(
  spec: Decoded<PodSpec> | undefined,
): Record<'containers' | 'initContainers', Decoded<Container>[]> {
  const { containers = [], initContainers = [] } = spec ?? {};
  return { containers, initContainers };
}

import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../../schema/errors/index.js';
import type { KindDefinition } from '../../kinds/index.js';

/** The target of a write. */
interface WriteTarget {
  readonly kind: KindDefinition;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

/**
 * Looks at an object, completed, before it is validated and written; refuses by throwing a StatusError.
 * @param old its state before; absent for a creation
 */
export type WriteGuard = (
  target: WriteTarget,
  object: Readonly<UnstructuredObject>,
  old?: Readonly<UnstructuredObject>,
) => void;

/**
 * Looks at an object that is valid, and answers what its writer may not ask for.
 * @param old its state before; absent for a creation
 */
export type WriteJudge = (
  target: WriteTarget,
  object: Readonly<UnstructuredObject>,
  old?: Readonly<UnstructuredObject>,
) => readonly FieldError[];

import type { Namespace, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { goQuote } from '@rollkeeper/machinery/kubernetes';
import { invalid } from '../../../schema/errors/index.js';
import type { FollowedObjects } from '../../../storage/index.js';
import type { WriteAttributes } from '../attributes.js';
import type { Plugin } from '../plugin.js';

/** A problem that an {@link ObjectCheck} finds. */
export interface ObjectProblem {
  /** Path in Kubernetes' notation: `metadata.annotations[example.com/size]`. */
  readonly field: string;
  readonly value: string;
  /** Follows the value in the message: `is not a number`. */
  readonly why: string;
  /** Whether the problem is one of another object, so that it only gets a warning. @default false */
  readonly isElsewhere?: boolean;
}

/** A check of objects that the owner of the server brings, beyond those of Kubernetes. */
export interface ObjectCheck {
  /** Qualified resource of the objects: `deployments.apps`. */
  readonly resource: string;
  /** `warn`: a write that has problems gets warnings. `refuse`: a write that adds problems is refused. */
  readonly action: 'warn' | 'refuse';
  /** Appended to each warning. @default nothing */
  readonly consequence?: string;
  /**
   * Names what is wrong with a valid object. Pure, and its cost is proportional to the object.
   * @param namespace the Namespace of the object, if it is in one that exists
   */
  problemsOf(
    object: Readonly<UnstructuredObject>,
    namespace: Readonly<Namespace> | undefined,
  ): readonly ObjectProblem[];
}

/** Limit of problems that one answer names. */
const MOST_NAMED = 10;

export function objectCheckPlugin(check: ObjectCheck, namespaces: FollowedObjects<Namespace>): Plugin {
  return {
    name: 'ObjectCheck',
    resource: check.resource,
    validate: (attributes) =>
      checkObject(check, attributes, attributes.namespace && namespaces.get('', attributes.namespace)),
  };
}

/**
 * Problems that the stored object has already are never refused: other writers, such as controllers, could not write it
 * any more.
 * @throws StatusError 422 that names the fields
 */
function checkObject(
  check: ObjectCheck,
  { caller, kind, name, object, oldObject }: WriteAttributes,
  namespace: Namespace | undefined | '',
): void {
  const { action, consequence } = check;
  const around = namespace || undefined;
  const problems = check.problemsOf(object, around);
  if (problems.length === 0) return;
  const before = new Set(
    action === 'refuse' && oldObject ? check.problemsOf(oldObject, around).map(told) : [],
  );
  const added = problems.filter((problem) => !problem.isElsewhere && !before.has(told(problem)));
  if (action === 'refuse' && added.length > 0)
    throw invalid(
      kind.type,
      name || object.metadata.name,
      added.slice(0, MOST_NAMED).map((problem) => ({
        type: 'FieldValueInvalid',
        field: problem.field,
        message: messageOf(problem),
      })),
    );
  const end = consequence === undefined ? '' : `; ${consequence}`;
  for (const problem of problems.slice(0, MOST_NAMED)) caller.warn(`${told(problem)}${end}`);
}

function told(problem: ObjectProblem): string {
  return `${problem.field}: ${messageOf(problem)}`;
}

function messageOf({ value, why }: ObjectProblem): string {
  return `Invalid value: ${goQuote(value)}: ${why}`;
}

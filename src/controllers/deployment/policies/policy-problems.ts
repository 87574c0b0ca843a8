import type { Deployment } from '@rollkeeper/machinery/kubernetes';
import type { Annotations } from '../kubernetes/annotations.js';
import { isRollingUpdate } from '../kubernetes/limits.js';
import { shortenedTo } from '../../shared/index.js';
import { annotationOf } from './common/names.js';
import { SETTINGS } from './known-names.js';
import { LONGEST_REASON, compilePolicy, valueProblem } from './compile-policy.js';
import type { PolicyProblem } from './common/settings.js';
import { unknownNames } from './unknown-names.js';

/** A problem of the annotations of an object, for those who look at it before it is stored. */
export interface AnnotationProblem {
  /** `metadata.annotations[rollkeeper.dev/steps]` */
  readonly field: string;
  /** At most 80 characters. */
  readonly value: string;
  /** Follows the value in a message: `is not a number`. */
  readonly why: string;
  /** Whether the annotation is one of the Namespace. */
  readonly isElsewhere?: boolean;
}

const LONGEST_VALUE = 80;

/**
 * The problems that make the rollout policy of a Deployment invalid (see {@link compilePolicy}). A Namespace with
 * problems of its own makes all of its Deployments invalid; these problems are marked.
 */
export function deploymentPolicyProblems(
  deployment: Readonly<Pick<Deployment, 'metadata' | 'spec'>>,
  namespace: Annotations | undefined,
): readonly AnnotationProblem[] {
  const { metadata, spec } = deployment;
  const compiled = compilePolicy(metadata.annotations, namespace, {
    isRollingUpdate: isRollingUpdate(spec),
    maxSurge: spec.strategy?.rollingUpdate?.maxSurge,
  });
  return compiled.kind === 'invalid' ? compiled.problems.map(locate) : [];
}

/**
 * The problems that make the defaults of a Namespace invalid. Each is judged by itself, because which others it is
 * combined with is different for each Deployment.
 */
export function namespacePolicyProblems(annotations: Annotations | undefined): readonly AnnotationProblem[] {
  const wrong = SETTINGS.flatMap((setting): PolicyProblem[] => {
    const annotation = annotationOf(setting);
    const value = (annotations?.[annotation] ?? '').trim();
    const why = value === '' ? undefined : valueProblem(setting, value);
    return why === undefined ? [] : [{ annotation, value, why }];
  });
  return [...unknownNames(undefined, annotations), ...wrong].map(fieldOf);
}

function locate(problem: PolicyProblem): AnnotationProblem {
  const isElsewhere = problem.annotation.includes(' ');
  const { field, ...rest } = fieldOf(problem);
  return { field: isElsewhere ? `${field} of the Namespace` : field, ...rest, isElsewhere };
}

function fieldOf({ annotation, value, why }: PolicyProblem): AnnotationProblem {
  const [name] = annotation.split(' ');
  return {
    field: `metadata.annotations[${name}]`,
    value: shortenedTo(LONGEST_VALUE, value),
    why: shortenedTo(LONGEST_REASON, why),
  };
}

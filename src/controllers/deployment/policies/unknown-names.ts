import type { Annotations } from '../kubernetes/annotations.js';
import { isKnown, isPolicyAnnotation, nearestSetting } from './known-names.js';
import type { PolicyProblem } from './common/settings.js';

/** More are not compared with the right names. */
const MOST_COMPARED = 20;

/**
 * Names under the prefix that mean nothing, and may have been meant otherwise. On a Namespace only those that are close to a
 * setting: its other names may be for other things.
 */
export function unknownNames(
  deployment: Annotations | undefined,
  namespace: Annotations | undefined,
): PolicyProblem[] {
  const own = unknownIn(deployment).map(([annotation, value], index) =>
    problemOf(annotation, value, index < MOST_COMPARED ? nearestSetting(annotation) : undefined),
  );
  const defaults = unknownIn(namespace)
    .slice(0, MOST_COMPARED)
    .flatMap(([annotation, value]) => {
      const nearest = nearestSetting(annotation);
      return nearest === undefined ? [] : [problemOf(`${annotation} of the Namespace`, value, nearest)];
    });
  return [...own, ...defaults];
}

function unknownIn(annotations: Annotations | undefined): readonly (readonly [string, string])[] {
  return Object.entries(annotations ?? {}).filter(([name]) => isPolicyAnnotation(name) && !isKnown(name));
}

function problemOf(annotation: string, value: string, nearest: string | undefined): PolicyProblem {
  const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  return { annotation, value, why: `is under a name that is not known${meant}` };
}

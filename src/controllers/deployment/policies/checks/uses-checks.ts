import type { Annotations } from '../../kubernetes/annotations.js';
import { annotationOf } from '../common/names.js';

/** Whether annotations may ask for checks. The test is cheap, since it runs at each sync. */
export function mayUseChecks(
  deployment: Annotations | undefined,
  namespace: Annotations | undefined,
): boolean {
  return [deployment, namespace].some(
    (annotations) => annotations?.[CHECKS] !== undefined || annotations?.[STEPS]?.includes('check') === true,
  );
}

const CHECKS = annotationOf('checks');
const STEPS = annotationOf('steps');

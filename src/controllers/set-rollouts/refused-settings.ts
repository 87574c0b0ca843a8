import { parseSteps } from '../deployment/index.js';

type Refusal = (setting: string, text: string) => string | undefined;

/** The settings that can be followed for a set. The others lead requests, or size ReplicaSets, which a set has none of. */
const FOLLOWED: ReadonlySet<string> = new Set([
  'on-failure',
  'fail-after',
  'max-failed-pods',
  'failure-causes',
  'bake-time',
  'max-restarts',
  'steps',
  'fast-track',
  'checks',
  'checks-from',
  'window',
  'freeze',
  'history',
  'progress-after',
]);

const STEPS = new Set(['size', 'wait', 'approve', 'check']);

/**
 * Why a setting cannot be followed for a set.
 * @param kind `StatefulSet` or `DaemonSet`
 * @param strategy why none can, because of the set's update strategy. @default they can
 */
export function refusalsOf(kind: string, strategy?: string): Refusal {
  return (setting, text) => {
    if (!FOLLOWED.has(setting)) return `cannot be followed for a ${kind}`;
    if (strategy !== undefined) return strategy;
    if (kind === 'DaemonSet' && setting === 'on-failure' && text === 'hold')
      return 'cannot be hold for a DaemonSet: its pods come back from the template that it has';
    if (setting === 'history' && text !== 'on' && text !== 'off')
      return `is neither on nor off: the history of a ${kind} lasts as long as its revisions`;
    return setting === 'steps' ? refusedStep(text, kind) : undefined;
  };
}

function refusedStep(text: string, kind: string): string | undefined {
  const parsed = parseSteps(text);
  if ('problem' in parsed) return undefined;
  const refused = parsed.steps.find((step) => !STEPS.has(step.kind));
  return refused && `has a step "${refused.kind}", which cannot be followed for a ${kind}`;
}

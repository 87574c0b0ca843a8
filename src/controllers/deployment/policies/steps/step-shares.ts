import type { PodCount } from '../common/pod-counts.js';
import { resolvePodCount } from '../common/pod-counts.js';
import type { Share } from '../common/share.js';
import { WHOLE_SHARE, isShared } from '../common/share.js';
import type { Step } from './steps.js';

type ShareStep = Extract<Step, { kind: 'weight' | 'header' | 'cookie' | 'mirror' }>;

/** Whether a step says which requests the new version gets. */
export function isShareStep(step: Step): step is ShareStep {
  return step.kind === 'weight' || step.kind === 'header' || step.kind === 'cookie' || step.kind === 'mirror';
}

/**
 * The requests of the step that a rollout is at: of each kind the last step counts, up to that one. After all steps: all requests.
 * @param done steps that are behind it
 */
export function shareAt(steps: readonly Step[], done: number): Share {
  if (done >= steps.length) return WHOLE_SHARE;
  let share: Share = { percent: 0 };
  for (const step of steps.slice(0, done + 1)) {
    if (step.kind === 'weight') share = { ...share, percent: step.percent };
    if (step.kind === 'mirror') share = { ...share, mirror: step.percent };
    if (step.kind === 'header') share = { ...share, header: step.match };
    if (step.kind === 'cookie') share = { ...share, cookie: step.match };
  }
  return share;
}

/**
 * The size of the step that it is at, or of the last one before; where none has a size, the share of the requests in pods, and one at
 * least if there are any requests. After all steps: everything.
 * @param done steps that are behind it
 */
export function capAt(steps: readonly Step[], done: number, replicas: number): number {
  if (done >= steps.length) return replicas;
  const size = steps.slice(0, done + 1).findLast((step) => step.kind === 'size');
  return resolvePodCount(size ? size.size : sizeOf(shareAt(steps, done)), replicas);
}

function sizeOf(share: Share): PodCount {
  const percent = Math.max(share.percent, share.mirror ?? 0);
  return percent === 0 && isShared(share) ? { pods: 1 } : { percent };
}

import { parseDuration, renderDuration } from '@rollkeeper/machinery/clock';
import { isCheckName } from '../checks/check-names.js';
import type { PodCount } from '../common/pod-counts.js';
import { parsePodCount, renderPodCount } from '../common/pod-counts.js';

/** How far a rollout goes, and what it waits for there. */
export type Step =
  | { readonly kind: 'size'; readonly size: PodCount }
  /** The share of the requests that the new version gets, percent. */
  | { readonly kind: 'weight'; readonly percent: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'approve' }
  | { readonly kind: 'check'; readonly check: string };

export type ParsedSteps = { readonly steps: readonly Step[] } | { readonly problem: string };

/** The number of steps of one rollout. */
export const MOST_STEPS = 50;

/** `check pre; 1; weight 5%; wait 5m; 20%; approve; 50%; check slo`: sizes, shares, and what has to happen before the next. */
export function parseSteps(text: string): ParsedSteps {
  const words = text.split(';').map((word) => word.trim());
  if (words.at(-1) === '') words.pop();
  if (words.length > MOST_STEPS) return { problem: `has ${words.length} steps, the most are ${MOST_STEPS}` };
  const steps: Step[] = [];
  for (const [index, word] of words.entries()) {
    const step = parseStep(word);
    if (!step)
      return {
        problem: `step ${index + 1}, "${word}", is neither a number of pods, a percentage, "weight 5%", "wait 5m", "approve" nor "check NAME"`,
      };
    // A person who approves twice by mistake must not have approved of what comes after.
    if (step.kind === 'approve' && steps.at(-1)?.kind === 'approve')
      return { problem: `step ${index + 1} asks for a second approval of the same` };
    steps.push(step);
  }
  return { steps };
}

function parseStep(word: string): Step | undefined {
  if (word === 'approve') return { kind: 'approve' };
  const [, check] = /^check\s+(\S+)$/.exec(word) ?? [];
  if (check !== undefined) return isCheckName(check) ? { kind: 'check', check } : undefined;
  const [, duration] = /^wait\s+(\S+)$/.exec(word) ?? [];
  if (duration !== undefined) {
    const ms = parseDuration(duration);
    return ms === undefined ? undefined : { kind: 'wait', ms };
  }
  const [, share] = /^weight\s+(\d{1,3})%$/.exec(word) ?? [];
  if (share !== undefined)
    return Number(share) > 100 ? undefined : { kind: 'weight', percent: Number(share) };
  const size = parsePodCount(word);
  return size && { kind: 'size', size };
}

export function renderStep(step: Step): string {
  if (step.kind === 'approve') return 'approve';
  if (step.kind === 'check') return `check ${step.check}`;
  if (step.kind === 'weight') return `weight ${step.percent}%`;
  return step.kind === 'wait' ? `wait ${renderDuration(step.ms)}` : renderPodCount(step.size);
}

import { parseDuration, renderDuration } from '@rollkeeper/machinery/clock';
import { isCheckName } from '../checks/check-names.js';
import type { Experiment } from '../common/experiment.js';
import type { PodCount } from '../common/pod-counts.js';
import { MOST_STEPS } from '../common/position.js';
import type { NamedValue } from '../common/share.js';
import { parsePodCount, renderPodCount } from '../common/pod-counts.js';

/** How far a rollout goes, and what it waits for there. */
export type Step =
  | { readonly kind: 'size'; readonly size: PodCount }
  /** The share of the requests that the new version gets, percent. */
  | { readonly kind: 'weight'; readonly percent: number }
  /** Requests with this header or cookie are for the new version alone. @default none any more */
  | { readonly kind: 'header' | 'cookie'; readonly match?: NamedValue }
  /** The share of the requests of which the new version gets a copy, percent. */
  | { readonly kind: 'mirror'; readonly percent: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'approve' }
  | { readonly kind: 'check'; readonly check: string }
  | Experiment;

export type ParsedSteps = { readonly steps: readonly Step[] } | { readonly problem: string };

/** The number of pods of each version in an experiment. */
const MOST_OF_EXPERIMENT = 50;
/** The number of further revisions in an experiment: with the two versions as many templates as outside of rollouts. */
const MOST_REVISIONS = 8;

/** `check pre; 1; header x-canary=always; weight 5%; wait 5m; 20%; approve; 50%; check slo`: sizes, shares, and what has to happen before the next. */
export function parseSteps(text: string): ParsedSteps {
  const words = text.split(';').map((word) => word.trim());
  if (words.at(-1) === '') words.pop();
  if (words.length > MOST_STEPS) return { problem: `has ${words.length} steps, the most are ${MOST_STEPS}` };
  const steps: Step[] = [];
  for (const [index, word] of words.entries()) {
    const step = parseStep(word);
    if (!step)
      return {
        problem: `step ${index + 1}, "${word}", is neither a number of pods, a percentage, "weight 5%", "header NAME=VALUE", "cookie NAME=VALUE", "mirror 10%", "wait 5m", "approve", "check NAME" nor "experiment 10m: canary 2"`,
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
  if (/^experiment\s/.test(word)) return parseExperiment(word);
  const shared = parseShareStep(word);
  if (shared) return shared;
  const size = parsePodCount(word);
  return size && { kind: 'size', size };
}

/** `experiment 10m: baseline 2, canary 2, revision 7 1, check compare-latency, services, serving`, without a second word of the same. */
function parseExperiment(word: string): Experiment | undefined {
  const [, duration = '', rest = ''] = /^experiment\s+([^\s:]+):([^:]+)$/.exec(word) ?? [];
  const ms = parseDuration(duration);
  const counts = new Map<string, number>();
  const checks = new Set<string>();
  const revisions = new Map<string, number>();
  let [isServing, hasServices] = [false, false];
  for (const part of rest.split(',').map((each) => each.trim())) {
    const [name = '', value = '', ...more] = part.split(/\s+/);
    if (name === 'revision') {
      const replicas = countIn(more.join(' '));
      const isNew = /^[1-9]\d{0,17}$/.test(value) && !revisions.has(value);
      if (!isNew || replicas === 0 || revisions.size === MOST_REVISIONS) return undefined;
      revisions.set(value, replicas);
      continue;
    }
    const count = countIn(value);
    const isNew = more.length === 0 && !counts.has(name) && !checks.has(value);
    if (!isNew) return undefined;
    if (part === 'serving' && !isServing) isServing = true;
    else if (part === 'services' && !hasServices) hasServices = true;
    else if (name === 'check' && isCheckName(value)) checks.add(value);
    else if ((name === 'baseline' || name === 'canary') && count > 0) counts.set(name, count);
    else return undefined;
  }
  const canary = counts.get('canary');
  if (ms === undefined || ms === 0 || canary === undefined) return undefined;
  return {
    kind: 'experiment',
    ms,
    baseline: counts.get('baseline') ?? 0,
    canary,
    revisions: [...revisions].map(([revision, replicas]) => ({ revision, replicas })),
    isServing,
    hasServices,
    checks: [...checks],
  };
}

/** The number of pods; 0 if it is none, or too large. */
function countIn(text: string): number {
  const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  return count <= MOST_OF_EXPERIMENT ? count : 0;
}

/** The characters of a header's name (RFC 9110, 5.6.2) and of a cookie's (RFC 6265, 4.1.1). */
const TOKEN = /^[-\w!#$%&'*+.^`|~]{1,64}$/;
/** Visible characters, as the value of a header that Gateway API matches. */
const HEADER_VALUE = /^[!-~](?:[ -~]{0,254}[!-~])?$/;
/** The characters of a cookie's value (RFC 6265, 4.1.1). */
const COOKIE_VALUE = /^[!#-+\--:<-[\]-~]{1,256}$/;

function parseShareStep(word: string): Step | undefined {
  const [, kind, percent] = /^(weight|mirror)\s+(\d{1,3})%$/.exec(word) ?? [];
  if (kind !== undefined)
    return Number(percent) > 100
      ? undefined
      : { kind: kind === 'mirror' ? kind : 'weight', percent: Number(percent) };
  const [, matched, text] = /^(header|cookie)\s+(\S.*)$/.exec(word) ?? [];
  if (matched === undefined || text === undefined) return undefined;
  const matches = matched === 'cookie' ? matched : 'header';
  if (text === 'off') return { kind: matches };
  const [name, value] = [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)];
  const allowed = matches === 'cookie' ? COOKIE_VALUE : HEADER_VALUE;
  if (!text.includes('=') || !TOKEN.test(name) || !allowed.test(value)) return undefined;
  return { kind: matches, match: { name, value } };
}

export function renderStep(step: Step): string {
  switch (step.kind) {
    case 'approve':
      return 'approve';
    case 'check':
      return `check ${step.check}`;
    case 'weight':
    case 'mirror':
      return `${step.kind} ${step.percent}%`;
    case 'header':
    case 'cookie':
      return `${step.kind} ${step.match ? `${step.match.name}=${step.match.value}` : 'off'}`;
    case 'wait':
      return `wait ${renderDuration(step.ms)}`;
    case 'experiment':
      return renderExperiment(step);
    case 'size':
      return renderPodCount(step.size);
  }
}

function renderExperiment(experiment: Experiment): string {
  const { baseline, canary, checks, hasServices, isServing, ms, revisions } = experiment;
  const parts = [
    ...(baseline > 0 ? [`baseline ${baseline}`] : []),
    `canary ${canary}`,
    ...revisions.map(({ replicas, revision }) => `revision ${revision} ${replicas}`),
    ...checks.map((check) => `check ${check}`),
    ...(hasServices ? ['services'] : []),
    ...(isServing ? ['serving'] : []),
  ];
  return `experiment ${renderDuration(ms)}: ${parts.join(', ')}`;
}

/** The step after `done` of them, as people read it: `Step 2 of 4 (approve)`. */
export function stepName(steps: readonly Step[], done: number): string {
  const step = steps[done];
  return `Step ${done + 1} of ${steps.length} (${step ? renderStep(step) : ''})`;
}

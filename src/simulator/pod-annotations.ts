import type { EventNote } from '@rollkeeper/client/events';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { PROBE_ANNOTATIONS } from './decide-probes.js';
import { PRE_STOP_ANNOTATION, STOPS_AFTER_ANNOTATION } from './decide-stop.js';
import { parseGoDurationMs } from '@rollkeeper/machinery/clock';
import { IMAGE_PULL_AFTER_ANNOTATION, IMAGE_PULL_FAILURES_ANNOTATION } from './image-pull.js';
import {
  BEHAVIOUR_ANNOTATION,
  ENDS_AFTER_ANNOTATION,
  EXIT_CODE_ANNOTATION,
  POD_BEHAVIOURS,
  READY_AFTER_ANNOTATION,
} from './pod-behaviour.js';
import { parseProbeOutcome } from './probe-outcome.js';

interface Rule {
  readonly annotation: string;
  /** Whether it may name a container behind a dot. */
  readonly perContainer: boolean;
  readonly isValid: (text: string) => boolean;
  /** The right form, in words. */
  readonly wanted: string;
}

const isDuration = (text: string): boolean => parseGoDurationMs(text) !== undefined;
const isOneOf =
  (...words: readonly string[]) =>
  (text: string): boolean =>
    words.includes(text.trim());
const DURATION = 'a duration, as 5s or 1m30s';

/** The annotations that a simulated node reads on pods. */
const RULES: readonly Rule[] = [
  {
    annotation: BEHAVIOUR_ANNOTATION,
    perContainer: false,
    isValid: isOneOf(...POD_BEHAVIOURS),
    wanted: `one of ${POD_BEHAVIOURS.join(', ')}`,
  },
  { annotation: READY_AFTER_ANNOTATION, perContainer: false, isValid: isDuration, wanted: DURATION },
  {
    annotation: ENDS_AFTER_ANNOTATION,
    perContainer: true,
    isValid: (text) => isDuration(text) || isOneOf('never')(text),
    wanted: `${DURATION}, or never`,
  },
  {
    annotation: EXIT_CODE_ANNOTATION,
    perContainer: true,
    isValid: (text) => /^\d{1,3}$/.test(text.trim()) && Number(text) <= 255,
    wanted: 'a number from 0 to 255',
  },
  { annotation: IMAGE_PULL_AFTER_ANNOTATION, perContainer: true, isValid: isDuration, wanted: DURATION },
  {
    annotation: IMAGE_PULL_FAILURES_ANNOTATION,
    perContainer: true,
    isValid: (text) => /^\d{1,6}$/.test(text.trim()) || isOneOf('always')(text),
    wanted: 'a number, or always',
  },
  ...Object.values(PROBE_ANNOTATIONS).map((annotation): Rule => ({
    annotation,
    perContainer: true,
    isValid: (text) => parseProbeOutcome(text) !== undefined,
    wanted: 'succeeds, fails, succeeds after 20s, fails after 30s or flaps 20s 5s',
  })),
  {
    annotation: PRE_STOP_ANNOTATION,
    perContainer: true,
    isValid: (text) => isDuration(text) || isOneOf('fails')(text),
    wanted: `${DURATION}, or fails`,
  },
  {
    annotation: STOPS_AFTER_ANNOTATION,
    perContainer: true,
    isValid: (text) => isDuration(text) || isOneOf('never')(text),
    wanted: `${DURATION}, or never`,
  },
];

/** Says which annotations of a pod cannot be read; they count as if they were not there. */
export function annotationProblems({ metadata: { annotations = {} } }: DeepReadonly<Pod>): EventNote[] {
  return Object.entries(annotations).flatMap(([name, text]): EventNote[] => {
    const rule = RULES.find(
      ({ annotation, perContainer }) =>
        name === annotation || (perContainer && name.startsWith(`${annotation}.`)),
    );
    if (!rule || rule.isValid(text)) return [];
    const message = `${name}: "${text}" is not ${rule.wanted}`;
    return [{ type: 'Warning', reason: 'InvalidAnnotation', message }];
  });
}

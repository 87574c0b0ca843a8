import { z } from 'zod';
import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { readJson } from '../../shared/index.js';
import { isCheckName } from '../policies/checks/check-names.js';
import { PREFIX } from '../policies/common/names.js';
import { EXPERIMENT, EXPERIMENT_SIDE } from '../policies/experiment/experiment-sets.js';

/** On the ReplicaSet that keeps an experiment outside of rollouts: what was asked for, as JSON. */
export const EXPERIMENT_PLAN = `${PREFIX}experiment-plan`;
/** On the same ReplicaSet: a request to end the experiment. The value names the requester. */
export const EXPERIMENT_STOP = `${PREFIX}experiment-stop`;

/** The number under which results are recorded on the ReplicaSet that keeps an experiment, as under that of a revision. */
export const RESULTS_OF = '1';

/** The number of templates that an experiment may have. */
export const MOST_TEMPLATES = 10;
/** The number of checks that an experiment may have. */
export const MOST_CHECKS = 10;
/** The number of pods of each template. */
export const MOST_REPLICAS = 50;
/** The longest text of a plan: the annotations of an object have 256 KiB together. Characters. */
export const LONGEST_PLAN = 96 * 1024;

const DAY_MS = 86_400_000;
/** The bounds of the durations of an experiment, milliseconds. */
export const EXPERIMENT_BOUNDS = {
  duration: { least: 10_000, most: DAY_MS },
  startWithin: { least: 10_000, most: 3_600_000 },
  keep: { least: 0, most: 90 * DAY_MS },
} as const;

/** A word of lower-case letters, digits and hyphens: part of the names of objects, and the value of a label. */
export const SHORT_NAME = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;
/** Characters of the name of a template. */
export const LONGEST_TEMPLATE_NAME = 20;
/** Characters of the name of an experiment; five random ones and those of a template follow it. */
export const LONGEST_EXPERIMENT_NAME = 36;

const text = (longest: number) => z.string().min(1).max(longest);
const between = ({ least, most }: { readonly least: number; readonly most: number }) =>
  z.int().min(least).max(most);
const templateName = text(LONGEST_TEMPLATE_NAME).regex(SHORT_NAME);

const schema = z.strictObject({
  name: text(LONGEST_EXPERIMENT_NAME).regex(SHORT_NAME),
  durationMs: between(EXPERIMENT_BOUNDS.duration),
  startWithinMs: between(EXPERIMENT_BOUNDS.startWithin),
  keepMs: between(EXPERIMENT_BOUNDS.keep),
  by: z.string().max(300).optional(),
  templates: z
    .array(
      z.strictObject({
        name: templateName,
        replicaSet: text(253),
        hash: text(63),
        replicas: z.int().min(1).max(MOST_REPLICAS),
        deployment: text(253).optional(),
        revision: z
          .string()
          .regex(/^\d{1,19}$/)
          .optional(),
      }),
    )
    .min(1)
    .max(MOST_TEMPLATES),
  checks: z
    .array(
      z.strictObject({
        name: z.string().refine(isCheckName),
        of: templateName,
        against: templateName.optional(),
        definition: text(16 * 1024),
      }),
    )
    .max(MOST_CHECKS),
});

/**
 * An experiment outside of rollouts, as its author has asked for it.
 *
 * - `durationMs`: how long it runs once all of its pods are available
 * - `startWithinMs`: how long its pods have to become available
 * - `keepMs`: how long its result is kept
 * - `templates[].hash`: the label `pod-template-hash` of the pods
 * - `checks[].definition`: in the form of a key of a ConfigMap of checks
 */
export type ExperimentPlan = DeepReadonly<z.infer<typeof schema>>;
/** One of the versions of an experiment. */
export type PlannedTemplate = ExperimentPlan['templates'][number];
/** One of the checks of an experiment. */
export type PlannedCheck = ExperimentPlan['checks'][number];

/** The plan on a ReplicaSet; undefined if there is none that can be read, because another hand wrote it. */
export function readPlan({
  metadata,
}: DeepReadonly<Pick<ReplicaSet, 'metadata'>>): ExperimentPlan | undefined {
  const written = metadata.annotations?.[EXPERIMENT_PLAN];
  if (written === undefined || written.length > LONGEST_PLAN) return undefined;
  const parsed = schema.safeParse(readJson(written));
  return parsed.success ? parsed.data : undefined;
}

/** The plan as the text of its annotation. */
export function renderPlan(plan: ExperimentPlan): string {
  return stringifyJson(plan);
}

/** Whether a ReplicaSet keeps an experiment: it has the label of experiments, runs no side of one, and nothing controls it. */
export function keepsExperiment(replicaSet: DeepReadonly<Pick<ReplicaSet, 'metadata'>>): boolean {
  const { labels } = replicaSet.metadata;
  return (
    labels?.[EXPERIMENT] !== undefined &&
    labels[EXPERIMENT_SIDE] === undefined &&
    controllerOf(replicaSet) === undefined
  );
}

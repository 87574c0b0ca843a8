import { z } from 'zod';
import type { PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { parseShortYaml } from '@rollkeeper/machinery/text';
import { parseCheck } from '../policies/checks/check-definition.js';
import { isCheckName, isConfigMapName } from '../policies/checks/check-names.js';
import { durationBetween } from '../policies/checks/common/definition-fields.js';
import {
  EXPERIMENT_BOUNDS,
  LONGEST_EXPERIMENT_NAME,
  LONGEST_TEMPLATE_NAME,
  MOST_CHECKS,
  MOST_REPLICAS,
  MOST_TEMPLATES,
  SHORT_NAME,
} from './experiment-plan.js';

/** The longest file, characters. */
export const LONGEST_EXPERIMENT_FILE = 256 * 1024;

const shortName = (longest: number) =>
  z
    .string({ error: 'is not a name' })
    .max(longest, { error: `has more than ${longest} characters` })
    .regex(SHORT_NAME, { error: 'is not a word of lower-case letters, digits and hyphens' });
const templateName = shortName(LONGEST_TEMPLATE_NAME);
const objectName = z
  .string({ error: 'is not the name of an object' })
  .refine(isConfigMapName, { error: 'is not the name of an object' });
const duration = ({ least, most }: { readonly least: number; readonly most: number }) =>
  durationBetween(least, most);

const port = z.strictObject({
  name: z.string().optional(),
  port: z.int().min(1).max(65_535),
  targetPort: z.union([z.int().min(1).max(65_535), z.string()]).optional(),
  protocol: z.enum(['TCP', 'UDP', 'SCTP']).optional(),
  appProtocol: z.string().optional(),
});

const template = z
  .strictObject({
    name: templateName,
    replicas: z.int().min(1).max(MOST_REPLICAS).default(1),
    deployment: objectName.optional(),
    version: z.enum(['baseline', 'canary'], { error: 'is neither baseline nor canary' }).optional(),
    revision: z.int().min(1).optional(),
    template: z
      .custom<PodTemplateSpec>((value) => isJsonObject(value) && isJsonObject(value['spec']), {
        error: 'is no pod template: it has no spec',
      })
      .optional(),
    serving: z.boolean().default(false),
    service: z
      .union([z.literal(true), z.strictObject({ ports: z.array(port).min(1).max(20) })], {
        error: 'is neither true nor an object with ports',
      })
      .optional(),
  })
  .superRefine((read, context) => {
    const refuse = (field: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [field], message });
    if ((read.deployment === undefined) === (read.template === undefined))
      refuse('template', 'is needed, or deployment in its place, and not both');
    if (read.deployment !== undefined && (read.version === undefined) === (read.revision === undefined))
      refuse('version', 'is needed (baseline or canary), or revision in its place, and not both');
    for (const field of ['version', 'revision'] as const)
      if (read.deployment === undefined && read[field] !== undefined)
        refuse(field, 'is one of a deployment, which is missing');
    if (read.deployment === undefined && read.serving)
      refuse('serving', 'gives the pods the labels of a deployment, which is missing');
  });

const check = z
  .strictObject({
    name: z.string({ error: 'is not a name' }).refine(isCheckName, { error: 'is not the name of a check' }),
    of: templateName.optional(),
    against: templateName.optional(),
    check: z.unknown().optional(),
    configMap: objectName.optional(),
    key: z.string().optional(),
  })
  .superRefine((read, context) => {
    const refuse = (field: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [field], message });
    if ((read.check === undefined) === (read.configMap === undefined))
      refuse('check', 'is needed, or configMap in its place, and not both');
    if (read.configMap === undefined && read.key !== undefined)
      refuse('key', 'is one of a configMap, which is missing');
    if (read.check === undefined) return;
    const parsed = isJsonObject(read.check)
      ? parseCheck(stringifyJson(read.check))
      : { problem: 'is no object' };
    if ('problem' in parsed) refuse('check', parsed.problem);
  });

const schema = z
  .strictObject({
    name: shortName(LONGEST_EXPERIMENT_NAME),
    namespace: objectName.optional(),
    duration: duration(EXPERIMENT_BOUNDS.duration),
    startWithin: duration(EXPERIMENT_BOUNDS.startWithin).default(600_000),
    keep: duration(EXPERIMENT_BOUNDS.keep).default(7 * 86_400_000),
    templates: z
      .array(template, { error: 'is no list of templates' })
      .min(2, { error: 'has fewer than two templates' })
      .max(MOST_TEMPLATES),
    checks: z.array(check).max(MOST_CHECKS).default([]),
  })
  .superRefine(({ checks, templates }, context) => {
    const names = templates.map(({ name }) => name);
    const refuse = (path: (string | number)[], message: string): void =>
      context.addIssue({ code: 'custom', path, message });
    for (const [index, name] of names.entries())
      if (names.indexOf(name) < index)
        refuse(['templates', index, 'name'], `"${name}" is the name of another one`);
    for (const [index, { against, name, of }] of checks.entries()) {
      if (checks.findIndex((each) => each.name === name) < index)
        refuse(['checks', index, 'name'], `"${name}" is the name of another one`);
      for (const [field, side] of Object.entries({ of, against }))
        if (side !== undefined && !names.includes(side))
          refuse(['checks', index, field], `"${side}" is none of the templates ${names.join(', ')}`);
      if (of !== undefined && of === against)
        refuse(['checks', index, 'against'], `"${against}" is compared with itself`);
    }
  });

/**
 * An experiment outside of rollouts, as a file asks for it. Durations are in milliseconds.
 *
 * - `templates[]`: by `deployment` with `version` or `revision`, or by `template`
 * - `checks[].check`: a definition as in a ConfigMap of checks, or `configMap` (and `key`) in its place
 */
export type ExperimentFile = z.infer<typeof schema>;
/** A version that takes part in an experiment, as a file names it. */
export type FileTemplate = ExperimentFile['templates'][number];
/** A check of an experiment, as a file names it. */
export type FileCheck = ExperimentFile['checks'][number];

/** Reads a file of YAML or JSON, or says why it cannot be read, with the field: `templates.0.replicas: …`. */
export function parseExperimentFile(
  text: string,
): { readonly file: ExperimentFile } | { readonly problem: string } {
  let value: unknown;
  try {
    value = parseShortYaml(text, LONGEST_EXPERIMENT_FILE);
  } catch (error) {
    return { problem: `is neither YAML nor JSON: ${errorMessage(error)}` };
  }
  if (!isJsonObject(value)) return { problem: 'is no object' };
  const parsed = schema.safeParse(value);
  return parsed.success ? { file: parsed.data } : { problem: renderIssue(parsed.error) };
}

function renderIssue({ issues: [issue] }: z.ZodError): string {
  const path = (issue?.path ?? []).map(String).join('.');
  const message = issue?.message ?? 'is not valid';
  return path === '' ? message : `${path}: ${message}`;
}

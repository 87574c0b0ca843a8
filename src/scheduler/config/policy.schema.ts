import { z } from 'zod';

/** The policy file of kube-scheduler before 1.23, by `--policy-config-file`. */

const name = z.string().min(1, 'must not be empty');

const predicate = z.strictObject({
  name,
  argument: z
    .strictObject({
      serviceAffinity: z.strictObject({ labels: z.array(z.string()) }).optional(),
      labelsPresence: z.strictObject({ labels: z.array(name), presence: z.boolean() }).optional(),
    })
    .nullish(),
});

const shapePoint = z.strictObject({ utilization: z.int().min(0).max(100), score: z.int().min(0).max(10) });

const priority = z.strictObject({
  name,
  weight: z.int().min(1, 'must be at least 1'),
  argument: z
    .strictObject({
      serviceAntiAffinity: z.strictObject({ label: z.string() }).optional(),
      labelPreference: z.strictObject({ label: z.string(), presence: z.boolean() }).optional(),
      requestedToCapacityRatioArguments: z
        .strictObject({
          shape: z.array(shapePoint).min(1),
          resources: z.array(z.strictObject({ name, weight: z.int().min(1).default(1) })).optional(),
        })
        .optional(),
    })
    .nullish(),
});

const extender = z.strictObject({
  urlPrefix: z.string(),
  filterVerb: z.string().optional(),
  preemptVerb: z.string().optional(),
  prioritizeVerb: z.string().optional(),
  weight: z.int().optional(),
  bindVerb: z.string().optional(),
  enableHttps: z.boolean().optional(),
  enableHTTPS: z.boolean().optional(),
  tlsConfig: z.record(z.string(), z.unknown()).nullish(),
  /** Nanoseconds, as Go writes a duration as a number. */
  httpTimeout: z.int().min(0).optional(),
  nodeCacheCapable: z.boolean().optional(),
  managedResources: z.array(z.unknown()).nullish(),
  ignorable: z.boolean().optional(),
});

export const policySchema = z.strictObject({
  apiVersion: z.literal('v1', 'must be v1'),
  kind: z.literal('Policy', 'must be Policy'),
  predicates: z.array(predicate).nullish(),
  priorities: z.array(priority).nullish(),
  extenders: z.array(extender).nullish(),
  hardPodAffinitySymmetricWeight: z.int().min(0).max(100).optional(),
  alwaysCheckAllPredicates: z.boolean().optional(),
});

export type Policy = z.output<typeof policySchema>;
export type PolicyPredicate = NonNullable<Policy['predicates']>[number];
export type PolicyPriority = NonNullable<Policy['priorities']>[number];
export type PolicyExtender = NonNullable<Policy['extenders']>[number];

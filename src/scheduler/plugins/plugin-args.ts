import type { NodeTerm } from '@rollkeeper/machinery/kubernetes';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import { z } from 'zod';
import type { ZodType } from 'zod';
import { durationMs } from '../config/duration.js';

/*
 * Arguments of the default plug-ins, as `pluginConfig` of a KubeSchedulerConfiguration has them. Source of names, defaults and limits:
 * k8s.io/kube-scheduler/config/v1 and pkg/scheduler/apis/config/validation in k/k.
 */

/** @throws InvalidOptionError naming the field */
export function compileArgs<Compiled>(schema: ZodType<Compiled>, args: unknown): Readonly<Compiled> {
  return compileOptions(schema, args ?? {});
}

const MAX_WEIGHT = 100;

const weightedResources = z
  .array(z.strictObject({ name: z.string().min(1), weight: z.int().min(1).max(MAX_WEIGHT).default(1) }))
  .min(1);

const CPU_AND_MEMORY = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];

const shape = z
  .array(z.strictObject({ utilization: z.int().min(0).max(100), score: z.int().min(0).max(10) }))
  .min(1)
  .refine(
    (points) =>
      points.every(({ utilization }, index) => index === 0 || utilization > points[index - 1]!.utilization),
    { message: 'utilizations must grow from point to point' },
  );

export type UtilizationShape = z.infer<typeof shape>;

const scoringStrategy = z
  .strictObject({
    type: z.enum(['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio']).default('LeastAllocated'),
    resources: weightedResources.default(CPU_AND_MEMORY),
    requestedToCapacityRatio: z.strictObject({ shape }).optional(),
  })
  .refine(
    ({ requestedToCapacityRatio, type }) => type !== 'RequestedToCapacityRatio' || requestedToCapacityRatio,
    { message: 'needs a shape', path: ['requestedToCapacityRatio'] },
  );

export type ScoringStrategy = z.infer<typeof scoringStrategy>;

const LEAST_ALLOCATED: ScoringStrategy = { type: 'LeastAllocated', resources: CPU_AND_MEMORY };

export const nodeResourcesFitArgs = z.strictObject({
  ignoredResources: z.array(z.string()).default([]),
  ignoredResourceGroups: z
    .array(z.string().refine((group) => !group.includes('/'), { message: 'must not contain "/"' }))
    .default([]),
  scoringStrategy: scoringStrategy.default(LEAST_ALLOCATED),
});

export const balancedAllocationArgs = z.strictObject({
  resources: weightedResources
    .refine((resources) => resources.every(({ weight }) => weight === 1), { message: 'weights must be 1' })
    .default(CPU_AND_MEMORY),
});

export const interPodAffinityArgs = z.strictObject({
  hardPodAffinityWeight: z.int().min(0).max(100).default(1),
  ignorePreferredTermsOfExistingPods: z.boolean().default(false),
});

export const dynamicResourcesArgs = z.strictObject({
  /** Milliseconds until devices have to be prepared for a pod. */
  bindingTimeout: durationMs.default(600_000),
  /** One decision at a time has no other to wait for. */
  filterTimeout: durationMs.optional(),
});

export const defaultPreemptionArgs = z
  .strictObject({
    minCandidateNodesPercentage: z.int().min(0).max(100).default(10),
    minCandidateNodesAbsolute: z.int().min(0).default(100),
  })
  .refine(
    ({ minCandidateNodesAbsolute, minCandidateNodesPercentage }) =>
      minCandidateNodesAbsolute + minCandidateNodesPercentage > 0,
    { message: 'must not both be 0 with minCandidateNodesPercentage', path: ['minCandidateNodesAbsolute'] },
  );

const defaultConstraint = z.strictObject({
  topologyKey: z.string().min(1),
  maxSkew: z.int().min(1),
  whenUnsatisfiable: z.enum(['DoNotSchedule', 'ScheduleAnyway']),
  minDomains: z.int().min(1).optional(),
  nodeAffinityPolicy: z.enum(['Honor', 'Ignore']).optional(),
  nodeTaintsPolicy: z.enum(['Honor', 'Ignore']).optional(),
});

export type DefaultConstraint = z.infer<typeof defaultConstraint>;

export const podTopologySpreadArgs = z
  .strictObject({
    defaultConstraints: z.array(defaultConstraint).default([]),
    defaultingType: z.enum(['System', 'List']).default('System'),
  })
  .refine(
    ({ defaultConstraints, defaultingType }) => defaultingType === 'List' || defaultConstraints.length === 0,
    {
      message: 'must be empty unless defaultingType is List',
      path: ['defaultConstraints'],
    },
  );

const requirement = z.strictObject({
  key: z.string(),
  operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']),
  values: z.array(z.string()).optional(),
});

const nodeTerm: ZodType<NodeTerm> = z.strictObject({
  matchExpressions: z.array(requirement).optional(),
  matchFields: z.array(requirement).optional(),
});

export const nodeAffinityArgs = z.strictObject({
  addedAffinity: z
    .strictObject({
      requiredDuringSchedulingIgnoredDuringExecution: z
        .strictObject({ nodeSelectorTerms: z.array(nodeTerm).min(1) })
        .optional(),
      preferredDuringSchedulingIgnoredDuringExecution: z
        .array(z.strictObject({ weight: z.int().min(1).max(100), preference: nodeTerm }))
        .optional(),
    })
    .optional(),
});

import { parse } from 'yaml';
import { z } from 'zod';
import { InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';
import {
  checkLabelValue,
  checkQualifiedName,
  isJsonObject,
  parseQuantity,
} from '@rollkeeper/machinery/kubernetes';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { Amounts, Taint } from '@rollkeeper/machinery/kubernetes';
import { parseGoDurationMs } from '@rollkeeper/machinery/clock';

/** The properties of some of the nodes. Durations are texts as `5s` or `1m30s`. */
export interface NodeProfile {
  /** Number of nodes. @default all that are left */
  count?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  /** The taints of a node that registers; later they are the cluster's own. */
  taints?: { key: string; value?: string; effect: Taint['effect'] }[];
  /** Over the defaults, and with further resources: `{ cpu: '4', 'example.com/gpu': 2 }`. */
  capacity?: Record<string, string | number>;
  /** Less than the capacity where the system keeps something. @default the capacity */
  allocatable?: Record<string, string | number>;
  /** Images that are there from the start. @default none */
  images?: string[];
  /** How long a pull takes of an image that is not there. @default no time */
  imagePullAfter?: string;
  /** From a container's start until it is ready. @default the simulator's */
  readyAfter?: string;
  /** How long containers take to stop. @default the simulator's */
  stopsAfter?: string;
  /** Fields of a KubeletConfiguration. */
  kubelet?: {
    /** Amounts or percentages by `memory.available` and `nodefs.available`. @default 100Mi and 10% */
    evictionHard?: Record<string, string>;
    /** How long a node still reports pressure after it has ended. @default 5m */
    evictionPressureTransitionPeriod?: string;
    /** @default 30s */
    shutdownGracePeriod?: string;
    /** The part of it for critical pods. @default 10s */
    shutdownGracePeriodCriticalPods?: string;
  };
}

export interface CompiledNodeProfile {
  readonly count?: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly taints: readonly {
    readonly key: string;
    readonly value?: string;
    readonly effect: Taint['effect'];
  }[];
  readonly capacity: Amounts;
  readonly allocatable: Amounts;
  readonly images: readonly string[];
  readonly imagePullAfterMs: number;
  readonly readyAfterMs?: number | undefined;
  readonly stopsAfterMs?: number | undefined;
  readonly evictionHard: Readonly<Record<EvictionSignal, string>>;
  readonly pressureTransitionMs: number;
  readonly shutdownGraceMs: number;
  readonly criticalShutdownGraceMs: number;
}

export type EvictionSignal = 'memory.available' | 'nodefs.available';

const duration = z.string().transform((text, context) => {
  const ms = parseGoDurationMs(text);
  if (ms === undefined)
    context.addIssue({ code: 'custom', message: `"${text}" is no duration, as 5s or 1m30s` });
  return ms ?? 0;
});
const amount = z.union([z.string(), z.number()]).refine((value) => isAmount(String(value)), {
  error: 'is no quantity, as 4, 500m or 8Gi',
});
const amounts = z.record(z.string().min(1), amount);
const text = z.string();
const label = text.refine((value) => checkLabelValue(value).length === 0, {
  error: 'is no value of a label',
});
const name = text.refine((value) => checkQualifiedName(value).length === 0, {
  error: 'is no qualified name',
});
const threshold = text.refine((value) => isThreshold(value), {
  error: 'is no quantity and no percentage, as 100Mi or 10%',
});

const kubelet = z.strictObject({
  evictionHard: z
    .strictObject({
      'memory.available': threshold.default('100Mi'),
      'nodefs.available': threshold.default('10%'),
    })
    .prefault({}),
  evictionPressureTransitionPeriod: duration.prefault('5m'),
  shutdownGracePeriod: duration.prefault('30s'),
  shutdownGracePeriodCriticalPods: duration.prefault('10s'),
});

const written = z.strictObject({
  count: z.int().min(1).optional(),
  labels: z.record(name, label).default({}),
  annotations: z.record(name, text).default({}),
  taints: z
    .array(
      z.strictObject({
        key: name,
        value: label.optional(),
        effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
      }),
    )
    .default([]),
  capacity: amounts.default({}),
  allocatable: amounts.default({}),
  images: z.array(text.min(1)).default([]),
  imagePullAfter: duration.prefault('0s'),
  readyAfter: duration.optional(),
  stopsAfter: duration.optional(),
  kubelet: kubelet.prefault({}),
});

/** One profile, checked and with its defaults. */
export const nodeProfileSchema = written
  .superRefine(({ kubelet: { shutdownGracePeriod, shutdownGracePeriodCriticalPods } }, context) => {
    if (shutdownGracePeriodCriticalPods <= shutdownGracePeriod) return;
    const path = ['kubelet', 'shutdownGracePeriodCriticalPods'];
    context.addIssue({ code: 'custom', path, message: 'must not be longer than shutdownGracePeriod' });
  })
  .transform(
    ({ imagePullAfter, kubelet: settings, readyAfter, stopsAfter, ...rest }): CompiledNodeProfile => ({
      ...rest,
      imagePullAfterMs: imagePullAfter,
      readyAfterMs: readyAfter,
      stopsAfterMs: stopsAfter,
      evictionHard: settings.evictionHard,
      pressureTransitionMs: settings.evictionPressureTransitionPeriod,
      shutdownGraceMs: settings.shutdownGracePeriod,
      criticalShutdownGraceMs: settings.shutdownGracePeriodCriticalPods,
    }),
  );

/** A node of which no profile says anything. */
export const PLAIN_PROFILE: CompiledNodeProfile = nodeProfileSchema.parse({});

function isAmount(value: string): boolean {
  const quantity = parseQuantity(value);
  return quantity !== undefined && quantity.nanos >= 0n;
}

function isThreshold(value: string): boolean {
  const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(value)?.[1];
  return percent === undefined ? isAmount(value) : Number(percent) <= 100;
}

/**
 * The profiles of a file: YAML or JSON, a list or an object with the list in `profiles`.
 * @throws InvalidOptionError naming the field
 */
export function parseNodeProfiles(content: string): NodeProfile[] {
  let value: unknown;
  try {
    value = parse(content);
  } catch (error) {
    throw new InvalidOptionError('node-profiles', errorMessage(error), { cause: error });
  }
  const profiles: unknown = isJsonObject(value) ? value['profiles'] : value;
  const others = isJsonObject(value) ? Object.keys(value).filter((key) => key !== 'profiles') : [];
  if (others.length > 0) throw new InvalidOptionError('node-profiles', `has no field "${others[0]}"`);
  if (!Array.isArray(profiles)) throw new InvalidOptionError('node-profiles', 'must be a list of profiles');
  compileOptions(z.array(nodeProfileSchema), profiles, 'node-profiles');
  return profiles as NodeProfile[];
}

/** The profile of a node: the first takes the first nodes. */
export function profileOf(index: number, profiles: readonly CompiledNodeProfile[]): CompiledNodeProfile {
  let first = 0;
  for (const profile of profiles) {
    if (profile.count === undefined || index < first + profile.count) return profile;
    first += profile.count;
  }
  return PLAIN_PROFILE;
}

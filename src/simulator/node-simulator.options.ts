import { z } from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { CompiledNodeProfile, NodeProfile } from './node-profile.js';
import { nodeProfileSchema } from './node-profile.js';

export interface NodeSimulatorOptions {
  /** Number of simulated nodes: `node-0`, `node-1` … @default 3 */
  nodes?: number;
  /** Milliseconds from a container's start until it is ready, unless its pod overrides it. @default 0 */
  readyDelayMs?: number;
  /** Milliseconds that containers take to stop; at most the pod's grace period. @default 0 */
  terminationDelayMs?: number;
  /** Concurrent API writes. @default 32 */
  concurrency?: number;
  /** Milliseconds between two renewals of a node's Lease. @default 10000 */
  heartbeatMs?: number;
  /** Milliseconds between two reports of a node's unchanged status. @default 300000 */
  statusReportMs?: number;
  /** Pod capacity of one node. @default 10000 */
  podsPerNode?: number;
  /** CPUs of one node. @default 256 */
  cpus?: number;
  /** Memory of one node, GiB. @default 1024 */
  memoryGiB?: number;
  /** The properties of the nodes: the first profile takes the first nodes. @default all alike */
  profiles?: NodeProfile[];
}

export type CompiledNodeSimulatorOptions = Readonly<
  Required<Omit<NodeSimulatorOptions, 'profiles'>> & { profiles: readonly CompiledNodeProfile[] }
>;

/** Each node has a subnet of 10.0.0.0/8 for its pods, and there are 1024 subnets of 16384 addresses. */
export const MAX_NODES = 1000;
export const ADDRESSES_PER_NODE = 16_384;

const fields = z.strictObject({
  nodes: z.int().min(1).max(MAX_NODES).default(3),
  readyDelayMs: z.number().nonnegative().default(0),
  terminationDelayMs: z.number().nonnegative().default(0),
  concurrency: z.int().min(1).default(32),
  heartbeatMs: z.number().min(100).default(10_000),
  statusReportMs: z.number().min(100).default(300_000),
  podsPerNode: z
    .int()
    .min(1)
    .max(ADDRESSES_PER_NODE - 2)
    .default(10_000),
  cpus: z.int().min(1).default(256),
  memoryGiB: z.int().min(1).default(1024),
  profiles: z.array(nodeProfileSchema).default([]),
});

const schema: z.ZodType<CompiledNodeSimulatorOptions> = fields.superRefine(({ nodes, profiles }, context) => {
  const counted = profiles.reduce((sum, { count = 1 }) => sum + count, 0);
  const open = profiles.findIndex(({ count }) => count === undefined);
  if (open >= 0 && open < profiles.length - 1) {
    const message = 'is needed: only the last profile takes all nodes that are left';
    context.addIssue({ code: 'custom', path: ['profiles', open, 'count'], message });
  }
  if (counted <= nodes) return;
  const message = `are for ${counted} nodes, and there are ${nodes}`;
  context.addIssue({ code: 'custom', path: ['profiles'], message });
});

/** @throws InvalidOptionError naming the option */
export function compileNodeSimulatorOptions(
  options: NodeSimulatorOptions = {},
): CompiledNodeSimulatorOptions {
  return compileOptions(schema, options);
}

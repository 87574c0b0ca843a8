import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { z } from 'zod';
import type { ReadableNode, ReadablePod } from '../framework/node-info.js';

/**
 * The questions to HTTP extenders and their answers: k8s.io/kube-scheduler/extender/v1, whose fields have Go's names.
 */

export interface ExtenderArgs {
  readonly Pod: ReadablePod;
  readonly Nodes: { readonly items: readonly ReadableNode[] } | null;
  readonly NodeNames: readonly string[] | null;
}

export interface ExtenderBindingArgs {
  readonly PodName: string;
  readonly PodNamespace: string;
  readonly PodUID: string;
  readonly Node: string;
}

export interface ExtenderVictims {
  readonly Pods: readonly (ReadablePod | { readonly UID: string })[];
  readonly NumPDBViolations: number;
}

export interface ExtenderPreemptionArgs {
  readonly Pod: ReadablePod;
  readonly NodeNameToVictims: Readonly<Record<string, ExtenderVictims>> | null;
  readonly NodeNameToMetaVictims: Readonly<Record<string, ExtenderVictims>> | null;
}

const reasons = z.record(z.string(), z.string()).nullish();

/** Names are matched without regard to case, as Go does: old extenders answer `nodenames`. */
export const filterResult = z.preprocess(
  withLowerCaseNames,
  z.object({
    nodes: z
      .object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })).nullish() })
      .nullish(),
    nodenames: z.array(z.string()).nullish(),
    failednodes: reasons,
    failedandunresolvablenodes: reasons,
    error: z.string().nullish(),
  }),
);

export const prioritizeResult = z
  .array(z.preprocess(withLowerCaseNames, z.object({ host: z.string(), score: z.int() })))
  .nullable();

export const bindingResult = z.preprocess(
  withLowerCaseNames,
  z.object({ error: z.string().nullish() }).nullish(),
);

const metaVictims = z.preprocess(
  withLowerCaseNames,
  z.object({
    pods: z.array(z.preprocess(withLowerCaseNames, z.object({ uid: z.string() }))).nullish(),
    numpdbviolations: z.int().nullish(),
  }),
);

export const preemptionResult = z.preprocess(
  withLowerCaseNames,
  z.object({ nodenametometavictims: z.record(z.string(), metaVictims).nullish() }),
);

function withLowerCaseNames(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name.toLowerCase(), field]));
}

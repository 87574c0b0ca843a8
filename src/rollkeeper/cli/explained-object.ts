import type { Diagnosis, DiagnosisState, KindDiagnosis } from '../diagnose/index.js';
import type { ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { PlacementState } from '@rollkeeper/scheduler';
import type { ApiFlags } from './shared-options.js';

/** For scripts; 1 and 2 are failures and usage errors, as in every command. */
export const STATE_EXIT_CODES: Readonly<Record<DiagnosisState, number>> = {
  healthy: 0,
  complete: 0,
  'scaled-to-zero': 0,
  progressing: 3,
  blocked: 4,
  degraded: 5,
  paused: 6,
  deleting: 7,
};

const PLACEMENT_EXIT_CODES: Readonly<Record<PlacementState, number>> = {
  bound: 0,
  ended: 0,
  waits: 3,
  elsewhere: 3,
  refused: 4,
  gated: 6,
  deleting: 7,
};

/** An explanation, as text and as JSON. */
export interface Explained {
  readonly text: string;
  readonly value: unknown;
  readonly exitCode: number;
}

export interface SchedulerFileFlags extends ApiFlags {
  readonly schedulerConfig?: string;
  readonly schedulerPlugins?: string;
}

/** Explains an object of a kind from the API, with the rights of the kubeconfig. */
export async function explainObject(
  kind: KindDiagnosis,
  ref: ObjectRef,
  flags: ApiFlags,
): Promise<Explained> {
  const { withApi } = await import('./live-deployment.js');
  const { diagnose, renderDiagnosis } = await import('../diagnose/index.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const diagnosis: Diagnosis = await withApi(flags, (client) =>
    diagnose(client, kind, ref, { nowMs: new SystemClock().now() }),
  );
  return {
    text: renderDiagnosis(diagnosis),
    value: diagnosis,
    exitCode: STATE_EXIT_CODES[diagnosis.state],
  };
}

/**
 * Explains a pod: why it is on no node, or, where it is on one, why it is not ready. As JSON the fields of every kind, and
 * `placement` where it is on no node.
 */
export async function explainAnyPod(
  kind: KindDiagnosis,
  ref: Required<ObjectRef>,
  flags: SchedulerFileFlags,
): Promise<Explained> {
  const { withApi } = await import('./live-deployment.js');
  const { explainPod } = await import('../explain-pod/explain-pod.js');
  const { renderPlacement } = await import('../explain-pod/render-placement.js');
  const files = { config: flags.schedulerConfig, plugins: flags.schedulerPlugins };
  const placement = await withApi(flags, (client) => explainPod(client, ref, files));
  if (placement.state === 'bound' || placement.state === 'ended' || placement.state === 'deleting')
    return explainObject(kind, ref, flags);
  const { value } = await explainObject(kind, ref, flags);
  return {
    text: renderPlacement(placement),
    value: { ...(value as Diagnosis), placement },
    exitCode: PLACEMENT_EXIT_CODES[placement.state],
  };
}

/** Prints an explanation and sets the exit code. */
export function print({ exitCode, text, value }: Explained, json: boolean | undefined): void {
  console.log(json ? stringifyJson(value, 2) : text);
  process.exitCode = exitCode;
}

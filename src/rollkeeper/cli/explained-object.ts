import { PLACEMENT_EXIT_CODES, STATE_EXIT_CODES } from '../terminal/exit-codes.js';
import type { KindDiagnosis } from '../insight/diagnose/index.js';
import type { ObjectRef } from '@rollkeeper/machinery/kubernetes';
import type { OutputFlags } from './output.js';
import { outputForm, printable } from './output.js';
import type { ApiFlags } from './shared-options.js';
import { print } from '@rollkeeper/machinery/process';

/** An explanation, as text and for programs. */
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
export async function explainedObject(
  kind: KindDiagnosis,
  ref: Required<ObjectRef>,
  flags: SchedulerFileFlags,
): Promise<Explained & { readonly serverUrl: string }> {
  const { withApi } = await import('./with-api.js');
  const { explainObject } = await import('../insight/explain-pod/explain-object.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const files = { config: flags.schedulerConfig, plugins: flags.schedulerPlugins };
  const { serverUrl, value } = await withApi(flags, async (client, serverUrl) => ({
    serverUrl,
    value: await explainObject(client, kind, ref, { nowMs: new SystemClock().now(), files }),
  }));
  const { placement, ...diagnosis } = value;
  if (placement) {
    const { renderPlacement } = await import('../insight/explain-pod/render-placement.js');
    const exitCode = PLACEMENT_EXIT_CODES[placement.state];
    return { serverUrl, value, text: renderPlacement(placement), exitCode };
  }
  const { renderDiagnosis } = await import('../insight/diagnose/index.js');
  const exitCode = STATE_EXIT_CODES[diagnosis.state];
  return { serverUrl, value, text: renderDiagnosis(diagnosis), exitCode };
}

/** In what forms an explanation is printed, besides text. */
export const EXPLAINED_FORMS = ['json', 'yaml'] as const;

/** Prints an explanation and sets the exit code. @throws InvalidOptionError */
export async function printExplained(
  { exitCode, text, value }: Explained,
  flags: OutputFlags,
): Promise<void> {
  const form = outputForm(flags, EXPLAINED_FORMS);
  print(form === 'text' ? text : await printable(form, value));
  process.exitCode = exitCode;
}

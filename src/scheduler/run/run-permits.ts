import type { SchedulingContext } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import type { Status } from '../framework/status.js';

export interface Permits {
  /** The first refusal. */
  readonly refusal?: Status;
  /** The plug-ins that delay the binding. */
  readonly delays: readonly { readonly plugin: string; readonly timeoutMs?: number }[];
}

/** Asks all plug-ins whether the pod may be bound, until one refuses. */
export function runPermits({ permit }: Profile, context: SchedulingContext, node: string): Permits {
  const delays: { plugin: string; timeoutMs?: number }[] = [];
  for (const plugin of permit) {
    const { status, timeoutMs } = plugin.permit?.(context, node) ?? {};
    if (!status || status.code === 'Success') continue;
    if (status.code === 'Wait')
      delays.push({ plugin: plugin.name, ...(timeoutMs !== undefined && { timeoutMs }) });
    else return { refusal: { ...status, plugin: plugin.name }, delays };
  }
  return { delays };
}

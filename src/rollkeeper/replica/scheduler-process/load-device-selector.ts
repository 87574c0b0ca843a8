import type { CompileDeviceSelector } from '@rollkeeper/scheduler';

/** The API server's CEL, for the expressions that select devices. */
export async function loadDeviceSelector(): Promise<CompileDeviceSelector> {
  return (await import('@rollkeeper/apiserver/device-selectors')).compileDeviceSelector;
}

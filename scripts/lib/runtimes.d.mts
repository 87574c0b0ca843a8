export type Runtime = 'Node 22' | 'Node 24' | 'Bun' | 'Deno';

export function runtimeProgram(runtime: Runtime): string | undefined;

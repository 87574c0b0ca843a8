/**
 * The entry point for authors of controllers and of scheduler plug-ins: `import { … } from 'rollkeeper'`; `@rollkeeper/runtime` and
 * `@rollkeeper/scheduler/plugin-kit` on their own.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export * from '@rollkeeper/runtime';
export * from '@rollkeeper/scheduler/plugin-kit';
export type { TracingOptions } from '@rollkeeper/opentelemetry';

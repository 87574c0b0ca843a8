/**
 * The entry point for authors of controllers: `import { … } from 'rollkeeper'`; `@rollkeeper/runtime` on its own.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export * from '@rollkeeper/runtime';
export type { TracingOptions } from '@rollkeeper/opentelemetry';

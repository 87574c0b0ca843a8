/**
 * Metrics and spans by OpenTelemetry's SDK: `import { … } from 'rollkeeper/opentelemetry'`; `@rollkeeper/opentelemetry` on its own.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export * from '@rollkeeper/opentelemetry';

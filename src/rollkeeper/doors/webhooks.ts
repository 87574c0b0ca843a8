/**
 * Admission and conversion webhooks of an operator: `import { … } from 'rollkeeper/webhooks'`; `@rollkeeper/webhooks` on its
 * own.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export * from '@rollkeeper/webhooks';

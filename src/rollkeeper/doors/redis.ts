/**
 * The shared state of an operator's replicas, on Redis and BullMQ: `import { … } from 'rollkeeper/redis'`;
 * `@rollkeeper/redis` on its own.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export * from '@rollkeeper/redis';

/**
 * What the replicas of an operator share, on Redis and BullMQ: `import { … } from 'rollkeeper/redis'`; `@rollkeeper/redis` on its own.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export * from '@rollkeeper/redis';

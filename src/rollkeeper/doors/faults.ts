/**
 * Faults between a controller and its API server, for tests: `import { startFaults } from 'rollkeeper/testing/faults'`;
 * `@rollkeeper/testing/faults` on its own.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export * from '@rollkeeper/testing/faults';

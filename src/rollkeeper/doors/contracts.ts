/**
 * The contracts of the ports as suites for vitest: `rollkeeper/testing/contracts`, or `@rollkeeper/testing/contracts`.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export * from '@rollkeeper/testing/contracts';

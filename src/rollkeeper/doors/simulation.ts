/**
 * A simulated cluster for the tests of controllers, in which one seed decides every fault:
 * `import { simulateOperator } from 'rollkeeper/testing/simulation'`; `@rollkeeper/testing/simulation` on its own.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export * from '@rollkeeper/testing/simulation';

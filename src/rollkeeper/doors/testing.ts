/**
 * For the tests of controllers: `import { … } from 'rollkeeper/testing'`; `@rollkeeper/testing` on its own.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export * from '@rollkeeper/testing';

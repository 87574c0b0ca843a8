/**
 * Controllers as providers of a Nest application: `import { … } from 'rollkeeper/nest'`; `@rollkeeper/nest` on its own.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export * from '@rollkeeper/nest';

/**
 * Controllers as providers of a Nest application: `import { RollkeeperModule, Reconciles, InjectLister } from 'rollkeeper/nest'`.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export { InjectApiClient, InjectLister, listerToken } from './injection.js';
export { Reconciles } from './reconciles.decorator.js';
export type { ReconcilesOptions } from './reconciles.decorator.js';
export { RollkeeperHealthIndicator } from './rollkeeper.health.js';
export { RollkeeperModule } from './rollkeeper.module.js';
export type { RollkeeperModuleExtras } from './rollkeeper.module.js';
export { Webhook } from './webhook.decorator.js';
export type { WebhookOptions } from './webhook.decorator.js';

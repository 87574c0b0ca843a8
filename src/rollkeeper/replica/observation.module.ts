import { Module } from '@nestjs/common';
import type { Clock } from '@rollkeeper/machinery/clock';
import { DecisionLog, RunningSyncs } from '../explain/index.js';
import type { Logger } from '@rollkeeper/machinery/logging';
import { RedisPeerRegistry, loadAdminCertificate, readAdminToken } from '../admin-pages/index.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { ADMIN_TLS_NAMES } from './replica.options.js';
import {
  ADMIN_CERTIFICATE,
  ADMIN_TOKEN,
  CLOCK,
  DECISIONS,
  LOGGER,
  OPTIONS,
  PEERS,
  RUNNING,
} from './tokens.js';

/**
 * What is noted for people: decisions, running syncs, the other replicas; the token of those who may change, and the certificate
 * that the admin port shows.
 */
@Module({
  providers: [
    { provide: DECISIONS, useFactory: () => new DecisionLog() },
    { provide: RUNNING, inject: [CLOCK], useFactory: (clock: Clock) => new RunningSyncs(clock) },
    {
      provide: PEERS,
      inject: [OPTIONS, CLOCK, LOGGER],
      useFactory: (options: CompiledReplicaOptions, clock: Clock, logger: Logger) =>
        new RedisPeerRegistry({
          redisUrl: options['redis-url'],
          keyPrefix: options['key-prefix'],
          identity: options.identity,
          clock,
          logger,
        }),
    },
    {
      provide: ADMIN_TOKEN,
      inject: [OPTIONS],
      useFactory: (options: CompiledReplicaOptions) =>
        readAdminToken(options['admin-token-file'], '--admin-token-file'),
    },
    {
      provide: ADMIN_CERTIFICATE,
      inject: [OPTIONS, CLOCK, LOGGER],
      useFactory: (options: CompiledReplicaOptions, clock: Clock, logger: Logger) =>
        loadAdminCertificate(options.adminTls, options['admin-host'], {
          clock,
          logger,
          option: ADMIN_TLS_NAMES.certFile,
        }),
    },
  ],
  exports: [DECISIONS, RUNNING, PEERS, ADMIN_TOKEN, ADMIN_CERTIFICATE],
})
export class ObservationModule {}

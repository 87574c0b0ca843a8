import { readFileSync } from 'node:fs';
import { Module } from '@nestjs/common';
import type { Clock } from '../../base/clock/index.js';
import { StartupError, errorMessage } from '../../base/errors/index.js';
import { DecisionLog, RunningSyncs } from '../explain/index.js';
import type { Logger } from '../../base/logging/index.js';
import { RedisPeerRegistry } from './redis-peer-registry.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { loadAdminCertificate } from './admin-tls.js';
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
      useFactory: (options: CompiledReplicaOptions) => readToken(options['admin-token-file']),
    },
    {
      provide: ADMIN_CERTIFICATE,
      inject: [OPTIONS, CLOCK, LOGGER],
      useFactory: (options: CompiledReplicaOptions, clock: Clock, logger: Logger) =>
        loadAdminCertificate(options.adminTls, options['admin-host'], { clock, logger }),
    },
  ],
  exports: [DECISIONS, RUNNING, PEERS, ADMIN_TOKEN, ADMIN_CERTIFICATE],
})
export class ObservationModule {}

/** Short enough to be guessed is no token. */
const SHORTEST_TOKEN = 16;

function readToken(file: string | undefined): string | null {
  if (file === undefined) return null;
  let token: string;
  try {
    token = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new StartupError(`cannot read --admin-token-file: ${errorMessage(error)}`, { cause: error });
  }
  if (token.length < SHORTEST_TOKEN || /\s/.test(token))
    throw new StartupError(
      `--admin-token-file: ${file} must hold one word of ${SHORTEST_TOKEN} characters or more`,
    );
  return token;
}

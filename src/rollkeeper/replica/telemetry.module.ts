import { Global, Module } from '@nestjs/common';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';

/** The services that every part uses: time, randomness, log, metrics, spans. */
@Global()
@Module({
  providers: [
    SystemClock,
    SystemRandom,
    { provide: ReplicaTelemetry, inject: [REPLICA_OPTIONS], useFactory: ReplicaTelemetry.start },
  ],
  exports: [SystemClock, SystemRandom, ReplicaTelemetry],
})
export class TelemetryModule {}

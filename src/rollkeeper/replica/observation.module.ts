import { Module } from '@nestjs/common';
import { SystemClock } from '@rollkeeper/machinery/clock';
import { AdminCredentials } from './admin-credentials.js';
import { Observation } from './observation.service.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';

/** What the admin pages show besides the manager, and who may see it. */
@Module({
  providers: [
    Observation,
    {
      provide: AdminCredentials,
      inject: [REPLICA_OPTIONS, ReplicaTelemetry, SystemClock],
      useFactory: AdminCredentials.load,
    },
  ],
  exports: [Observation, AdminCredentials],
})
export class ObservationModule {}

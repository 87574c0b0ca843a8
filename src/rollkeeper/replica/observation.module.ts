import { Module } from '@nestjs/common';
import { SystemClock } from '@rollkeeper/machinery/clock';
import { AdminCredentials } from './admin-credentials.js';
import { Observation } from './observation.service.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';

/** The content of the admin pages beyond the manager, and access to them. */
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

import { Module } from '@nestjs/common';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import { KubernetesApi } from './kubernetes-api.service.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';

@Module({
  providers: [
    {
      provide: KubernetesApi,
      inject: [REPLICA_OPTIONS, ReplicaTelemetry, SystemClock, SystemRandom],
      useFactory: KubernetesApi.load,
    },
  ],
  exports: [KubernetesApi],
})
export class KubernetesApiModule {}

import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { AdminModule } from '../admin/server/index.js';
import { BesidesModule } from './besides.module.js';
import { KubernetesApiModule } from './kubernetes-api.module.js';
import { ManagerModule } from './manager.module.js';
import { ObservationModule } from './observation.module.js';
import { ReplicaAdminOptions } from './replica-admin-options.provider.js';
import { ReplicaOptionsModule } from './replica-options.module.js';
import { ReplicaRunner } from './replica-runner.service.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { TelemetryModule } from './telemetry.module.js';

/** One assembled replica of the controller manager; nothing runs before its {@link ReplicaRunner} does. */
@Module({ providers: [ReplicaRunner] })
export class ReplicaModule {
  static forRoot(options: CompiledReplicaOptions): DynamicModule {
    return {
      module: ReplicaModule,
      imports: [
        ReplicaOptionsModule.forRoot(options),
        TelemetryModule,
        ObservationModule,
        ManagerModule.forRoot(options),
        AdminModule.forRootAsync({
          imports: [KubernetesApiModule, ObservationModule, BesidesModule],
          useClass: ReplicaAdminOptions,
        }),
      ],
    };
  }
}

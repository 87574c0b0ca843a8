import type { DynamicModule } from '@nestjs/common';
import { Global, Module } from '@nestjs/common';
import { AdminModule } from '../admin/index.js';
import { PortsModule } from './ports.module.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { TelemetryModule } from './telemetry.module.js';
import { HEALTH, METRICS, OPTIONS, PORTS, STATUS } from './tokens.js';

@Global()
@Module({})
class OptionsModule {}

/** One replica of the controller manager, put together; nothing runs before its manager does. */
@Module({})
export class ReplicaModule {
  static forRoot(options: CompiledReplicaOptions): DynamicModule {
    const ports = PortsModule.forRoot(options);
    return {
      module: ReplicaModule,
      imports: [
        {
          module: OptionsModule,
          providers: [{ provide: OPTIONS, useValue: options }],
          exports: [OPTIONS],
        },
        TelemetryModule,
        ports,
        AdminModule.forRootAsync({
          imports: [ports],
          health: HEALTH,
          metrics: METRICS,
          status: STATUS,
          ports: PORTS,
        }),
      ],
    };
  }
}

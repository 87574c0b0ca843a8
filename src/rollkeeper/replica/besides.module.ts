import { Module } from '@nestjs/common';
import { ReplicaBesides } from './besides.service.js';
import { KubernetesApiModule } from './kubernetes-api.module.js';
import { ObservationModule } from './observation.module.js';

/** Problems beside the objects of the cluster. */
@Module({
  imports: [KubernetesApiModule, ObservationModule],
  providers: [ReplicaBesides],
  exports: [ReplicaBesides],
})
export class BesidesModule {}

import type { OnModuleDestroy } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { SystemClock } from '@rollkeeper/machinery/clock';
import { PeerClient, seenReplicas } from '../admin/server/index.js';
import type { Diagnosis } from '../insight/diagnose/index.js';
import { FIRST_ANSWER_MS } from '../terminal/first-answer.js';
import { findProblemsBeside } from '../insight/beside/index.js';
import { AdminCredentials } from './admin-credentials.js';
import { KubernetesApi } from './kubernetes-api.service.js';
import { Observation } from './observation.service.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';

/** Problems beside the objects of the cluster as this replica sees them, for its watch for problems and its console. */
@Injectable()
export class ReplicaBesides implements OnModuleDestroy {
  private readonly client: PeerClient;

  constructor(
    @Inject(REPLICA_OPTIONS) private readonly options: CompiledReplicaOptions,
    @Inject(SystemClock) private readonly clock: SystemClock,
    @Inject(KubernetesApi) private readonly api: KubernetesApi,
    @Inject(Observation) private readonly observation: Observation,
    @Inject(AdminCredentials) { token }: AdminCredentials,
  ) {
    this.client = new PeerClient(token ?? undefined);
  }

  find(signal?: AbortSignal): Promise<readonly Diagnosis[]> {
    const { connection } = this.api;
    return findProblemsBeside({
      ...{ connection, signal, nowMs: this.clock.now(), withinMs: FIRST_ANSWER_MS },
      replicas: async () => {
        const peers = await this.observation.peers.peers();
        this.client.keepOnly(peers);
        return seenReplicas(peers, this.options.identity, this.client);
      },
    });
  }

  onModuleDestroy(): void {
    this.client.close();
  }
}
